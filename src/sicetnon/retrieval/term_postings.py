"""The postings of one term, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sicetnon.retrieval.formulas import WindowPostings
from sicetnon.retrieval.statistics import CountsTerm

NO_POSTINGS: WindowPostings = np.empty(0, np.int32), np.empty((0, 1), np.uint16), (1.0,)


class TermPostings(CountsTerm, Protocol):
    """A term's postings in each segment of an index; its counts leave deleted documents out.

    Attributes:
        size: The number of postings. Those of deleted documents count, and those whose weighted
            frequency is 0; a document with several forms counts for each of them.
        terms: For each segment the number that the term has there, or None; empty where the
            postings of several forms were merged.
    """

    @property
    def size(self) -> int:
        """See above."""

    @property
    def terms(self) -> tuple[int | None, ...]:
        """See above."""

    def segment(self, place: int) -> WindowPostings:
        """The postings of a segment: the documents, int32, rising, shape (n,), their frequencies,
        shape (n, columns), and the weight of each column.
        """


@dataclass(frozen=True)
class CountedPostings:
    """The postings of a term whose statistics are known.

    Attributes:
        documents: The number of documents with the term.
        occurrences: The number of its occurrences.
        of_segment: The postings of a segment by its place; see `TermPostings`.
    """

    documents: int
    occurrences: float
    size: int = 0
    of_segment: Callable[[int], WindowPostings] = lambda _: NO_POSTINGS
    terms: tuple[int | None, ...] = ()

    def segment(self, place: int) -> WindowPostings:
        """See `TermPostings.segment`."""
        return self.of_segment(place)
