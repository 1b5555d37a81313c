"""The postings of a term over weighted fields, and over the forms of its stem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.retrieval import kernels
from sicetnon.retrieval.statistics import (
    CollectionStatistics,
    TermStatistics,
    weighted_occurrences,
)

_KNOWN_TERMS = 10_000

ALL_LIVE = np.empty(0, dtype=np.uint8)
"""The mask of a segment without deleted documents."""


@dataclass(frozen=True)
class TermPostings:
    """A term's postings in each segment of an index.

    Attributes:
        statistics: Documents and occurrences in the whole index, without deleted documents.
        segments: The documents, shape (n,), and frequencies, shape (n, columns), of each segment.
        columns: The weight of each column of the frequencies.
    """

    statistics: TermStatistics
    segments: tuple[tuple[NDArray[np.int32], NDArray[Any]], ...]
    columns: tuple[float, ...]


def field_weights(index: IndexReader, fields: Mapping[str, float]) -> NDArray[np.float64]:
    """The weight of each field of an index, shape (fields,); all 1 where no field is named.

    Raises:
        BrokenIndexError: The index lacks one of the fields.
        UsageError: A weight is no number from 0.
    """
    unknown = [name for name in fields if name not in index.fields]
    if unknown:
        raise BrokenIndexError(
            f"{index.folder}: has no field {', '.join(unknown)}; its fields are "
            f"{', '.join(index.fields)}"
        )
    for name, weight in fields.items():
        if not (isinstance(weight, int | float) and 0 <= weight < math.inf):
            raise UsageError(f"found the weight {weight!r} of the field {name}; expected 0 or more")
    if not fields:
        return np.ones(len(index.fields))
    return np.array([float(fields.get(name, 0.0)) for name in index.fields])


class PostingsReader:
    """Reads postings of an index over weighted fields. Each thread needs a reader of its own.

    Args:
        index: The index.
        fields: Field names with their weights; all fields with weight 1 when empty.
        other_forms: The weight of an occurrence of another form of the same stem, where the index
            keeps forms apart; 1 counts all forms alike, 0 leaves the others out.
    """

    def __init__(self, index: IndexReader, fields: Mapping[str, float], other_forms: float = 1.0):
        self._index, self._other_forms = index, other_forms
        self.weights = field_weights(index, fields)
        self._columns = tuple(self.weights.tolist())
        self._stem = index.analysis.analyzer().stem
        self._plainly = self._is_plain()
        self._known: dict[str, TermPostings] = {}
        self._sums = [np.zeros(0)] * len(index.segments)
        self._seen = [np.zeros(0, dtype=np.int32)] * len(index.segments)
        documents, occurrences = index.document_count, float(self.weights @ index.field_totals)
        average = occurrences / documents if documents else 0.0
        self.collection = CollectionStatistics(documents, occurrences, average)

    def read(self, term: str) -> TermPostings:
        """The postings of a term, empty where it does not occur."""
        if self._plainly:
            known = self._known.get(term)
            if known is None:
                if len(self._known) >= _KNOWN_TERMS:
                    self._known.clear()
                known = self._known[term] = self._plain(term)
            return known
        stem = self._stem([term])[0] if self._index.analysis.forms else term
        forms = [self._forms(segment, term, stem) for segment in self._index.segments]
        segments = tuple(self._gathered(number, found) for number, found in enumerate(forms))
        documents = sum(len(found) for found, _ in segments)
        statistics = TermStatistics(documents, self._occurrences(forms))
        return TermPostings(statistics, segments, (1.0,))

    def _occurrences(self, forms: Sequence[Sequence[tuple[int, float]]]) -> float:
        """The weighted occurrences of a term's forms in live documents.

        Whole numbers are added first, so that the sum does not depend on the segments.
        """
        counts: dict[str, NDArray[np.int64]] = {}
        weight_of: dict[str, float] = {}
        for segment, found in zip(self._index.segments, forms, strict=True):
            for number, weight in found:
                form = segment.terms.word(number)
                weight_of[form] = weight
                counts[form] = counts.get(form, np.int64(0)) + _live_occurrences(segment, number)
        weighted = {form: (weight_of[form], counts[form].tolist()) for form in counts}
        return weighted_occurrences(self.weights.tolist(), weighted)

    def _is_plain(self) -> bool:
        """Whether stored postings can be used without change."""
        whole = all(segment.live is None for segment in self._index.segments)
        return whole and all(self._columns) and not self._index.analysis.forms

    def _plain(self, term: str) -> TermPostings:
        documents, occurrences, segments = 0, np.zeros(len(self.weights), dtype=np.int64), []
        alike = len(set(self._columns)) == 1
        for segment in self._index.segments:
            number = segment.terms.number(term)
            here = slice(0, 0)
            if number is not None:
                here = segment.postings(number)
                occurrences = occurrences + segment.occurrences(number)
            documents += here.stop - here.start
            frequencies = segment.sums if alike else segment.frequencies
            segments.append((segment.documents[here], frequencies[here]))
        columns = self._columns[:1] if alike else self._columns
        weighted = weighted_occurrences(self.weights.tolist(), {term: (1.0, occurrences.tolist())})
        return TermPostings(TermStatistics(documents, weighted), tuple(segments), columns)

    def _forms(self, segment: Segment, term: str, stem: str) -> list[tuple[int, float]]:
        """The forms of a term in a segment, with their weights."""
        number = segment.terms.number(term)
        own = [] if number is None else [(number, 1.0)]
        if segment.forms is None or not self._other_forms:
            return own
        # sorted, so that equal documents get equal sums in any segment
        found = sorted(segment.forms.of(stem), key=segment.terms.word)
        others = (form for form in found if form != number)
        return own + [(form, self._other_forms) for form in others]

    def _gathered(
        self, place: int, forms: list[tuple[int, float]]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        segment = self._index.segments[place]
        if len(self._sums[place]) < len(segment):
            self._sums[place] = np.zeros(len(segment))
            self._seen[place] = np.empty(len(segment), dtype=np.int32)
        count, sums, seen = 0, self._sums[place], self._seen[place]
        for number, weight in forms:
            here = segment.postings(number)
            count = kernels.gather(
                segment.documents[here], segment.frequencies[here],
                self._columns, weight, sums, seen, count,
            )  # fmt: skip
            if count < 0:
                sums.fill(0.0)
                raise segment.wrong_document()
        live = ALL_LIVE if segment.live is None else segment.live
        return kernels.take(seen[:count], sums, live)


def _live_occurrences(segment: Segment, term: int) -> NDArray[np.int64]:
    """The occurrences of a term in documents that are not deleted, shape (fields,)."""
    if segment.live is None:
        return segment.occurrences(term)
    here = segment.postings(term)
    is_live = segment.live[segment.documents[here]] != 0
    counts: NDArray[np.int64] = segment.frequencies[here][is_live].sum(axis=0, dtype=np.int64)
    return counts
