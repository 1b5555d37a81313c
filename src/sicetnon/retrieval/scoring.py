"""What a document's score is made of: models over fields, summed with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.index import Index
from sicetnon.index.segment import Segment
from sicetnon.retrieval import kernels
from sicetnon.retrieval.weighting import (
    BM25,
    CollectionStatistics,
    TermStatistics,
    WeightingModel,
    inverse_document_frequency,
)

_ALL_LIVE = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True)
class FieldScore:
    """A model over some fields, read as one text.

    A term's frequency is the weighted sum of its frequencies in the fields, and so is a document's
    length: with weights of 1 this is the score of the concatenated fields.

    Attributes:
        model: The weighting model.
        fields: Field names with their weights; all fields with weight 1 when left empty.
        weight: The part that this score has in a sum of several.
    """

    model: WeightingModel
    fields: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0

    def bind(self, index: Index) -> BoundFieldScore:
        """Fix what depends on the index alone."""
        return BoundFieldScore(self, index)


@dataclass(frozen=True)
class BM25F:
    """BM25 over fields whose frequencies are normalised and weighted before they saturate.

    Zaragoza, Craswell, Taylor, Saria and Robertson, TREC 2004; Robertson and Zaragoza, "The
    Probabilistic Relevance Framework", 2009, equations 3.19 to 3.21.

    Attributes:
        fields: Field names with their weights.
        k1: How slowly repeated terms saturate.
        b: Field names with how far their lengths are normalised, from 0 to 1 (0.75 unless named).
        weight: The part that this score has in a sum of several.
    """

    fields: Mapping[str, float]
    k1: float = 1.2
    b: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0

    def bind(self, index: Index) -> BoundBM25F:
        """Fix what depends on the index alone."""
        return BoundBM25F(self, index)


Score = FieldScore | BM25F


def field_weights(index: Index, fields: Mapping[str, float]) -> NDArray[np.float64]:
    """The weight of each field of an index, shape (fields,).

    Raises:
        BrokenIndexError: The index lacks one of the fields.
    """
    unknown = [name for name in fields if name not in index.fields]
    if unknown:
        raise BrokenIndexError(
            f"{index.folder}: has no field {', '.join(unknown)}; its fields are "
            f"{', '.join(index.fields)}"
        )
    if not fields:
        return np.ones(len(index.fields))
    return np.array([float(fields.get(name, 0.0)) for name in index.fields])


class _Bound:
    """A score bound to an index: the statistics of collection and terms over its fields."""

    def __init__(self, index: Index, weights: NDArray[np.float64]):
        self.index = index
        self.field_weights: tuple[float, ...] = tuple(weights.tolist())
        self.collection = CollectionStatistics(
            index.document_count, float(weights @ index.field_totals)
        )
        self._terms: dict[str, TermStatistics] = {}

    def term(self, term: str) -> TermStatistics:
        """How a term is spread over the fields; no document where it occurs nowhere."""
        known = self._terms.get(term)
        if known is None:
            counts = [self._count(segment, term) for segment in self.index.segments]
            known = TermStatistics(sum(c[0] for c in counts), sum(c[1] for c in counts))
            self._terms[term] = known
        return known

    def _count(self, segment: Segment, term: str) -> tuple[int, float]:
        number = segment.terms.number(term)
        if number is None:
            return 0, 0.0
        begin, end = segment.posting_offsets[number : number + 2].tolist()
        if segment.live is None and all(self.field_weights):
            return end - begin, float(np.dot(self.field_weights, segment.totals[number]))
        live = _ALL_LIVE if segment.live is None else segment.live
        return kernels.count_postings(
            segment.documents[begin:end], segment.frequencies[begin:end], self.field_weights, live
        )


def _postings(segment: Segment, term: str) -> tuple[NDArray[np.int32], NDArray[np.uint16]] | None:
    number = segment.terms.number(term)
    if number is None:
        return None
    begin, end = segment.posting_offsets[number : number + 2].tolist()
    return segment.documents[begin:end], segment.frequencies[begin:end]


class BoundFieldScore(_Bound):
    """A `FieldScore` on an index."""

    def __init__(self, score: FieldScore, index: Index):
        weights = field_weights(index, score.fields)
        super().__init__(index, weights)
        self.model, self.weight = score.model, score.weight
        self._lengths = [segment.lengths @ weights for segment in index.segments]
        self._norms = [self.model.norms(lengths, self.collection) for lengths in self._lengths]

    def add(self, number: int, query: Mapping[str, float], scores: NDArray[np.float64]) -> None:
        """Score the documents of one segment.

        Args:
            number: The segment's place in the index.
            query: Terms with their weights.
            scores: `UNSEEN` throughout, shape (documents of the segment,); added to.
        """
        segment, norms = self.index.segments[number], self._norms[number]
        for term, weight in query.items():
            postings = _postings(segment, term)
            statistics = self.term(term)
            if postings is not None and statistics.documents:
                constants = self.model.constants(statistics, self.collection)
                self.model.accumulate(
                    *postings, self.field_weights, norms, scores, weight, *constants
                )
        mu = self.model.document_weight()
        if mu is not None:
            total = sum(weight for term, weight in query.items() if self.term(term).documents)
            kernels.add_document_weights(scores, self._lengths[number], float(total), mu)


class BoundBM25F(_Bound):
    """A `BM25F` on an index."""

    def __init__(self, score: BM25F, index: Index):
        super().__init__(index, field_weights(index, score.fields))
        self.weight, self._k1 = score.weight, score.k1
        averages = index.field_totals / max(index.document_count, 1)
        b = np.array([float(score.b.get(name, 0.75)) for name in index.fields])
        self._slopes = b / np.where(averages > 0, averages, 1.0)
        self._intercepts = 1 - b

    def add(self, number: int, query: Mapping[str, float], scores: NDArray[np.float64]) -> None:
        """As `BoundFieldScore.add`."""
        segment = self.index.segments[number]
        for term, weight in query.items():
            postings = _postings(segment, term)
            statistics = self.term(term)
            if postings is not None and statistics.documents:
                idf = inverse_document_frequency(BM25().variant, statistics, self.collection)
                kernels.accumulate_fields(
                    *postings, self.field_weights, segment.lengths, self._slopes,
                    self._intercepts, scores, weight, idf, self._k1,
                )  # fmt: skip
