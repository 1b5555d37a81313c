"""A query's score as data: its parts, and the clauses that each of them adds up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.retrieval.bounds import KnownBounds
from sicetnon.retrieval.formulas import Accumulate, Formula
from sicetnon.retrieval.lengths import DocumentValues
from sicetnon.retrieval.postings import TermPostings

Reals: TypeAlias = NDArray[np.float64]


class Values(Protocol):
    """A number for each document of an index."""

    def __getitem__(self, place: int) -> Reals:
        """The numbers of a segment's documents, shape (documents,)."""


@dataclass(frozen=True)
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

    @cached_property
    def numbers(self) -> Reals:
        """The weight and the constants, shape (1 + constants,)."""
        return np.array((self.weight, *self.constants))


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
    """

    terms: tuple[Clause | Saturated, ...]
    weight: float
    document_score: DocumentScore | None = None
    bounds: KnownBounds | None = None

    @property
    def clauses(self) -> Iterator[Clause]:
        """All clauses, also those inside of others."""
        for term in self.terms:
            if isinstance(term, Clause):
                yield term
            else:
                yield from term.clauses
