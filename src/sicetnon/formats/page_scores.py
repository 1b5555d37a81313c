"""Scores of web pages from side files: PageRanks and spam ranks, one per line.

Such files tell of a whole crawl (733 million lines for ClueWeb12), so they are streamed, and only
the lines of pages at hand are retained.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import open_bytes, read_lines
from sicetnon.records import WebPage

PAGE_RANKS, SPAM_RANKS = "page-ranks.txt", "spam-ranks.txt"


@dataclass(frozen=True)
class PageScores:
    """Scores of pages by id.

    Attributes:
        page_rank: The higher the more linked to.
        spam_rank: Per cent of the crawl that is more spam than this (100 is best).
    """

    page_rank: Mapping[str, float] = field(default_factory=dict)
    spam_rank: Mapping[str, float] = field(default_factory=dict)

    def on(self, page: WebPage) -> WebPage:
        """A page with its scores, where they are known."""
        page_rank, spam_rank = self.page_rank.get(page.id), self.spam_rank.get(page.id)
        if page_rank is None and spam_rank is None:
            return page
        return msgspec.structs.replace(page, page_rank=page_rank, spam_rank=spam_rank)


@dataclass(frozen=True)
class SideFiles:
    """Files with an id and a number on each line, in either order.

    So are the Waterloo spam ranks (number first) and the ClueWeb12 PageRanks (id first).
    """

    page_rank: Path | None = None
    spam_rank: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are named."""
        return tuple(file for file in (self.page_rank, self.spam_rank) if file is not None)

    def check(self) -> None:
        """Refuse files that cannot be opened, before work begins.

        Raises:
            DataError: One cannot.
        """
        for file in self.files:
            with open_bytes(file):
                pass

    def read(self, wanted: Container[str]) -> PageScores:
        """The scores of some pages; memory is taken for these alone.

        Raises:
            DataError: A line, of whichever page, is no id and number.
        """
        return PageScores(_numbers(self.page_rank, wanted), _numbers(self.spam_rank, wanted))


def side_files_in(directory: Path) -> SideFiles:
    """The side files named `page-ranks.txt` and `spam-ranks.txt` (or `.gz` of them)."""
    return SideFiles(_beside(directory, PAGE_RANKS), _beside(directory, SPAM_RANKS))


def _beside(directory: Path, name: str) -> Path | None:
    for candidate in (directory / name, directory / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def _numbers(path: Path | None, wanted: Container[str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    if path is None:
        return numbers
    for line, text in read_lines(path):
        words = text.split()
        if not words:
            continue
        found = _pair(words)
        if found is None:
            raise DataError(
                f"found {text[:60]!r}; expected an id and a number, such as "
                "'clueweb12-0000wb-00-00000 1.3e-09'",
                path,
                line,
            )
        if found[0] in wanted:
            numbers[found[0]] = found[1]
    return numbers


def _pair(words: list[str]) -> tuple[str, float] | None:
    """The id and the number on a line; the last word is the number where both could be."""
    if len(words) != 2:
        return None
    for name, number in (words, reversed(words)):
        try:
            value = float(number)
        except ValueError:
            continue
        if value == value:
            return name, value
    return None
