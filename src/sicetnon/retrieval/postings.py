"""The postings of a term over weighted fields, and over the forms of its stem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sicetnon.checks import check_real
from sicetnon.compiled import is_small
from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.index.unpacked import Lists
from sicetnon.retrieval import kernels, plain
from sicetnon.retrieval.formulas import WindowPostings
from sicetnon.retrieval.statistics import (
    CollectionStatistics,
    TermStatistics,
    weighted_occurrences,
)

_LEAST_WEIGHT, _MOST_WEIGHT = 1e-9, 1e9
_KNOWN_TERMS = 10_000
_COUNT_SECONDS = 50e-9

ALL_LIVE = np.empty(0, dtype=np.uint8)
"""The mask of a segment without deleted documents."""
# as the masks that are read: numba would compile all kernels twice
ALL_LIVE.flags.writeable = False


NO_POSTINGS: WindowPostings = np.empty(0, np.int32), np.empty((0, 1), np.uint16), (1.0,)


@dataclass(frozen=True)
class TermPostings:
    """A term's postings in each segment of an index.

    Attributes:
        count: Counts the documents of the whole index with the term, without deleted ones.
        count_occurrences: Likewise the occurrences.
        size: The number of postings. Those of deleted documents count, and those whose weighted
            frequency is 0; a document with several forms counts for each of them.
        segment: The postings of a segment: the documents, int32, rising, shape (n,), their
            frequencies, shape (n, columns), and the weight of each column.
        terms: For each segment the number that the term has there, or None; empty where the
            postings of several forms were merged.
    """

    count: Callable[[], int]
    count_occurrences: Callable[[], float]
    size: int = 0
    segment: Callable[[int], WindowPostings] = lambda _: NO_POSTINGS
    terms: tuple[int | None, ...] = ()

    @classmethod
    def counted(
        cls,
        statistics: TermStatistics,
        size: int = 0,
        segment: Callable[[int], WindowPostings] = lambda _: NO_POSTINGS,
    ) -> Self:
        """The postings of a term whose statistics are known."""
        documents, occurrences = statistics
        return cls(lambda: documents, lambda: occurrences, size, segment)

    @cached_property
    def documents(self) -> int:
        """The number of documents with the term."""
        return self.count()

    @cached_property
    def statistics(self) -> TermStatistics:
        """Documents and occurrences; not all that reads postings needs both."""
        return TermStatistics(self.documents, self.count_occurrences())


def field_weights(index: IndexReader, fields: Mapping[str, float]) -> NDArray[np.float64]:
    """The weight of each field of an index, shape (fields,); all 1 where no field is named.

    Raises:
        BrokenIndexError: The index lacks one of the fields.
        UsageError: The fields are no names with weights, or a weight is neither 0 nor a number from
            a billionth to a billion.
    """
    if not isinstance(fields, Mapping):
        raise UsageError(
            f"found {fields!r}; expected fields with weights, such as {{'title': 2.0}}"
        )
    unknown = [name for name in fields if name not in index.fields]
    if unknown:
        raise BrokenIndexError(
            f"{index.folder}: has no field {', '.join(unknown)}; its fields are "
            f"{', '.join(index.fields)}"
        )
    for name, weight in fields.items():
        check_real(weight, f"the weight of the field {name}")
        # sums of others may be too large or too small for a number
        if weight != 0 and not _LEAST_WEIGHT <= weight <= _MOST_WEIGHT:
            raise UsageError(
                f"found the weight {weight!r} of the field {name}; expected 0, or a number from "
                f"{_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g}"
            )
    if not fields:
        return np.ones(len(index.fields))
    return np.array([float(fields.get(name, 0.0)) for name in index.fields])


class Postings(Protocol):
    """Gives the postings of terms over weighted fields.

    Attributes:
        weights: The weight of each field, shape (fields,).
        collection: Statistics of the collection.
    """

    weights: NDArray[np.float64]
    collection: CollectionStatistics

    def read(self, term: str) -> TermPostings:
        """The postings of a term, empty where it does not occur."""


@runtime_checkable
class HasPostings(Protocol):
    """An index that keeps its postings in its own way."""

    def postings(self, fields: Mapping[str, float], other_forms: float) -> Postings:
        """As `postings_of`."""


def postings_of(
    index: IndexReader, fields: Mapping[str, float], other_forms: float = 1.0
) -> Postings:
    """A reader of the postings of an index, for one thread at a time; see `PostingsReader`.

    Args:
        index: The index.
        fields: As `PostingsReader` takes them.
        other_forms: Likewise.
    """
    if isinstance(index, HasPostings):
        return index.postings(fields, other_forms)
    return PostingsReader(index, fields, other_forms)


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
        self._has_forms = bool(index.analysis.forms and other_forms)
        # whether the stored counts of a term are those of its documents
        whole = all(segment.live is None for segment in index.segments)
        self._is_counted = whole and all(self._columns)
        # whether the frequencies are those over all fields, and their weights
        is_whole = len(set(self._columns)) == 1
        self._whole = is_whole, self._columns[:1] if is_whole else self._columns
        self._frequencies_of: dict[int, NDArray[np.float64]] = {}
        self._known: dict[str, TermPostings] = {}
        documents, occurrences = index.document_count, float(self.weights @ index.field_totals)
        average = occurrences / documents if documents else 0.0
        self.collection = CollectionStatistics(documents, occurrences, average)

    def read(self, term: str) -> TermPostings:
        """The postings of a term, empty where it does not occur."""
        known = self._known.get(term)
        if known is None:
            known = self._read(term)
            if len(self._known) >= _KNOWN_TERMS:
                self._known.clear()
            self._known[term] = known  # numbers of terms, which take no memory
        return known

    def _read(self, term: str) -> TermPostings:
        segments = self._index.segments
        stem = self._stem([term])[0] if self._has_forms else term
        forms = [self._forms(segment, term, stem) for segment in segments]

        def occurrences() -> float:
            return self._occurrences(term, forms)

        if self._has_forms:

            def merged(place: int) -> WindowPostings:
                return self._merged(segments[place], forms[place])

            def count() -> int:
                return sum(map(self._count_forms, segments, forms))

            held = zip(segments, forms, strict=True)
            size = sum(len(segment.forms_of(_terms(each)).documents) for segment, each in held)
            return TermPostings(count, occurrences, size, merged)
        numbers = [found[0][0] if found else None for found in forms]

        def stored(place: int) -> WindowPostings:
            return self._stored(segments[place], numbers[place])

        known = [(s, n) for s, n in zip(segments, numbers, strict=True) if n is not None]
        size = sum(segment.postings.count(number) for segment, number in known)

        def count_stored() -> int:
            if self._is_counted:
                return size
            return sum(map(self._count, segments, map(stored, range(len(segments)))))

        return TermPostings(count_stored, occurrences, size, stored, tuple(numbers))

    def _occurrences(self, term: str, forms: Sequence[Sequence[tuple[int, float]]]) -> float:
        """The weighted occurrences of a term's forms in live documents.

        Whole numbers are added first, so that the sum does not depend on the segments.
        """
        own, others = (np.zeros(len(self.weights), dtype=np.int64) for _ in range(2))
        for segment, found in zip(self._index.segments, forms, strict=True):
            number_of_own = segment.terms.number(term)
            for number, _ in found:
                into = own if number == number_of_own else others
                into += _live_occurrences(segment, number)
        weights = self.weights.tolist()
        return weighted_occurrences(weights, own.tolist(), others.tolist(), self._other_forms)

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

    def _merged(self, segment: Segment, forms: Sequence[tuple[int, float]]) -> WindowPostings:
        """The postings of all forms in one list."""
        if not forms or forms == [(forms[0][0], 1.0)]:
            return self._stored(segment, forms[0][0] if forms else None)

        def merge() -> Lists:
            found = segment.forms_of(_terms(forms))
            loops = plain if is_small(_COUNT_SECONDS * len(found.documents)) else kernels
            frequencies = self._frequencies(segment).take(found.patterns)
            weights = np.array([weight for _, weight in forms])
            merged, sums = loops.merge_forms(found.documents, frequencies, found.offsets, weights)
            return Lists(merged, sums[:, None])

        return *segment.merged((tuple(forms), self._columns), merge), (1.0,)

    def _frequencies(self, segment: Segment) -> NDArray[np.float64]:
        """The frequency of each pattern over the weighted fields, shape (patterns,)."""
        known = self._frequencies_of.get(segment.base)
        if known is None:
            is_whole, columns = self._whole
            packed = segment.postings
            rows = packed.sums[:, None] if is_whole else packed.patterns
            known = self._frequencies_of[segment.base] = plain.weighted(rows, columns)
        return known

    def _stored(self, segment: Segment, number: int | None) -> WindowPostings:
        is_whole, columns = self._whole
        if number is None:
            return np.empty(0, np.int32), np.empty((0, len(columns)), np.uint16), columns
        documents, frequencies = segment.sums(number) if is_whole else segment.rows(number)
        return documents, frequencies, columns

    def _count_forms(self, segment: Segment, forms: Sequence[tuple[int, float]]) -> int:
        """The number of live documents in which one of some forms occurs."""
        if not self._is_counted:
            return self._count(segment, self._merged(segment, forms))
        documents = segment.forms_of(_terms(forms)).documents
        loops = plain if is_small(_COUNT_SECONDS * len(documents)) else kernels
        count: int = loops.count_distinct(documents, len(segment))
        if count < 0:
            raise segment.wrong_posting()
        return count

    def _count(self, segment: Segment, postings: WindowPostings) -> int:
        """The number of live documents in which a term occurs."""
        live = ALL_LIVE if segment.live is None else segment.live
        loops = plain if is_small(_COUNT_SECONDS * len(postings[0])) else kernels
        count: int = loops.count_documents(*postings, live)
        if count < 0:
            raise segment.wrong_posting()
        return count


def _terms(forms: Sequence[tuple[int, float]]) -> tuple[int, ...]:
    return tuple(number for number, _ in forms)


def merge_postings(found: Sequence[tuple[WindowPostings, float]]) -> Lists:
    """The postings of some forms of a term in one list.

    Args:
        found: For each form its postings, over the same fields, and its weight.

    Returns:
        The documents, rising, and the weighted sums of frequencies, shape (n, 1).
    """
    documents, frequencies, fields = zip(*(postings for postings, _ in found), strict=True)
    merged, sums = plain.merge_forms(
        np.concatenate(documents),
        plain.weighted(np.concatenate(frequencies), fields[0]),
        np.cumsum([0, *map(len, documents)]),
        np.array([weight for _, weight in found]),
    )
    return Lists(merged, sums[:, None])


def _live_occurrences(segment: Segment, term: int) -> NDArray[np.int64]:
    """The occurrences of a term in documents that are not deleted, shape (fields,)."""
    if segment.live is None:
        return segment.occurrences(term)
    documents, frequencies = segment.rows(term)
    is_live = segment.live[documents] != 0
    counts: NDArray[np.int64] = frequencies[is_live].sum(axis=0, dtype=np.int64)
    return counts
