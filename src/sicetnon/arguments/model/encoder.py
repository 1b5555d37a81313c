"""The encoder of the debate model: texts to quality, stance and the other outputs.

It needs ONNX Runtime and tokenizers, runs on the processor, and never uses the network.
"""

from __future__ import annotations

import functools
import gzip
import os
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.lengths import lengthened, lengths_of
from sicetnon.arguments.model.windows import (
    Window,
    arrays_of,
    batches_of,
    tokens_of,
    windows_of,
)
from sicetnon.errors import DataError, UsageError
from sicetnon.platforms import processor_cores
from sicetnon.stopping import current_stop

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


class DebateEncoder:
    """The model in a folder with the files of `FILES`.

    Graphs and tokenizer are loaded when they are first used. Several threads may share an encoder.

    Args:
        folder: The folder; the shipped model when left out.
        threads: Processor cores to use at most; all that this process may use when left out.
        portion_characters: Texts are read in portions of about this size, so that memory does not
            grow with their number.

    Attributes:
        description: The content of `model.json`.
        classes: The classes of the outputs that have some, by output.

    Raises:
        DataError: The folder is no model, or damaged.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        threads: int | None = None,
        portion_characters: int = 1 << 20,
    ):
        _check_threads(threads)
        self.folder = SHIPPED if folder is None else Path(folder)
        self.threads = threads or processor_cores()
        self.description = _described(self.folder)
        self._portion_characters = portion_characters
        self._sessions: dict[str, Any] = {}
        self._checked: set[str] = set()
        self._opening = threading.Lock()
        self.classes: Mapping[str, tuple[str, ...]] = {
            "stance": self.description.stances,
            "comparison": self.description.comparisons,
            "side": self.description.stances,
        }

    def identity(self) -> str:
        """Name, version and checksum, which no other model has."""
        crc = 0
        for name in FILES:
            crc = _crc32(self.folder / name, crc)
        return f"{self.description.name} {self.description.version} {crc:08x}"

    def answers(
        self,
        texts: Sequence[str],
        contexts: Sequence[str] | None = None,
        outputs: Sequence[str] = OUTPUTS,
    ) -> dict[str, NDArray[np.float32]]:
        """The outputs of the model for each text. Only graphs that are needed are run.

        Long texts are read in overlapping windows; the output is the mean of their outputs,
        weighted by their tokens.

        Args:
            texts: Texts in the form that the model reads (see `sicetnon.arguments.model.marking`).
            contexts: A context for each, such as the topic; none when left out.
            outputs: Which of `OUTPUTS` are wanted.

        Returns:
            An array for each output: `embedding` (texts, dimensions), unit vectors; `quality` and
            `argumentativeness` (texts,), from 0 to 1; `stance`, `side` and `comparison` (texts,
            classes), probabilities.

        Raises:
            DataError: The model is damaged.
        """
        contexts = contexts if contexts is not None else [""] * len(texts)
        found = {name: np.zeros((len(texts), *self._row(name)), np.float32) for name in outputs}
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else nullcontext()
        with pool as workers:
            for portion in _portions(texts, self._portion_characters):
                for size, group in self._by_window(outputs).items():
                    part = self._read(texts[portion], contexts[portion], group, size, workers)
                    for name in group:
                        found[name][portion] = part[name]
        return found

    def _row(self, output: str) -> tuple[int, ...]:
        """The shape of an output for one text."""
        if output in self.classes:
            return (len(self.classes[output]),)
        return (self._dimensions,) if output == "embedding" else ()

    def _by_window(self, outputs: Sequence[str]) -> dict[tuple[int, int], list[str]]:
        """The outputs by window and overlap."""
        named = self.description
        found: dict[tuple[int, int], list[str]] = {}
        for output in outputs:
            size = named.narrow.get(output, (named.window, named.overlap))
            found.setdefault(size, []).append(output)
        return found

    def _read(
        self,
        texts: Sequence[str],
        contexts: Sequence[str],
        outputs: Sequence[str],
        size: tuple[int, int],
        workers: ThreadPoolExecutor | None,
    ) -> dict[str, NDArray[np.float32]]:
        windows = self._windows(texts, contexts, size)
        batches = batches_of(windows, self.description.batch)
        stop = current_stop()

        def run(batch: Sequence[Window]) -> dict[str, NDArray[np.float32]]:
            stop.check()
            return self._run(batch, tuple(outputs))

        sums = {name: np.zeros((len(texts), *self._row(name))) for name in outputs}
        weights = np.zeros(len(texts))
        for batch, answers in zip(
            batches, (workers.map if workers else map)(run, batches), strict=True
        ):
            owners = [window.owner for window in batch]
            counts = np.array([window.weight for window in batch], dtype=np.float64)
            np.add.at(weights, owners, counts)
            for name in outputs:
                np.add.at(sums[name], owners, answers[name] * _along(counts, answers[name]))
        means = {name: each / _along(weights, each) for name, each in sums.items()}
        if "quality" in means and self.description.longer:
            lengths = lengths_of(windows, len(texts), size[1])
            means["quality"] = lengthened(means["quality"], lengths, self.description.longer)
        return {
            name: _unit(each) if name == "embedding" else each.astype(np.float32)
            for name, each in means.items()
        }

    def _windows(
        self, texts: Sequence[str], contexts: Sequence[str], size: tuple[int, int]
    ) -> list[Window]:
        named = self.description
        # many texts have the same topic
        distinct = list(dict.fromkeys(contexts))
        read = tokens_of(self._tokenizer, distinct)
        cut = {each: tokens[: named.context] for each, tokens in zip(distinct, read, strict=True)}
        found = []
        for owner, tokens in enumerate(tokens_of(self._tokenizer, texts)):
            context = cut[contexts[owner]]
            found += windows_of(owner, tokens, context, *size)
        return found

    def _run(
        self, batch: Sequence[Window], outputs: Sequence[str]
    ) -> dict[str, NDArray[np.float32]]:
        arrays = arrays_of(batch, *self._frame)
        found: dict[str, NDArray[np.float32]] = {}
        for graph, answers in GRAPHS.items():
            if wanted := [name for name in answers if name in outputs]:
                session = self._session(graph)
                try:
                    read = session.run(wanted, arrays)
                except Exception as error:  # its errors have no common class
                    raise _damaged(self.folder / graph, str(error).splitlines()[0]) from None
                found.update(zip(wanted, read, strict=True))
        return found

    @functools.cached_property
    def _frame(self) -> tuple[int, int]:
        """The tokens `[CLS]` and `[SEP]`."""
        found = tuple(self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        if None in found:
            raise _damaged(self.folder / TOKENIZER, "it lacks the tokens [CLS] and [SEP]")
        return found

    @functools.cached_property
    def _dimensions(self) -> int:
        outputs = self._session("embedding.onnx").get_outputs()
        return next(int(each.shape[-1]) for each in outputs if each.name == "embedding")

    @functools.cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self.folder / TOKENIZER
        self._check(TOKENIZER)
        try:
            tokenizer = Tokenizer.from_buffer(gzip.decompress(_bytes(path)))
        except Exception as error:  # the library raises nothing narrower
            raise _damaged(path, str(error)) from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _check(self, name: str) -> None:
        """Compare the checksum of a file with that of `model.json`, once."""
        if name in self._checked:
            return
        found, expected = _crc32(self.folder / name), self.description.checksums.get(name)
        if expected is not None and f"{found:08x}" != expected:
            raise _damaged(self.folder / name, f"its checksum is {found:08x}, not {expected}")
        self._checked.add(name)

    def _session(self, graph: str) -> Any:
        with self._opening:
            if graph not in self._sessions:
                self._sessions[graph] = self._opened(graph)
            return self._sessions[graph]

    def _opened(self, graph: str) -> Any:
        # from version 1.31 on, ONNX Runtime counts its users: it keeps the id of a device in their
        # folder, and sends events
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        path = self.folder / graph
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
            raise _damaged(path, str(error)) from None
        _check_names(path, "inputs", [each.name for each in session.get_inputs()], INPUTS)
        _check_names(path, "outputs", [each.name for each in session.get_outputs()], GRAPHS[graph])
        return session


def debate_encoder(folder: Path | None = None, threads: int | None = None) -> DebateEncoder:
    """The encoder of a folder, loaded once; the shipped one when left out.

    Raises:
        DataError: The folder is no model, or damaged.
        UsageError: The number of threads is none.
    """
    _check_threads(threads)
    return _loaded(folder, threads)


def _check_threads(threads: object) -> None:
    if threads is not None and not (isinstance(threads, int) and threads > 0):
        raise UsageError(f"found {threads!r:.40} threads; expected at least 1")


@functools.cache
def _loaded(folder: Path | None, threads: int | None) -> DebateEncoder:
    return DebateEncoder(folder, threads)


def _portions(texts: Sequence[str], most_characters: int) -> Iterator[slice]:
    start, size = 0, 0
    for place, text in enumerate(texts):
        size += len(text)
        if size >= most_characters or place + 1 == len(texts):
            yield slice(start, place + 1)
            start, size = place + 1, 0


def _along(counts: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Counts, shape (n,), in a shape that broadcasts over the rows of an array (n, …)."""
    return counts.reshape(-1, *[1] * (rows.ndim - 1))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _described(folder: Path) -> Description:
    path = folder / DESCRIPTION
    try:
        found = msgspec.json.decode(_bytes(path), type=Description)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from None
    sizes = [(found.window, found.overlap), *found.narrow.values()]
    fit = all(0 <= overlap < window for window, overlap in sizes)
    if not fit or found.context < 0 or found.batch < 0:
        raise _damaged(path, "window, overlap, context and batch do not fit each other")
    if unknown := sorted(set(found.narrow) - set(OUTPUTS)):
        raise _damaged(path, f"narrow names {', '.join(unknown)}, which is no output")
    if not 0 <= found.longer <= _MOST_GAIN:
        raise _damaged(path, f"longer is {found.longer:g}, not from 0 to {_MOST_GAIN:g}")
    return found


def _crc32(path: Path, before: int = 0) -> int:
    """The checksum of a file, read in parts; it continues a given checksum."""
    found = before
    try:
        with path.open("rb") as file:
            while part := file.read(_CHECKED_BYTES):
                found = zlib.crc32(part, found)
    except OSError as error:
        raise _damaged(path, f"cannot be read ({error.strerror})") from None
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path, f"cannot be read ({error.strerror})") from None


def _check_names(path: Path, what: str, found: Sequence[str], expected: Sequence[str]) -> None:
    if missing := sorted(set(expected) - set(found)):
        raise _damaged(path, f"of the {what} it lacks {', '.join(missing)}")


def _damaged(path: Path, found: str) -> DataError:
    own = path.parent == SHIPPED
    advice = "install sicetnon again" if own else f"expected a folder with {', '.join(FILES)}"
    return DataError(f"the model cannot be used: {found}; {advice}", path)
