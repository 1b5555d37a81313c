"""The clauses that queries have asked for, kept from query to query, also as columns.

Between two long queries the processor's caches lose all objects of Python. A query therefore reads
one row of an array for each of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sicetnon.retrieval.clauses import Clause, ClauseColumns

_MOST = 10_000
_NONE = -1
_FIRST_ROOM = 64


class _Chosen(Sequence[Clause]):
    """Some of many clauses, none of which is touched until it is asked for."""

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
            return _Chosen(self._clauses, self._places[place])
        return self._clauses[int(self._places[place])]


class KnownClauses:
    """The clauses of one weighting model, for one thread at a time.

    Args:
        make: Makes the clause of a term and its weight; None where no document has the term.
        segments: Number of segments of the index.
        most: Number of clauses that are kept. Those are kept whose postings have numbers of terms
            alone, which take no memory, and whose formula takes two constants.
    """

    def __init__(
        self, make: Callable[[str, float], Clause | None], segments: int, most: int = _MOST
    ):
        self._make, self._most = make, most
        # all of them are, or none is
        self._are_kept = True
        self._rows: dict[str, int] = {}
        self._clauses: list[Clause] = []
        self._factors = np.empty((_FIRST_ROOM, 3))
        # postings, and the number of the term in each segment
        self._numbers = np.empty((_FIRST_ROOM, 1 + segments), np.int64)

    def of(self, query: Mapping[str, float]) -> tuple[Sequence[Clause], ClauseColumns | None]:
        """The clauses of the terms that documents have, and their columns where all are kept."""
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
        return _Chosen(self._clauses, places), columns

    def _made(self, query: Mapping[str, float]) -> list[Clause]:
        made = [self._make(term, weight) for term, weight in query.items()]
        return [each for each in made if each is not None]

    def _keep(self, term: str, weight: float) -> int | None:
        """Keep the clause of a term; its row, -1 if there is none, None if none can be kept."""
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
