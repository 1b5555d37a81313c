"""Pseudo-relevance feedback: expand a query by terms of the documents that it finds first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_number, check_real
from sicetnon.errors import UsageError
from sicetnon.retrieval.postings import TermSource


class Feedback(Protocol):
    """A way to expand a query."""

    @property
    def documents(self) -> int:
        """Number of documents that are taken as relevant."""

    @property
    def needs_statistics(self) -> bool:
        """Whether it reads statistics of the documents' terms."""

    def expand(
        self,
        query: Mapping[str, float],
        documents: Sequence[Mapping[str, float]],
        scores: NDArray[np.float64],
        statistics: TermSource,
    ) -> dict[str, float]:
        """The expanded query: terms with their weights.

        Args:
            query: The terms of the query with their weights.
            documents: The terms of the first documents, with their frequencies.
            scores: The scores of these documents, shape (documents,).
            statistics: Gives the statistics of terms and collection.
        """


@dataclass(frozen=True)
class RM3:
    """Relevance model 1, mixed with the query (Abdul-Jaleel et al., TREC 2004).

    The relevance model is Lavrenko and Croft's (SIGIR 2001, equation 9). Documents are weighted by
    their share of the scores, as in Anserini; terms of a single letter are left out.

    Anserini also leaves out terms that more than a tenth of all documents have: `RM3(most=0.1)`
    does so. Two differences remain: Anserini takes only terms of 2 to 20 ASCII letters and digits,
    and of each document only its `terms` most frequent ones.

    Attributes:
        documents: Number of documents that are taken as relevant.
        terms: Number of terms that are taken from them.
        original: The weight of the original query, from 0 to 1.
        most: The greatest share of all documents that may have a term, above 0; others are left out
            before the lengths of documents are taken. With 1, the default, none is.
    """

    documents: int = 10
    terms: int = 20
    original: float = 0.7
    most: float = 1.0

    @property
    def needs_statistics(self) -> bool:
        """Whether it reads statistics of the documents' terms."""
        return self.most < 1

    def __post_init__(self) -> None:
        check_number(self.documents, "documents", 1)
        check_number(self.terms, "terms", 1)
        check_real(self.original, "original")
        if not 0 <= self.original <= 1:
            raise UsageError(f"found original = {self.original!r}; expected a number from 0 to 1")
        check_real(self.most, "most")
        if not 0 < self.most <= 1:
            raise UsageError(f"found most = {self.most!r}; expected a number above 0, to 1")

    def expand(
        self,
        query: Mapping[str, float],
        documents: Sequence[Mapping[str, float]],
        scores: NDArray[np.float64],
        statistics: TermSource,
    ) -> dict[str, float]:
        """The query with the terms of its first documents."""
        shares = _shares(scores)
        if self.needs_statistics:
            documents = self._without_common(documents, statistics)
        model: dict[str, float] = defaultdict(float)
        for document, share in zip(documents, shares.tolist(), strict=True):
            length = sum(document.values()) or 1.0
            for term, count in document.items():
                model[term] += share * count / length
        best = _top({t: w for t, w in model.items() if len(t) > 1}, self.terms)
        total, query_total = sum(best.values()) or 1.0, sum(query.values())
        expanded = {t: self.original * w / query_total for t, w in query.items()}
        for term, weight in best.items():
            expanded[term] = expanded.get(term, 0.0) + (1 - self.original) * weight / total
        return expanded

    def _without_common(
        self, documents: Sequence[Mapping[str, float]], statistics: TermSource
    ) -> list[dict[str, float]]:
        limit = self.most * statistics.collection.documents
        terms = {term for document in documents for term in document if len(term) > 1}
        rare = {term for term in terms if statistics.read(term).documents <= limit}
        return [{t: n for t, n in each.items() if t in rare} for each in documents]


@dataclass(frozen=True)
class Bo1:
    """Bose–Einstein 1, divergence from randomness (Amati, PhD thesis, Glasgow 2003, ch. 6).

    Attributes:
        documents: Number of documents that are taken as relevant.
        terms: Number of terms that are taken from them.
    """

    documents: int = 3
    terms: int = 10
    needs_statistics: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.documents, "documents", 1)
        check_number(self.terms, "terms", 1)

    def expand(
        self,
        query: Mapping[str, float],
        documents: Sequence[Mapping[str, float]],
        scores: NDArray[np.float64],
        statistics: TermSource,
    ) -> dict[str, float]:
        """The query with the terms of its first documents."""
        counts: dict[str, float] = defaultdict(float)
        for document in documents:
            for term, count in document.items():
                counts[term] += count
        weights = {}
        for term, count in counts.items():
            mean = statistics.read(term).occurrences / max(statistics.collection.documents, 1)
            if mean > 0:
                weights[term] = count * math.log2((1 + mean) / mean) + math.log2(1 + mean)
        best = _top(weights, self.terms)
        highest, most = max(best.values(), default=1.0), max(query.values())
        expanded = {term: weight / most for term, weight in query.items()}
        for term, weight in best.items():
            expanded[term] = expanded.get(term, 0.0) + weight / highest
        return expanded


def _shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    lowest = min(float(scores.min(initial=0.0)), 0.0)
    shifted = scores - lowest
    total = float(shifted.sum())
    return shifted / total if total > 0 else np.full(len(scores), 1 / max(len(scores), 1))


def _top(weights: Mapping[str, float], count: int) -> dict[str, float]:
    """The heaviest terms; of equal ones the first in the alphabet."""
    order = sorted(weights, key=lambda term: (-weights[term], term))
    return {term: weights[term] for term in order[:count]}
