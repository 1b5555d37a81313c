"""The debate model on ONNX Runtime: texts to windows, batches, and the outputs of its graphs.

It runs on the processor, and never uses the network.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.mentions import FIRST, SECOND, Mentions, words_of
from sicetnon.arguments.models.model_files import (
    GRAPHS,
    OUTPUTS,
    SHIPPED,
    ModelFiles,
    damaged,
    model_files,
)
from sicetnon.arguments.models.word_pieces import WordPieces
from sicetnon.cancellation import current_cancellation
from sicetnon.errors import UsageError
from sicetnon.formats.json_records import valid_text
from sicetnon.operating_system import processor_cores

Tokens = NDArray[np.int64]

# the words of a text take ten times its memory, so a long one is read in pieces
_PIECE_CHARACTERS = 1 << 16


class Window(NamedTuple):
    """A part of a text with its context.

    Attributes:
        owner: The number of the text.
        tokens: The tokens of the part, none for an empty text.
        context: The tokens of the context; empty without one.
    """

    owner: int
    tokens: Tokens
    context: Tokens

    @property
    def weight(self) -> int:
        """The weight of the window in the average over its text: its tokens, at least 1."""
        return max(len(self.tokens), 1)

    @property
    def length(self) -> int:
        """The number of tokens that the encoder reads, special tokens included."""
        return len(self.tokens) + 2 + (len(self.context) + 1 if len(self.context) else 0)


def tokens_of(
    tokenizer: WordPieces, texts: Sequence[str], piece_characters: int = _PIECE_CHARACTERS
) -> list[Tokens]:
    """The tokens of each text, without special tokens.

    Lone surrogates are read as U+FFFD.
    """
    found = []
    for text in texts:
        pieces = pieces_of(valid_text(text), piece_characters)
        read = [np.array(tokenizer.ids(piece), dtype=np.int64) for piece in pieces]
        found.append(np.concatenate(read))
    return found


def pieces_of(text: str, size: int) -> Iterator[str]:
    """A long text in pieces of at most `size` characters.

    It is cut at blanks, so that no token is cut; a text without blanks is cut anywhere.
    """
    start = 0
    while len(text) - start > size:
        stop = text.rfind(" ", start + 1, start + size)
        stop = start + size if stop < 0 else stop
        yield text[start:stop]
        start = stop
    yield text[start:]


def windows_of(
    owner: int, tokens: Tokens, context: Tokens, size: int, overlap: int
) -> list[Window]:
    """The windows of a text: each begins `size - overlap` tokens after the one before.

    The last one ends with the text. An empty text has one window, which is empty too.
    """
    starts = range(0, max(len(tokens) - overlap, 1), size - overlap)
    return [Window(owner, tokens[start : start + size], context) for start in starts]


def batches_of(windows: Sequence[Window], most_tokens: int) -> list[list[Window]]:
    """Batches of windows of similar length, the longest first.

    A batch has at most so many tokens, padding included; a longer window is a batch of its own.
    """
    batches: list[list[Window]] = []
    for window in sorted(windows, key=lambda each: each.length, reverse=True):
        if batches and (len(batches[-1]) + 1) * batches[-1][0].length <= most_tokens:
            batches[-1].append(window)
        else:
            batches.append([window])
    return batches


def arrays_of(batch: Sequence[Window], start: int, end: int) -> dict[str, Tokens]:
    """The inputs of a BERT for a batch: three arrays, shape (windows, tokens of the longest)."""
    shape = len(batch), max(window.length for window in batch)
    names = "input_ids", "attention_mask", "token_type_ids"
    ids, mask, kinds = (np.zeros(shape, dtype=np.int64) for _ in names)
    for row, (_, tokens, context) in enumerate(batch):
        first = len(tokens) + 2
        ids[row, 0], ids[row, 1 : first - 1], ids[row, first - 1] = start, tokens, end
        last = first
        if len(context):
            last = first + len(context) + 1
            ids[row, first : last - 1], ids[row, last - 1] = context, end
            kinds[row, first:last] = 1
        mask[row, :last] = 1
    return dict(zip(names, (ids, mask, kinds), strict=True))


_LENGTHS = 64.0, 400.0


def lengths_of(windows: Sequence[Window], texts: int, overlap: int) -> NDArray[np.float64]:
    """The number of tokens of each text [texts]; tokens in two windows count once."""
    found = np.full(texts, float(overlap))
    np.add.at(
        found, [each.owner for each in windows], [len(each.tokens) - overlap for each in windows]
    )
    return found


def log_lengths(tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """The factor of `Description.longer`: the natural logarithms of lengths [texts].

    Lengths are in units of 64 tokens. A text under 64 tokens counts as 64, one over 400, longer
    than those on which `longer` was fitted, as 400.
    """
    found: NDArray[np.float64] = np.log(np.clip(tokens, *_LENGTHS) / _LENGTHS[0])
    return found


def lengthened(
    quality: NDArray[np.float64], lengths: NDArray[np.float64], longer: float
) -> NDArray[np.float64]:
    """Qualities [texts], raised by the lengths of the texts."""
    raised: NDArray[np.float64] = quality / (
        quality + (1 - quality) * np.exp(-longer * log_lengths(lengths))
    )
    return raised


MARKS = ("[unused1]", "[unused2]")
"""The marks of the first and the second object: unused tokens of BERT."""


def unmarked(text: str) -> str:
    """A text without brackets, so that nothing in it is a mark or a special token."""
    return text.replace("[", "( ").replace("]", " )") if "[" in text else text


def marked_text(text: str, first: str, second: str) -> str:
    """A text with every mention of an object replaced by its mark, in lower case."""
    found = Mentions(first, second).marked(words_of(unmarked(text)))
    # in lower case no other word is one capital letter
    marks = {FIRST: MARKS[0], SECOND: MARKS[1]}
    return " ".join(marks.get(word, word) for word in found)


def marked_objects(first: str, second: str) -> str:
    """The names of the objects, each after its mark."""
    return f"{MARKS[0]} {unmarked(first)} {MARKS[1]} {unmarked(second)}"


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
            texts: Texts in the form that the model reads (comparisons: `marked_text`).
            contexts: A context for each, such as the topic; none when left out.
            outputs: Which of `OUTPUTS` are wanted.

        Returns:
            An array for each output: `embedding` (texts, dimensions), unit vectors; `quality` and
            `argumentativeness` (texts,), from 0 to 1; `stance`, `side` and `comparison` (texts,
            classes), probabilities.
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
    """The encoder of a folder, loaded once; the shipped one when left out."""
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
