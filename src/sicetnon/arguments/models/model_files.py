"""The files of a debate model: read when they are needed, and compared with their checksums."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.arguments.models.word_pieces import WordPieces
from sicetnon.errors import DataError
from sicetnon.formats.files import read_all
from sicetnon.operating_system import processor_cores

SHIPPED = Path(__file__).parents[2] / "models" / "debate"
DESCRIPTION, WEIGHTS, TOKENIZER = "model.json", "weights.bin", "tokenizer.json.gz"
GRAPHS = {
    "judge.onnx": ("stance", "comparison"),
    "quality.onnx": ("quality",),
    "embedding.onnx": ("embedding",),
    "sides.onnx": ("side",),
    "argumentativeness.onnx": ("argumentativeness",),
}
"""The outputs of each graph."""
ALONE = ("embedding", "quality", "argumentativeness")
"""The outputs that read a text without a context."""
FILES = (DESCRIPTION, *GRAPHS, WEIGHTS, TOKENIZER)
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = tuple(output for outputs in GRAPHS.values() for output in outputs)
_MOST_GAIN = 10.0
_ERRORS_ONLY = 3
_CHECKED_BYTES = 1 << 20


class Description(msgspec.Struct, frozen=True):
    """The content of `model.json`.

    Attributes:
        name: Its name.
        version: Its version.
        window: Most tokens of a text that are read at once.
        overlap: Tokens that two neighbouring windows share.
        context: Most tokens of a context that are read.
        narrow: The window and the overlap of outputs with other ones.
        stances: The classes of the outputs `stance` and `side`, in their order.
        comparisons: The classes of the output `comparison`, in its order.
        longer: The gain of the quality, as a logit, per natural logarithm of the text's length in
            units of 64 tokens, from 64 to 400 tokens. Judges prefer long texts, and a window does
            not show how long its text is.
        batch: Most tokens of a batch. With 0 each window is a batch: graphs with dynamic
            quantisation need this, because their outputs depend on the rest of the batch.
        checksums: CRC-32 of other files, in hexadecimal; these files are checked.
    """

    name: str
    version: str
    window: int
    overlap: int
    context: int
    stances: tuple[str, ...]
    comparisons: tuple[str, ...]
    narrow: Mapping[str, tuple[int, int]] = {}
    longer: float = 0.0
    batch: int = 0
    checksums: Mapping[str, str] = {}


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_DESCRIPTION = msgspec.json.Decoder(Description)


class ModelFiles:
    """The files of a folder. Graphs and tokenizer are loaded when they are first used.

    Several threads may share them.

    Args:
        folder: The folder.

    Attributes:
        folder: The folder.
        description: The content of `model.json`.

    Raises:
        DataError: The folder is no model, or damaged; also later, when a file is first used.
    """

    def __init__(self, folder: Path):
        self.folder, self.description = folder, described(folder)
        self._sessions: dict[str, Any] = {}
        self._checked: set[str] = set()
        self._opening = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is the place alone."""
        return model_files, (self.folder,)

    def identity(self) -> str:
        """Name, version and checksum, which no other model has."""
        crc = 0
        for name in FILES:
            crc = crc32(self.folder / name, crc)
        return f"{self.description.name} {self.description.version} {crc:08x}"

    def fingerprint(self, graph: str) -> str:
        """Version of the model and of its library, and checksums of the files that a graph uses.

        They are those of `model.json`, with which a file is compared when it is loaded.
        """
        named, files = self.description, (graph, WEIGHTS, TOKENIZER)
        known = [named.checksums.get(name) or crc32(self.folder / name) for name in files]
        return f"{named.name} {named.version} {known} {_runtime().__version__}"

    def load_ahead(self, *graphs: str) -> None:
        """Begin to load graphs beside other work, on another core if there is one."""
        unopened = [graph for graph in graphs if graph not in self._sessions]
        if unopened and processor_cores() > 1:
            threading.Thread(target=self._open_all, args=(unopened,)).start()
            # not in that thread alone: two threads that import modules which import each other may
            # find half of them
            _runtime()

    def _open_all(self, graphs: Sequence[str]) -> None:
        # who uses the graph meets the same error
        with contextlib.suppress(Exception):
            self._check(WEIGHTS)
            for graph in graphs:
                self.session(graph)

    def session(self, graph: str) -> Any:
        """The session that runs a graph."""
        if graph not in self._sessions:
            with self._opening:
                if graph not in self._sessions:
                    self._sessions[graph] = self._opened(graph)
        return self._sessions[graph]

    @functools.cached_property
    def frame(self) -> tuple[int, int]:
        """The tokens `[CLS]` and `[SEP]`."""
        start, end = (self.tokenizer.id_of(token) for token in ("[CLS]", "[SEP]"))
        if start is None or end is None:
            raise damaged(self.folder / TOKENIZER, "it lacks the tokens [CLS] and [SEP]")
        return start, end

    @functools.cached_property
    def dimensions(self) -> int:
        """Numbers of an embedding."""
        outputs = self.session("embedding.onnx").get_outputs()
        return next(int(each.shape[-1]) for each in outputs if each.name == "embedding")

    @functools.cached_property
    def tokenizer(self) -> WordPieces:
        """The tokenizer."""
        path = self.folder / TOKENIZER
        self._check(TOKENIZER)
        try:
            return WordPieces(_content(path))
        except ValueError as error:
            raise damaged(path, str(error)) from None

    def _check(self, name: str) -> None:
        """Compare the checksum of a file with that of `model.json`, once."""
        if name in self._checked:
            return
        found, expected = crc32(self.folder / name), self.description.checksums.get(name)
        if expected is not None and f"{found:08x}" != expected:
            raise damaged(self.folder / name, f"its checksum is {found:08x}, not {expected}")
        self._checked.add(name)

    def _opened(self, graph: str) -> Any:
        onnxruntime, path = _runtime(), self.folder / graph
        self._check(graph)
        self._check(WEIGHTS)
        # it would warn of missing graphics cards
        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        options = onnxruntime.SessionOptions()
        # the threads share the windows; the work within one window is too small to share
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        try:
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its errors have no common class
            raise damaged(path, str(error)) from None
        _check_names(path, "inputs", [each.name for each in session.get_inputs()], INPUTS)
        _check_names(path, "outputs", [each.name for each in session.get_outputs()], GRAPHS[graph])
        return session


def model_files(folder: Path | None = None) -> ModelFiles:
    """The files of a folder, which all that use them share; the shipped ones when left out.

    Raises:
        DataError: The folder is no model, or damaged.
    """
    return _shared(folder or SHIPPED)


_shared = functools.cache(ModelFiles)


def _runtime() -> Any:
    # from version 1.31 on, ONNX Runtime counts its users: it keeps the id of a device in their
    # folder, and sends events
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime


def described(folder: Path) -> Description:
    """The content of `model.json`."""
    path = folder / DESCRIPTION
    try:
        found = _DESCRIPTION.decode(_content(path))
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from None
    sizes = [(found.window, found.overlap), *found.narrow.values()]
    fit = all(0 <= overlap < window for window, overlap in sizes)
    if not fit or found.context < 0 or found.batch < 0:
        raise damaged(path, "window, overlap, context and batch do not fit each other")
    if unknown := sorted(set(found.narrow) - set(OUTPUTS)):
        raise damaged(path, f"narrow names {', '.join(unknown)}, which is no output")
    if not 0 <= found.longer <= _MOST_GAIN:
        raise damaged(path, f"longer is {found.longer:g}, not from 0 to {_MOST_GAIN:g}")
    return found


def crc32(path: Path, before: int = 0) -> int:
    """The checksum of a file, read in parts; it continues a given checksum."""
    found = before
    try:
        with path.open("rb") as file:
            while part := file.read(_CHECKED_BYTES):
                found = zlib.crc32(part, found)
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from None
    return found


def _content(path: Path) -> bytes:
    """The content of a file, plain or gzipped, within the limits of a record."""
    try:
        return read_all(path)
    except DataError as error:
        raise damaged(path, error.message) from None


def _check_names(path: Path, what: str, found: Sequence[str], expected: Sequence[str]) -> None:
    if missing := sorted(set(expected) - set(found)):
        raise damaged(path, f"of the {what} it lacks {', '.join(missing)}")


def damaged(path: Path, found: str) -> DataError:
    """The error of a damaged file of a model."""
    own = path.parent == SHIPPED
    advice = "install sicetnon again" if own else f"expected a folder with {', '.join(FILES)}"
    return DataError(f"the model cannot be used: {found}; {advice}", path)
