"""A query's score as data: its parts, and the clauses that each of them adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.retrieval.bounds import KnownBounds
from sicetnon.retrieval.formulas import Accumulate, Formula
from sicetnon.retrieval.lengths import DocumentValues
from sicetnon.retrieval.term_postings import TermPostings

Reals: TypeAlias = NDArray[np.float64]


class Values(Protocol):
    """A number for each document of an index."""

    def __getitem__(self, place: int) -> Reals:
        """The numbers of a segment's documents, shape (documents,)."""


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
    bounds: KnownBounds | None = None
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
