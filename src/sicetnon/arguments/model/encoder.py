"""The encoder of the debate model: texts to quality, stance and the other outputs.

It needs ONNX Runtime, runs on the processor, and never uses the network.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.lengths import lengthened, lengths_of
from sicetnon.arguments.model.model_files import (
    GRAPHS,
    OUTPUTS,
    SHIPPED,
    ModelFiles,
    damaged,
    model_files,
)
from sicetnon.arguments.model.windows import (
    Window,
    arrays_of,
    batches_of,
    tokens_of,
    windows_of,
)
from sicetnon.cancellation import current_cancellation
from sicetnon.errors import UsageError
from sicetnon.operating_system import processor_cores


class DebateEncoder:
    """The model in a folder with the files of `FILES`.

    Graphs and tokenizer are loaded when they are first used. Several threads may share an encoder.

    Args:
        folder: The folder, or its files; the shipped model when left out.
        threads: Processor cores to use at most; all that this process may use when left out.
        portion_characters: Texts are read in portions of about this size, so that memory does not
            grow with their number.

    Attributes:
        files: The files of the model.
        description: The content of `model.json`.
        classes: The classes of the outputs that have some, by output.

    Raises:
        DataError: The folder is no model, or damaged.
    """

    def __init__(
        self,
        folder: Path | str | ModelFiles | None = None,
        threads: int | None = None,
        portion_characters: int = 1 << 20,
    ):
        _check_threads(threads)
        if not isinstance(folder, ModelFiles):
            folder = ModelFiles(SHIPPED if folder is None else Path(folder))
        self.files = folder
        self.description = self.files.description
        self.threads = threads or processor_cores()
        self._portion_characters = portion_characters
        self.classes: Mapping[str, tuple[str, ...]] = {
            "stance": self.description.stances,
            "comparison": self.description.comparisons,
            "side": self.description.stances,
        }

    def load_ahead(self, *outputs: str) -> None:
        """Begin to load what outputs need, beside other work."""
        self.files.load_ahead(
            *(graph for graph, made in GRAPHS.items() if set(made) & set(outputs))
        )

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
        return (self.files.dimensions,) if output == "embedding" else ()

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
        stop = current_cancellation()

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
        read = tokens_of(self.files.tokenizer, distinct)
        cut = {each: tokens[: named.context] for each, tokens in zip(distinct, read, strict=True)}
        found = []
        for owner, tokens in enumerate(tokens_of(self.files.tokenizer, texts)):
            context = cut[contexts[owner]]
            found += windows_of(owner, tokens, context, *size)
        return found

    def _run(
        self, batch: Sequence[Window], outputs: Sequence[str]
    ) -> dict[str, NDArray[np.float32]]:
        arrays = arrays_of(batch, *self.files.frame)
        found: dict[str, NDArray[np.float32]] = {}
        for graph, answers in GRAPHS.items():
            if wanted := [name for name in answers if name in outputs]:
                session = self.files.session(graph)
                try:
                    read = session.run(wanted, arrays)
                except Exception as error:  # its errors have no common class
                    raise damaged(self.files.folder / graph, str(error).splitlines()[0]) from None
                found.update(zip(wanted, read, strict=True))
        return found


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
    return DebateEncoder(model_files(folder), threads)


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
