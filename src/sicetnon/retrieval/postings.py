"""The postings of a term over weighted fields, and over the forms of its stem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_real
from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.posting_cache import PostingList
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.jit import use_numpy
from sicetnon.retrieval.formulas import WindowPostings, weighted_frequencies
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.statistics import CollectionStatistics, weighted_occurrences

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
        postings: The postings, or none if only the statistics are needed.
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
        """The postings of a segment."""
        return self.postings


_LEAST_WEIGHT, _MOST_WEIGHT = 1e-9, 1e9
_KNOWN_TERMS = 10_000
_COUNT_SECONDS = 50e-9

Forms: TypeAlias = Sequence[tuple[int, float]]
"""The forms of a stem: their numbers in a segment, with their weights."""

ALL_LIVE = np.empty(0, dtype=np.uint8)
"""The mask of a segment without deleted documents."""
# as the masks that are read: numba would compile all kernels twice
ALL_LIVE.flags.writeable = False


def field_weights(index: IndexReader, fields: Mapping[str, float]) -> NDArray[np.float64]:
    """The weight of each field of an index, shape (fields,); all 1 where no field is named."""
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
        if weight != 0 and not _LEAST_WEIGHT <= float(weight) <= _MOST_WEIGHT:
            raise UsageError(
                f"found the weight {weight!r} of the field {name}; expected 0, or a number from "
                f"{_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g}"
            )
    if not fields:
        return np.ones(len(index.fields))
    return np.array([float(fields.get(name, 0.0)) for name in index.fields])


class TermSource(Protocol):
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

    def postings(self, fields: Mapping[str, float], other_forms: float) -> TermSource:
        """A reader of the postings of terms over weighted fields."""


def postings_of(
    index: IndexReader, fields: Mapping[str, float], other_forms: float = 1.0
) -> TermSource:
    """A reader of the postings of an index, for one thread at a time; see `PostingsReader`.

    Args:
        index: The index.
        fields: Field names with their weights; all fields with weight 1 when empty.
        other_forms: The weight of an occurrence of another form of the same stem.
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
        self._index, self.other_forms = index, other_forms
        self.weights = field_weights(index, fields)
        self._columns = tuple(self.weights.tolist())
        self._stem = index.analysis.analyzer().stem
        self._has_forms = bool(index.analysis.forms and other_forms)
        # whether the stored counts of a term are those of its documents
        whole = all(segment.live is None for segment in index.segments)
        self.is_counted = whole and all(self._columns)
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
        numbers = tuple([segment.terms.number(term) for segment in segments])
        if not self._has_forms:
            return _StoredTerm(self, segments, numbers)
        stem = self._stem([term])[0]
        pairs = zip(segments, numbers, strict=True)
        return _MergedTerm(self, segments, numbers, [self._forms(*each, stem) for each in pairs])

    def _forms(self, segment: Segment, number: int | None, stem: str) -> Forms:
        """The forms of a term in a segment, with their weights; the term itself is the first."""
        own = [] if number is None else [(number, 1.0)]
        if segment.forms is None:
            return own
        # sorted, so that equal documents get equal sums in any segment
        found = sorted(segment.forms.of(stem), key=segment.terms.word)
        others = (form for form in found if form != number)
        return own + [(form, self.other_forms) for form in others]

    def merged(self, segment: Segment, forms: Forms) -> WindowPostings:
        """The postings of all forms in one list."""
        if not forms or forms == [(forms[0][0], 1.0)]:
            return self.stored(segment, forms[0][0] if forms else None)

        def merge() -> PostingList:
            found = segment.forms_of(_terms(forms))
            loops = NUMPY if use_numpy(_COUNT_SECONDS * len(found.documents)) else COMPILED
            frequencies = self._frequencies(segment).take(found.patterns)
            weights = np.array([weight for _, weight in forms])
            merged, sums = loops.merge_forms(found.documents, frequencies, found.offsets, weights)
            return PostingList(merged, sums[:, None])

        return *segment.merged((tuple(forms), self._columns), merge), (1.0,)

    def _frequencies(self, segment: Segment) -> NDArray[np.float64]:
        """The frequency of each pattern over the weighted fields, shape (patterns,)."""
        known = self._frequencies_of.get(segment.base)
        if known is None:
            is_whole, columns = self._whole
            packed = segment.postings
            rows = packed.sums[:, None] if is_whole else packed.patterns
            known = self._frequencies_of[segment.base] = weighted_frequencies(rows, columns)
        return known

    def stored(self, segment: Segment, number: int | None) -> WindowPostings:
        """The stored postings of a term."""
        is_whole, columns = self._whole
        if number is None:
            return np.empty(0, np.int32), np.empty((0, len(columns)), np.uint16), columns
        documents, frequencies = segment.sums(number) if is_whole else segment.rows(number)
        return documents, frequencies, columns

    def count_forms(self, segment: Segment, forms: Forms) -> int:
        """The number of live documents in which one of some forms occurs."""
        if not self.is_counted:
            return self.count(segment, self.merged(segment, forms))
        documents = segment.forms_of(_terms(forms)).documents
        loops = NUMPY if use_numpy(_COUNT_SECONDS * len(documents)) else COMPILED
        count: int = loops.count_distinct(documents, len(segment))
        if count < 0:
            raise segment.wrong_posting()
        return count

    def count(self, segment: Segment, postings: WindowPostings) -> int:
        """The number of live documents in which a term occurs."""
        live = ALL_LIVE if segment.live is None else segment.live
        loops = NUMPY if use_numpy(_COUNT_SECONDS * len(postings[0])) else COMPILED
        count: int = loops.count_documents(*postings, live)
        if count < 0:
            raise segment.wrong_posting()
        return count


class _StoredTerm:
    """A term alone; other forms of its stem do not count. A process keeps thousands of them."""

    __slots__ = ("_documents", "_occurrences", "_reader", "_segments", "size", "terms")

    def __init__(
        self, reader: PostingsReader, segments: Sequence[Segment], terms: tuple[int | None, ...]
    ):
        self._reader, self._segments, self.terms = reader, segments, terms
        self._documents: int | None = None
        self._occurrences: float | None = None
        self.size = sum(
            [
                segment.postings.count(number)
                for segment, number in zip(segments, terms, strict=True)
                if number is not None
            ]
        )

    def segment(self, place: int) -> WindowPostings:
        """The postings of a segment."""
        return self._reader.stored(self._segments[place], self.terms[place])

    @property
    def documents(self) -> int:
        """The number of documents with the term."""
        if self._documents is None:
            places = range(len(self._segments))
            self._documents = (
                self.size
                if self._reader.is_counted
                else sum(map(self._reader.count, self._segments, map(self.segment, places)))
            )
        return self._documents

    @property
    def occurrences(self) -> float:
        """The number of its occurrences, which few models need."""
        if self._occurrences is None:
            counts = _occurrences(self._segments, [(each,) for each in self.terms])
            self._occurrences = weighted_occurrences(self._reader.weights.tolist(), counts)
        return self._occurrences


class _MergedTerm:
    """A term together with the other forms of its stem, which the index keeps apart."""

    terms: tuple[int | None, ...] = ()

    def __init__(
        self,
        reader: PostingsReader,
        segments: Sequence[Segment],
        own: tuple[int | None, ...],
        forms: Sequence[Forms],
    ):
        self._reader, self._segments, self._own, self._forms = reader, segments, own, forms
        held = zip(segments, forms, strict=True)
        self.size = sum(len(each.forms_of(_terms(found)).documents) for each, found in held)

    def segment(self, place: int) -> WindowPostings:
        """The postings of a segment."""
        return self._reader.merged(self._segments[place], self._forms[place])

    @cached_property
    def documents(self) -> int:
        """The number of documents with the term."""
        return sum(map(self._reader.count_forms, self._segments, self._forms))

    @cached_property
    def occurrences(self) -> float:
        """The weighted number of its occurrences.

        Whole numbers are added first, so that the sum does not depend on the segments.
        """
        held = zip(self._own, map(_terms, self._forms), strict=True)
        others = [[form for form in found if form != own] for own, found in held]
        return weighted_occurrences(
            self._reader.weights.tolist(),
            _occurrences(self._segments, [(each,) for each in self._own]),
            _occurrences(self._segments, others),
            self._reader.other_forms,
        )


def _terms(forms: Forms) -> tuple[int, ...]:
    return tuple(number for number, _ in forms)


def merge_postings(found: Sequence[tuple[WindowPostings, float]]) -> PostingList:
    """The postings of some forms of a term in one list.

    Args:
        found: For each form its postings, over the same fields, and its weight.

    Returns:
        The documents, rising, and the weighted sums of frequencies, shape (n, 1).
    """
    documents, frequencies, fields = zip(*(postings for postings, _ in found), strict=True)
    merged, sums = NUMPY.merge_forms(
        np.concatenate(documents),
        weighted_frequencies(np.concatenate(frequencies), fields[0]),
        np.cumsum([0, *map(len, documents)]),
        np.array([weight for _, weight in found]),
    )
    return PostingList(merged, sums[:, None])


def _occurrences(segments: Sequence[Segment], terms: Sequence[Sequence[int | None]]) -> list[int]:
    """The occurrences in each field of some terms of each segment, in live documents."""
    found = [
        _live_occurrences(segment, number)
        for segment, numbers in zip(segments, terms, strict=True)
        for number in numbers
        if number is not None
    ]
    return [sum(counts) for counts in zip(*found, strict=True)]


def _live_occurrences(segment: Segment, term: int) -> list[int]:
    """The occurrences of a term in documents that are not deleted, in each field."""
    if segment.live is None:
        return segment.occurrences(term)
    documents, frequencies = segment.rows(term)
    is_live = segment.live[documents] != 0
    counts: list[int] = frequencies[is_live].sum(axis=0, dtype=np.int64).tolist()
    return counts
