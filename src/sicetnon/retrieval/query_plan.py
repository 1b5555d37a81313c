"""A query's score as data: its parts, the clauses that each of them adds up, and document norms.

The clauses of queries are cached, also as columns. Between two long queries the processor's caches
lose all objects of Python. A query therefore reads one row of an array for each of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.index.segment import Segment
from sicetnon.retrieval.formulas import Accumulate, Formula
from sicetnon.retrieval.postings import TermPostings
from sicetnon.retrieval.pruning import BoundsCache

OfLengths: TypeAlias = Callable[[Reals], Reals]
"""A function of the lengths of documents."""

_MOST_LENGTH = 1 << 20
"""Values by length are made up to this length."""


_MOST_CLAUSES = 10_000
_NONE = -1
_FIRST_ROOM = 64


class Values(Protocol):
    """A number for each document of an index."""

    def __getitem__(self, place: int) -> Reals:
        """The numbers of a segment's documents, shape (documents,)."""


class Lengths:
    """The lengths of an index's documents over weighted fields.

    Args:
        segments: The segments of the index.
        weights: The weight of each field, shape (fields,).

    Attributes:
        weight: The weight of all fields but those of weight 0, or None if weights differ.
    """

    def __init__(self, segments: Sequence[Segment], weights: Reals):
        self._segments, self._weights = segments, weights
        used = np.flatnonzero(weights)
        alike = len(set(weights[used].tolist())) == 1
        self._fields: tuple[int, ...] = tuple(used.tolist())
        self.weight = float(weights[used[0]]) if alike else None

    @property
    def column(self) -> tuple[bool, int] | None:
        """Whether the frequencies are those over all fields, and their column; None if neither."""
        if self.weight is None or self.most is None:
            return None
        if len(self._fields) == len(self._weights):
            return True, 0
        return (False, self._fields[0]) if len(self._fields) == 1 else None

    def counts(self, place: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The number of terms in the fields with a weight, for each document of a segment.

        Returns:
            The numbers, and the same in 16 bits: 65,535 for all that are higher.
        """
        return self._segments[place].lengths_of(self._fields)

    @cached_property
    def most(self) -> int | None:
        """Maximum length, or None if too long for a lookup table."""
        if self.weight is None:
            return None
        most = max(
            (int(self.counts(n)[0].max(initial=0)) for n in range(len(self._segments))), default=0
        )
        return most if most <= _MOST_LENGTH else None

    def by_length(self, function: OfLengths) -> Reals | None:
        """The values of a function for all counts from 0, or None if there are too many."""
        if self.weight is None or self.most is None:
            return None
        return function(np.arange(self.most + 1, dtype=np.float64) * self.weight)

    def by_document(self, function: OfLengths, place: int) -> Reals:
        """The values of a function for each document of a segment."""
        values = self.by_length(function)
        if values is not None:
            return values[self.counts(place)[0]]
        return function(self._segments[place].lengths @ self._weights)


class DocumentValues:
    """The values of a function of documents' lengths, such as the norms of a weighting model.

    Attributes:
        lengths: The lengths.
        by_length: The value for each count of terms, or None if lengths are no such counts.
    """

    def __init__(self, lengths: Lengths, function: OfLengths):
        self.lengths, self._function = lengths, function
        self.by_length = lengths.by_length(function)
        self._of: dict[int, Reals] = {}

    def __getitem__(self, place: int) -> Reals:
        """The values of a segment's documents, shape (documents,); computed on first use."""
        if place not in self._of:
            self._of[place] = self.lengths.by_document(self._function, place)
        return self._of[place]


@dataclass(frozen=True, slots=True)
class Clause:
    """A term's score: weight · formula(tf, norm, a, b) for each document that holds the term.

    Attributes:
        postings: The documents, and the frequencies of the term.
        norms: The norms of the documents.
        weight: The weight of the term.
        constants: What else the formula takes.
        formula: The formula, or the loop of a user's own model.
    """

    postings: TermPostings
    norms: Values
    weight: float
    constants: tuple[float, ...]
    formula: Formula | OwnLoop


@dataclass(frozen=True)
class ClauseColumns:
    """The clauses of one weighting model and one reader of postings, as columns.

    Attributes:
        factors: The weight and the two constants of each clause, shape (clauses, 3).
        terms: The number of each clause's term in each segment, -1 for none, int64, shape
            (segments, clauses).
        postings: The number of postings of all clauses.
    """

    factors: Reals
    terms: NDArray[np.int64]
    postings: int

    @property
    def weights(self) -> list[float]:
        """The weight of each clause."""
        found: list[float] = self.factors[:, 0].tolist()
        return found


@dataclass(frozen=True)
class OwnLoop:
    """The loop of a user's own weighting model, which takes all postings of a term at once."""

    accumulate: Accumulate


@dataclass(frozen=True)
class Saturated:
    """The score weight · s / (k1 + s), where s is the sum of some clauses: a term in BM25F."""

    clauses: tuple[Clause, ...]
    weight: float
    k1: float


@dataclass(frozen=True)
class DocumentScore:
    """A score of each document with another score, such as the smoothing of query likelihood.

    Attributes:
        scores: The scores of the documents.
        weight: Their weight.
    """

    scores: DocumentValues
    weight: float


@dataclass(frozen=True)
class Part:
    """A part of a document's score.

    Attributes:
        terms: The scores that are added up, in this order.
        weight: The weight of the part in a sum of several.
        document_score: Added to every document that has one of the scores of `terms`.
        bounds: What the scores of `terms` do not exceed, where they are of one weighting model.
        columns: The scores of `terms` as columns, where they can be.
    """

    terms: Sequence[Clause | Saturated]
    weight: float
    document_score: DocumentScore | None = None
    bounds: BoundsCache | None = None
    columns: ClauseColumns | None = None

    @property
    def postings(self) -> int:
        """The number of postings of all clauses."""
        if self.columns is not None:
            return self.columns.postings
        return sum(clause.postings.size for clause in self.clauses)

    @property
    def clauses(self) -> Iterator[Clause]:
        """All clauses, also those inside of others."""
        for term in self.terms:
            if isinstance(term, Clause):
                yield term
            else:
                yield from term.clauses


class _ClauseView(Sequence[Clause]):
    """Some of many clauses, none of which is touched before its use."""

    def __init__(self, clauses: list[Clause], places: NDArray[np.int64]):
        self._clauses, self._places = clauses, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Clause: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Clause]: ...

    def __getitem__(self, place: int | slice) -> Clause | Sequence[Clause]:
        if isinstance(place, slice):
            return _ClauseView(self._clauses, self._places[place])
        return self._clauses[int(self._places[place])]


class QueryPlanCache:
    """Cache of the clauses of one weighting model, for one thread at a time.

    Args:
        make: Makes the clause of a term and its weight, or None if no document has the term.
        segments: Number of segments of the index.
        most: Number of cached clauses. Those are cached whose postings have numbers of terms
            alone, which take no memory, and whose formula takes two constants.
    """

    def __init__(
        self, make: Callable[[str, float], Clause | None], segments: int, most: int = _MOST_CLAUSES
    ):
        self._make, self._most = make, most
        # all of them are, or none is
        self._are_kept = True
        self._rows: dict[str, int] = {}
        self._clauses: list[Clause] = []
        self._factors = np.empty((_FIRST_ROOM, 3))
        # postings, and the number of the term in each segment
        self._numbers = np.empty((_FIRST_ROOM, 1 + segments), np.int64)

    def plan(self, query: Mapping[str, float]) -> tuple[Sequence[Clause], ClauseColumns | None]:
        """The clauses of the terms that documents have, and their columns if all are cached."""
        # terms that no document has have no clause, and a term may have one for each weight
        if max(len(self._rows), len(self._clauses)) + len(query) > self._most:
            self._rows, self._clauses = {}, []
        if not self._are_kept:
            return self._made(query), None
        rows_of, weights = self._rows, list(query.values())
        try:
            rows = [rows_of[term] for term in query]
        except KeyError:
            for term, weight in query.items():
                if term not in rows_of and self._keep(term, weight) is None:
                    return self._made(query), None
            rows = [rows_of[term] for term in query]
        if _NONE in rows:
            weights = [weight for weight, row in zip(weights, rows, strict=True) if row != _NONE]
            rows = [row for row in rows if row != _NONE]
        places = np.array(rows, np.int64)
        factors = self._factors.take(places, axis=0)
        if factors[:, 0].tolist() != weights:
            terms = [term for term in query if self._rows[term] != _NONE]
            for place in np.flatnonzero(factors[:, 0] != weights).tolist():
                # a row of its own: the clauses of a query before are still in use
                row = self._keep(terms[place], weights[place])
                assert row is not None
                places[place] = row
            factors = self._factors.take(places, axis=0)
        numbers = self._numbers.take(places, axis=0).T
        columns = ClauseColumns(factors, numbers[1:], sum(numbers[0].tolist()))
        return _ClauseView(self._clauses, places), columns

    def _made(self, query: Mapping[str, float]) -> list[Clause]:
        made = [self._make(term, weight) for term, weight in query.items()]
        return [each for each in made if each is not None]

    def _keep(self, term: str, weight: float) -> int | None:
        """Cache the clause of a term; its row, -1 if there is none, None if it cannot be cached."""
        made = self._make(term, weight)
        if made is None:
            self._rows[term] = _NONE
            return _NONE
        self._are_kept = bool(made.postings.terms) and len(made.constants) == 2
        if not self._are_kept:
            return None
        row = len(self._clauses)
        if row == len(self._numbers):
            self._factors = np.concatenate([self._factors, np.empty_like(self._factors)])
            self._numbers = np.concatenate([self._numbers, np.empty_like(self._numbers)])
        terms = [_NONE if number is None else number for number in made.postings.terms]
        self._factors[row], self._numbers[row] = (
            (weight, *made.constants),
            (made.postings.size, *terms),
        )
        self._clauses.append(made)
        # last: an interrupt before leaves the term unknown
        self._rows[term] = row
        return row
