"""Bounds of terms' scores, kept from query to query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.posting_cache import PAIRED_FROM, default_cache_bytes
from sicetnon.index.segment import Segment
from sicetnon.retrieval import range_bounds
from sicetnon.retrieval.range_bounds import BLOCK_BITS, RANGE_BITS, Bounds
from sicetnon.retrieval.tables import Postings, Terms

MOST_BYTES, _SHARE = 1 << 29, 8
"""Memory for the bounds of one weighting model, in one thread; and, where that is less, the share
of it in the memory for unpacked postings."""
_RANGES_PER_POSTING = 16
"""A term is frequent, and has bounds, from one posting for so many ranges."""


class KnownBounds:
    """The bounds of one weighting model's scores in the segments of an index.

    Args:
        segments: The segments.
    """

    def __init__(self, segments: Sequence[Segment]):
        self._documents = sum(map(len, segments))
        self._of: dict[int, _SegmentBounds] = {}

    def of(
        self, place: int, segment: Segment, numbers: Sequence[int], postings: Postings,
        terms: Terms, places: NDArray[np.int64],
    ) -> Bounds | None:  # fmt: skip
        """The bounds of the terms of a query; None where a frequent term has none (yet).

        A term has bounds from the second time on that it is asked for, since they take as long to
        make as it takes to score the term. They hold for any weight above 0 of the term.

        Args:
            place: The place of the segment.
            segment: The segment.
            numbers: The numbers of the terms there.
            postings: The postings of the terms.
            terms: The terms.
            places: The begin and end of each term's postings, shape (terms, 2).

        Raises:
            BrokenIndexError: The postings are damaged.
        """
        if place not in self._of:
            most_bytes = min(MOST_BYTES, default_cache_bytes() // _SHARE)
            most_bytes = most_bytes * len(segment) // self._documents
            self._of[place] = _SegmentBounds(segment, most_bytes)
        return self._of[place].of(numbers, postings, terms, places)


class _SegmentBounds:
    """See `KnownBounds`."""

    def __init__(self, segment: Segment, most_bytes: int):
        self._segment = segment
        count, blocks = -(-len(segment) >> RANGE_BITS), -(-len(segment) >> BLOCK_BITS)
        self._frequent_from = max(count // _RANGES_PER_POSTING, PAIRED_FROM)
        capacity = max(most_bytes // (count + 4 * blocks), 1)
        # the system gives memory for those rows alone that are written
        self._rows = np.empty((capacity, count), np.uint8)
        self._starts = np.empty((capacity, blocks + 1), np.int32)
        self._row_of: dict[int, int] = {}
        self._asked: set[int] = set()

    def of(
        self, numbers: Sequence[int], postings: Postings, terms: Terms, places: NDArray[np.int64]
    ) -> Bounds | None:
        sizes = (places[:, 1] - places[:, 0]).tolist()
        terms_of = {
            number: term
            for term, (number, size) in enumerate(zip(numbers, sizes, strict=True))
            if size >= self._frequent_from
        }
        new = terms_of.keys() - self._row_of.keys()
        if not new <= self._asked or len(terms_of) > len(self._rows):
            self._asked |= new
            return None
        for number in terms_of.keys() - new:  # the terms asked for last stay longest
            self._row_of[number] = self._row_of.pop(number)
        for number in new:
            term = terms_of[number]
            if not self._make(number, postings, terms, term, places[term]):
                return None
        row_of = np.full(len(places), -1)
        for number, term in terms_of.items():
            row_of[term] = self._row_of[number]
        return self._rows, self._starts, row_of

    def _make(
        self, number: int, postings: Postings, terms: Terms, term: int, places: NDArray[np.int64]
    ) -> bool:
        """Make the bounds of a term, if it has pairs."""
        scores = terms[4][terms[3][term] : terms[3][term + 1]]
        if not len(scores):
            return False
        (begin, end), row = places.tolist(), len(self._row_of)
        if row == len(self._rows):
            row = self._row_of.pop(next(iter(self._row_of)))
        documents = len(self._segment)
        is_sound = range_bounds.bound_term(
            postings, scores, begin, end, documents, self._rows[row], self._starts[row]
        )
        if not is_sound:
            self._row_of.clear()  # the row belongs to no term, and rows are counted
            raise self._segment.wrong_posting()
        self._row_of[number] = row
        return True
