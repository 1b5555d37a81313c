"""Candidates as a small index: the code that searches a folder scores them, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.layout import MOST_FREQUENT, length_field
from sicetnon.cluster.terms import ClusterPostings
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import CountedLengths, Segment, counted_lengths
from sicetnon.jit import use_numpy
from sicetnon.retrieval.formulas import WindowPostings
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.postings import NO_POSTINGS, CountedPostings, TermPostings, merge_postings
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import Scoring

_SECONDS = 500e-9
"""Seconds that `plain` takes for a posting."""


@dataclass(frozen=True)
class CandidateTable:
    """Documents that may be among the best, in the order of their numbers.

    Attributes:
        numbers: Their numbers, int64, rising, shape (n,).
        ids: Their ids.
        lengths: Their lengths, int32, shape (n, fields).
        frequencies: The frequency of each form in each field, uint16, shape (n,) each.
    """

    numbers: NDArray[np.int64]
    ids: tuple[str, ...]
    lengths: NDArray[np.int32]
    frequencies: Mapping[tuple[str, int], NDArray[np.uint16]]

    def __len__(self) -> int:
        return len(self.ids)


def table_of(
    hits: Sequence[Mapping[str, Any]], leaves: Mapping[tuple[str, int], str], fields: int
) -> CandidateTable:
    """The candidates in the hits of a search.

    Args:
        hits: The hits; a document may be among them several times, with other frequencies, and
            have frequencies of forms that are not among `leaves`.
        leaves: The name of the query of each form in each field.
        fields: Number of fields.
    """
    rows: dict[int, int] = {}
    first_hits: list[Mapping[str, Any]] = []
    by_name: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in leaves.values()}
    for hit in sorted(hits, key=number_of):
        row = rows.setdefault(number_of(hit), len(rows))
        if row == len(first_hits):
            first_hits.append(hit)
        for name, frequency in hit.get("matched_queries", {}).items():
            if name in by_name:
                places, values = by_name[name]
                places.append(row)
                values.append(int(frequency))
    frequencies = {}
    for key, name in leaves.items():
        column = np.zeros(len(rows), dtype=np.uint16)
        places, values = by_name[name]
        column[places] = values
        frequencies[key] = column
    lengths = [[hit["fields"][length_field(f)][0] for f in range(fields)] for hit in first_hits]
    return CandidateTable(
        np.array(list(rows), dtype=np.int64),
        tuple(hit["fields"]["id"][0] for hit in first_hits),
        np.array(lengths, dtype=np.int32).reshape(-1, fields),
        frequencies,
    )


def number_of(hit: Mapping[str, Any]) -> int:
    """The number of the document of a hit."""
    number: int = hit["fields"]["number"][0]
    return number


@dataclass(frozen=True)
class _CandidateSegment:
    """The part of a segment's attributes that scoring reads."""

    lengths: NDArray[np.int32]
    base: int = 0
    live: None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def lengths_of(self, fields: tuple[int, ...]) -> CountedLengths:
        """See `Segment.lengths_of`."""
        counted = counted_lengths([self.lengths[:, field] for field in fields], len(self))
        if counted is None:
            raise BrokenIndexError("the cluster gave a length that cannot be; verify the index")
        return counted


class _CandidatePostings:
    """Postings of the candidates, with statistics of the whole index."""

    def __init__(self, reader: ClusterPostings, table: CandidateTable):
        self._reader, self._table = reader, table
        self.weights, self.collection = reader.weights, reader.collection

    def read(self, term: str) -> TermPostings:
        """See `Postings.read`."""
        forms = self._reader.forms(term)
        postings = self._postings(forms)
        statistics = self._reader.statistics(term)
        return CountedPostings(*statistics, postings)

    def _postings(self, forms: Sequence[tuple[str, float]]) -> WindowPostings:
        if len(forms) <= 1:
            return self._stored(forms[0][0]) if forms else NO_POSTINGS
        stored = [(self._stored(form), weight) for form, weight in forms]
        return *merge_postings(stored), (1.0,)

    def _stored(self, form: str) -> WindowPostings:
        """The postings of a form, as a segment has them."""
        columns = self._reader.columns
        none = np.zeros(len(self._table), dtype=np.uint16)
        found = [
            self._table.frequencies.get((form, place), none) if weight else none
            for place, weight in enumerate(columns)
        ]
        frequencies = np.stack(found, axis=1)
        documents = np.flatnonzero(frequencies.any(axis=1)).astype(np.int32)
        frequencies = frequencies[documents]
        if len(set(columns)) == 1:
            sums = frequencies.sum(axis=1, dtype=np.int64, keepdims=True)
            return documents, np.minimum(sums, MOST_FREQUENT).astype(np.uint16), columns[:1]
        return documents, frequencies, columns


class CandidateIndex:
    """An index of candidates, with the statistics of the index that they are from.

    Args:
        index: The index on the cluster.
        table: The candidates.
    """

    def __init__(self, index: Any, table: CandidateTable):
        self._index, self._table = index, table
        self.folder, self.fields, self.analysis = index.folder, index.fields, index.analysis
        self.document_count, self.field_totals = index.document_count, index.field_totals
        self.segments = [_CandidateSegment(table.lengths)]
        self.size = len(table)

    def postings(self, fields: Mapping[str, float], other_forms: float) -> _CandidatePostings:
        """See `HasPostings.postings`."""
        return _CandidatePostings(self._index.postings(fields, other_forms), self._table)

    def scored(
        self, scores: Sequence[Scoring], query: Mapping[str, float]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Places of all candidates in the table, best first, with their scores."""
        best = Best.of(max(len(self._table), 1))
        index = cast(IndexReader, self)
        parts = [score.bind(index)(query) for score in scores]
        postings = sum(clause.postings.size for part in parts for clause in part.clauses)
        loops = NUMPY if use_numpy(postings * _SECONDS) else COMPILED
        if len(self._table) and postings:
            segments = cast("list[Segment]", self.segments)
            search_exhaustively(parts, segments, best, loops)
        return best.ordered()
