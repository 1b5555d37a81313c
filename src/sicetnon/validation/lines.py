"""The lines of a run as columns, a block at a time, with what is wrong with their form.

Blocks in the strict form are cut at C speed: a run of a million lines must take about a second.
Others are read line by line, forgiving what `formats.runs` forgives and noting it.
"""

from __future__ import annotations

import codecs
import gzip
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import MISSING
from sicetnon.formats.files import open_bytes
from sicetnon.records import UNSTANCED
from sicetnon.validation import rules
from sicetnon.validation.rules import Log, Rule, shown

# A path, lines of text, records, or a data frame.
RunSource = str | Path | Iterable[Any]
COLUMNS = "qid column2 doc rank score tag"
# The columns of a block should fit a processor's cache: 4 MiB take twice as long altogether.
BLOCK_BYTES = 1 << 18
_LONGEST_LINE = 1 << 24
_LINES_A_PIECE = 2_000
_ODD_SPACES = "\t\r\v\f\x1c\x1d\x1e\x1f"
# A data frame or a record must have the first three; what else it lacks is taken as right.
_FIELDS = (
    *(sources.TOPIC, sources.DOCUMENT, sources.SCORE),
    *(sources.RANK, sources.STANCE, sources.TAG),
)
_SEPARATOR_NAMES = {"\t": "a tab", "\r": "a carriage return", "\u00a0": "a no-break space"}


@dataclass(slots=True)
class Rows:
    """Lines with six columns.

    Attributes:
        lines: Their numbers in the file, from 1.
        dropped: How many lines before each, from the start of the file, could not be used.
        topics: First column; so with the others.
        seconds: Second column.
        documents: Third column.
        ranks: Fourth column, as text.
        scores: Fifth column, as text.
        tags: Sixth column.
    """

    lines: NDArray[np.int64]
    dropped: NDArray[np.int64]
    topics: Sequence[str]
    seconds: Sequence[str]
    documents: Sequence[str]
    ranks: Sequence[str]
    scores: Sequence[str]
    tags: Sequence[str]

    def __len__(self) -> int:
        return len(self.topics)

    def take(self, order: NDArray[np.int64]) -> Rows:
        """The same rows in another order."""
        places = order.tolist()
        columns = (self.topics, self.seconds, self.documents, self.ranks, self.scores, self.tags)
        taken = (list(map(column.__getitem__, places)) for column in columns)
        return Rows(self.lines[order], self.dropped[order], *taken)


class Pieces:
    """A run as pieces of bytes, wherever it comes from.

    Args:
        run: A path, lines of text, records, or a data frame.

    Attributes:
        error: Why the pieces ended early; None where they did not.
        opened: Whether the file could be opened.
        zipped: Whether it is compressed.
    """

    def __init__(self, run: RunSource):
        self._run = run
        self.error: DataError | None = None
        self.opened = self.zipped = False

    def __iter__(self) -> Iterator[bytes]:
        if not isinstance(self._run, str | Path):
            yield from _pieces_of(_text_lines(self._run))
            return
        try:
            with open_bytes(self._run) as file:
                self.opened, self.zipped = True, isinstance(file, gzip.GzipFile)
                # read1, since read would keep back what came before a damaged place
                while piece := file.read1(BLOCK_BYTES):  # type: ignore[attr-defined]
                    yield piece
        except DataError as error:
            self.error = error
        except OSError as error:
            self.error = DataError(f"cannot be read: {error.strerror or error}", self._run)


def _pieces_of(lines: Iterable[str]) -> Iterator[bytes]:
    left = iter(lines)
    while some := list(itertools.islice(left, _LINES_A_PIECE)):
        yield "".join(f"{line}\n" for line in some).encode("utf-8", "surrogatepass")


def _text_lines(run: Iterable[Any]) -> Iterator[str]:
    """Lines of text without their ends; records and data frames are written as lines."""
    if not sources.is_frame(run):
        items = iter(run)
        first = next(items, None)
        if first is None:
            return
        run = itertools.chain([first], items)
        if isinstance(first, str):
            yield from (line.removesuffix("\n") for line in run)
            return
    ranks: Counter[str] = Counter()
    for topic, document, score, rank, second, tag in sources.rows(run, _FIELDS, required=3):
        ranks[str(topic)] += 1
        place = ranks[str(topic)] if rank is MISSING else rank
        word = UNSTANCED if second is MISSING else second
        yield f"{topic} {word} {document} {place} {score} {'run' if tag is MISSING else tag}"


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut pieces of a file into blocks that end where a line ends.

    What stands behind the last line break comes as a block of its own, without one.
    """
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        # a "line" that goes on for ever is no line, and must not fill the memory
        if (size >= BLOCK_BYTES and b"\n" in piece) or size > _LONGEST_LINE:
            *blocks, rest = _split_last(b"".join(waiting))
            yield from blocks or [rest]
            waiting, size = ([rest], len(rest)) if blocks else ([], 0)
    yield from filter(None, _split_last(b"".join(waiting)))


def _split_last(data: bytes) -> list[bytes]:
    """All lines, where there is one that ends, and what stands behind the last line break."""
    end = data.rfind(b"\n") + 1
    return [data[:end], data[end:]] if end else [data]


class RowReader:
    """Reads blocks into rows.

    Args:
        log: Takes the findings.
        pairs: Whether the documents are pairs of sentences.

    Attributes:
        lines: How many lines were read so far.
        blank: How many of them held no text.
    """

    def __init__(self, log: Log, pairs: bool = False):
        self.lines = self.blank = 0
        self._log, self._pairs = log, pairs
        self._dropped = 0
        self._tags: dict[str, tuple[str, bool]] = {}

    def read(self, block: bytes) -> Rows:
        """The rows of a block of lines."""
        if self.lines == 0 and block.startswith(codecs.BOM_UTF8):
            block = block[len(codecs.BOM_UTF8) :]
            found, expected = "a byte order mark", "the number of a topic first"
            self._log.note(rules.BYTE_ORDER_MARK, 1, found, expected)
        text = self._decode(block)
        if not text.endswith("\n"):
            text += "\n"
        first, count = self.lines + 1, text.count("\n")
        self.lines += count
        columns = self._cut(text, first, count)
        if columns is None:
            return self._read_each(text, first)
        numbers = np.arange(first, first + count, dtype=np.int64)
        dropped = np.full(count, self._dropped, dtype=np.int64)
        return Rows(numbers, dropped, *(columns[place::7] for place in range(6)))

    def _decode(self, block: bytes) -> str:
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError:
            pass
        for number, line in enumerate(block.split(b"\n"), self.lines + 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                if not self._log.again(rules.NOT_UTF8):
                    found = f"the byte 0x{line[error.start]:02x} at place {error.start + 1}"
                    self._log.note(rules.NOT_UTF8, number, found, "text in UTF-8")
        return block.decode("utf-8", "replace")

    def _cut(self, text: str, first: int, count: int) -> list[str] | None:
        """The columns of lines that all have six, or None where some line has not.

        Tabs and carriage returns are noted, and read as what most likely was meant.
        """
        if not text.isascii():
            return None
        meant = text.replace("\t", " ").replace("\r\n", "\n")
        if any(space in meant for space in _ODD_SPACES):
            return None
        columns = _cut_strict(meant, count)
        if columns is None or meant == text:
            return columns
        lines = text.split("\n")
        odd = [place for place, line in enumerate(lines) if "\t" in line or "\r" in line]
        found = _odd_separator(lines[odd[0]])
        self._log.note(rules.SEPARATORS, first + odd[0], found, "single spaces", len(odd))
        return columns

    def _read_each(self, text: str, first: int) -> Rows:
        columns: list[str] = []
        numbers, dropped = [], []
        for number, line in enumerate(text.split("\n")[:-1], first):
            found = line.split(None, 5)
            if len(found) != 6:
                self._note_short(found, number)
                continue
            tag = self._clean_tag(found, line, number)
            if tag is None:
                continue
            if " ".join(found) != line or tag != found[5]:
                if not self._log.again(rules.SEPARATORS):
                    self._log.note(rules.SEPARATORS, number, _odd_separator(line), "single spaces")
                found[5] = tag
            columns += found
            numbers.append(number)
            dropped.append(self._dropped)
        by_place = (columns[place::6] for place in range(6))
        return Rows(np.array(numbers, np.int64), np.array(dropped, np.int64), *by_place)

    def _note_short(self, columns: list[str], number: int) -> None:
        if columns:
            self._drop(rules.COLUMNS, number, f"{len(columns)} columns")
        else:
            self.blank += 1
            self._log.note(rules.BLANK_LINES, number, "a line without text", COLUMNS)

    def _clean_tag(self, columns: list[str], line: str, number: int) -> str | None:
        """The tag of a line of six columns or more; None where it is no tag that has too many."""
        known = self._tags.get(columns[5])
        if known is None:
            tag = columns[5].rstrip()
            known = self._tags[columns[5]] = (tag, len(tag.split()) == 1)
        tag, is_word = known
        if is_word:
            return tag
        if self._pairs and (columns[2].endswith(",") or columns[3].startswith(",")):
            found = f"white space in the pair {shown(f'{columns[2]} {columns[3]}')}"
            self._drop(rules.PAIR_FORM, number, found, "two ids joined by one comma alone")
            return None
        if not (columns[3].isdecimal() and _is_number(columns[4])):
            self._drop(rules.COLUMNS, number, f"{len(line.split())} columns")
            return None
        if not self._log.again(rules.TAG_SPACE):
            self._log.note(rules.TAG_SPACE, number, f"the tag {shown(tag)}", "one word")
        return tag

    def _drop(self, rule: Rule, number: int, found: str, expected: str = f"6: {COLUMNS}") -> None:
        self._dropped += 1
        if not self._log.again(rule):
            self._log.note(rule, number, found, expected)


def _cut_strict(text: str, count: int) -> list[str] | None:
    """The columns of lines in the strict form, seven a line: six, and the line break.

    None where some line has another form.
    """
    columns = text.replace("\n", " \n ").split(" ")
    columns.pop()
    # where every seventh is a line break and none is empty, each line has its six
    if len(columns) != 7 * count or columns[6::7] != ["\n"] * count or not all(columns):
        return None
    return columns


def _odd_separator(line: str) -> str:
    for mark, name in _SEPARATOR_NAMES.items():
        if mark in line:
            return name
    return "several spaces" if "  " in line.strip() else "a space before or after the columns"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
