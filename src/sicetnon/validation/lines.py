"""The rows of a run as columns, a block at a time, and the faults in the form of its lines.

Blocks in the strict form are cut at C speed: a run of a million lines must take about a second.
Others are read line by line, forgiving what `formats.runs` forgives and noting it.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.records import Ranking
from sicetnon.validation import rules
from sicetnon.validation.rules import Log, Rule, shown

COLUMNS = "qid column2 doc rank score tag"
_ODD_SPACES = "\t\r\v\f\x1c\x1d\x1e\x1f"
_SEPARATOR_NAMES = {"\t": "a tab", "\r": "a carriage return", "\u00a0": "a no-break space"}


@dataclass(slots=True)
class Rows:
    """Lines with six columns.

    Attributes:
        lines: Their numbers in the file, from 1.
        dropped: Number of unusable lines before each, from the start of the file.
        topics: First column.
        seconds: Second column.
        documents: Third column.
        ranks: Fourth column, as text or numbers.
        scores: Fifth column, likewise.
        tags: Sixth column.
    """

    lines: NDArray[np.int64]
    dropped: NDArray[np.int64]
    topics: Sequence[str]
    seconds: Sequence[str]
    documents: Sequence[str]
    ranks: Sequence[str] | NDArray[np.int64]
    scores: Sequence[str] | NDArray[np.float64]
    tags: Sequence[str]

    def __len__(self) -> int:
        return len(self.topics)

    def take(self, order: NDArray[np.int64]) -> Rows:
        """The same rows in another order."""
        places: list[int] = order.tolist()
        columns: tuple[Sequence[Any] | NDArray[Any], ...] = (
            *(self.topics, self.seconds, self.documents, self.ranks, self.scores, self.tags),
        )
        taken = ([column[place] for place in places] for column in columns)
        return Rows(self.lines[order], self.dropped[order], *taken)


class RowReader:
    """Reads blocks and rankings into rows.

    Args:
        log: Takes the findings.
        pairs: Whether the documents are pairs of sentences.

    Attributes:
        lines: Number of lines read so far.
        blank: Number of lines without text among them.
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

    def read_ranking(self, ranking: Ranking, tag: str) -> Rows:
        """The rows that a file would have for a ranking.

        Args:
            ranking: The ranking.
            tag: The tag of the run.
        """
        first, count = self.lines + 1, len(ranking)
        if count and tag.split() != [tag]:
            self._log.note(rules.TAG_SPACE, first, f"the tag {shown(tag)}", "one word", count)
        for line, document in enumerate(ranking.ids, first):
            if document.split() != [document]:
                found = f"the id {shown(document)}"
                self._log.note(rules.COLUMNS, line, found, "an id without white space")
        self.lines += count
        return Rows(
            np.arange(first, first + count, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            [ranking.topic.number] * count,
            ranking.second_column,
            ranking.ids,
            np.arange(1, count + 1, dtype=np.int64),
            ranking.scores,
            [tag] * count,
        )

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
        """The columns of lines that all have six; None where a line has not.

        Tabs and carriage returns are noted, and read as spaces and line breaks.
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
        """The tag of a line of six columns or more; None where the line cannot be used."""
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
    """The columns of lines in the strict form, seven per line: six, and the line break.

    None where a line has another form.
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
