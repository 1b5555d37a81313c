"""The postings of one term, wherever they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sicetnon.retrieval.formulas import WindowPostings

NO_POSTINGS: WindowPostings = np.empty(0, np.int32), np.empty((0, 1), np.uint16), (1.0,)


class TermPostings(Protocol):
    """A term's postings in each segment of an index."""

    @property
    def documents(self) -> int:
        """The number of documents with the term, without deleted ones."""

    @property
    def occurrences(self) -> float:
        """The number of its occurrences in these documents."""

    @property
    def size(self) -> int:
        """The number of postings.

        Those of deleted documents count, and those whose weighted frequency is 0; a document with
        several forms counts for each of them.
        """

    @property
    def terms(self) -> tuple[int | None, ...]:
        """For each segment the number that the term has there, or None.

        Empty where the postings of several forms were merged.
        """

    def segment(self, place: int) -> WindowPostings:
        """The postings of a segment: the documents, int32, rising, shape (n,), their frequencies,
        shape (n, columns), and the weight of each column.
        """


@dataclass(frozen=True)
class CountedPostings:
    """The postings of a term in the only segment of an index, with known statistics.

    Attributes:
        documents: The number of documents with the term.
        occurrences: The number of its occurrences.
        postings: The postings, or none where the statistics alone are wanted.
    """

    documents: int
    occurrences: float
    postings: WindowPostings = NO_POSTINGS
    terms: ClassVar[tuple[int | None, ...]] = ()

    @property
    def size(self) -> int:
        """The number of postings."""
        return len(self.postings[0])

    def segment(self, place: int) -> WindowPostings:
        """See `TermPostings.segment`."""
        return self.postings
