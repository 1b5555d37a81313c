"""What a document's score is made of: models over fields, summed with weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval import formulas, kernels
from sicetnon.retrieval.postings import PostingsReader, field_weights
from sicetnon.retrieval.weighting import BM25, WeightingModel, inverse_document_frequency


class BoundScoring(Protocol):
    """A part of a document's score, bound to an index."""

    @property
    def weight(self) -> float:
        """The part that it has in a sum of several."""

    def add(self, query: Mapping[str, float], scores: list[NDArray[np.float64]]) -> None:
        """Score all documents for weighted terms. Not to be called twice at a time.

        Args:
            query: Terms with their weights.
            scores: For each segment of the index an array, shape (documents,), of
                `formulas.UNSEEN` throughout; added to.
        """


class Scoring(Protocol):
    """A part of a document's score."""

    def bind(self, index: IndexReader) -> BoundScoring:
        """Fix what depends on the index alone."""


@dataclass(frozen=True)
class FieldScore:
    """A weighting model over some fields, read as one text.

    A term's frequency is the weighted sum of its frequencies in the fields, and so is a document's
    length: with weights of 1 this is the score of the concatenated fields.

    Attributes:
        model: The weighting model.
        fields: Field names with their weights; all fields with weight 1 when left empty.
        weight: The part that this score has in a sum of several.
        other_forms: What another form of a term's stem counts, in an index that keeps forms apart.
    """

    model: WeightingModel
    fields: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0
    other_forms: float = 1.0

    def bind(self, index: IndexReader) -> BoundFieldScore:
        """Fix what depends on the index alone."""
        return BoundFieldScore(self, index)


class BoundFieldScore:
    """A `FieldScore` on an index."""

    def __init__(self, score: FieldScore, index: IndexReader):
        self.model, self.weight = score.model, score.weight
        self._reader = PostingsReader(index, score.fields, score.other_forms)
        self._lengths = [segment.lengths @ self._reader.weights for segment in index.segments]
        self._norms = [
            self.model.norms(lengths, self._reader.collection) for lengths in self._lengths
        ]

    def add(self, query: Mapping[str, float], scores: list[NDArray[np.float64]]) -> None:
        """See `BoundScoring.add`."""
        total = 0.0
        for term, weight in query.items():
            postings = self._reader.read(term)
            if not postings.statistics.documents:
                continue
            total += weight
            constants = self.model.constants(postings.statistics, self._reader.collection)
            for (documents, frequencies), norms, into in zip(
                postings.segments, self._norms, scores, strict=True
            ):
                self.model.accumulate(
                    documents, frequencies, postings.columns, norms, into, weight, *constants
                )
        mu = self.model.document_weight()
        if mu is not None:
            for into, lengths in zip(scores, self._lengths, strict=True):
                kernels.add_document_weights(into, lengths, total, mu)


@dataclass(frozen=True)
class BM25F:
    """BM25 over fields whose frequencies are normalised and weighted before they saturate.

    Zaragoza, Craswell, Taylor, Saria and Robertson, TREC 2004; Robertson and Zaragoza, "The
    Probabilistic Relevance Framework", 2009, equations 3.19 to 3.21. The inverse document frequency
    is Lucene's (see `BM25`), over documents with the term in any of the fields.

    Attributes:
        fields: Field names with their weights; all fields with weight 1 when left empty.
        k1: How slowly repeated terms saturate.
        b: Field names with how far their lengths are normalised, from 0 to 1 (0.75 unless named).
        weight: The part that this score has in a sum of several.
    """

    fields: Mapping[str, float]
    k1: float = 1.2
    b: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0

    def bind(self, index: IndexReader) -> BoundBM25F:
        """Fix what depends on the index alone."""
        return BoundBM25F(self, index)


class BoundBM25F:
    """A `BM25F` on an index."""

    def __init__(self, score: BM25F, index: IndexReader):
        self.weight, self._k1 = score.weight, score.k1
        field_weights(index, score.b)  # refuses names of fields that the index lacks
        weights = field_weights(index, score.fields).tolist()
        # a field without weight finds no document, and does not make a term more common
        self._fields = [
            (n, weight) for n, weight in zip(index.fields, weights, strict=True) if weight
        ]
        self._any = PostingsReader(index, {name: 1.0 for name, _ in self._fields})
        self._readers = [PostingsReader(index, {name: 1.0}) for name, _ in self._fields]
        self._norms = [
            [self._norm(index, segment.lengths, name, score.b) for segment in index.segments]
            for name, _ in self._fields
        ]

    def _norm(
        self, index: IndexReader, lengths: NDArray[np.int32], name: str, b: Mapping[str, float]
    ) -> NDArray[np.float64]:
        place = index.fields.index(name)
        average = index.field_totals[place] / max(index.document_count, 1) or 1.0
        share = b.get(name, 0.75)
        return 1 - share + share * lengths[:, place] / average

    def add(self, query: Mapping[str, float], scores: list[NDArray[np.float64]]) -> None:
        """See `BoundScoring.add`."""
        for term, query_weight in query.items():
            statistics = self._any.read(term).statistics
            if not statistics.documents:
                continue
            idf = inverse_document_frequency(BM25().variant, statistics, self._any.collection)
            sums = [np.full(len(into), formulas.UNSEEN) for into in scores]
            for (_, weight), reader, norms in zip(
                self._fields, self._readers, self._norms, strict=True
            ):
                postings = reader.read(term)
                for (documents, frequencies), norm, into in zip(
                    postings.segments, norms, sums, strict=True
                ):
                    formulas.accumulate_normalised(
                        documents, frequencies, postings.columns, norm, into, 1.0, weight, 0.0
                    )
            for into, total in zip(scores, sums, strict=True):
                kernels.add_saturated(into, total, query_weight * idf, self._k1)


@dataclass(frozen=True)
class Coverage:
    """The share of a question that some fields cover: Σ ln(1 + N/n) of its terms found there, over
    that of all its terms.

    It says whether a title or conclusion is about the question, however often it says so.

    Attributes:
        fields: Field names.
        weight: The part that this score has in a sum of several.
        other_forms: Whether another form of a term's stem covers it as well.
    """

    fields: tuple[str, ...]
    weight: float = 1.0
    other_forms: bool = True

    def bind(self, index: IndexReader) -> BoundCoverage:
        """Fix what depends on the index alone."""
        return BoundCoverage(self, index)


class BoundCoverage:
    """A `Coverage` on an index."""

    def __init__(self, score: Coverage, index: IndexReader):
        self.weight = score.weight
        forms = float(score.other_forms)
        self._anywhere = PostingsReader(index, {}, forms)
        self._reader = PostingsReader(index, dict.fromkeys(score.fields, 1.0), forms)
        self._norms = [np.ones(len(segment)) for segment in index.segments]

    def add(self, query: Mapping[str, float], scores: list[NDArray[np.float64]]) -> None:
        """See `BoundScoring.add`."""
        worths: dict[str, float] = {}
        for term, query_weight in query.items():
            having = self._anywhere.read(term).statistics.documents
            if having:
                odds = self._anywhere.collection.documents / having
                worths[term] = query_weight * math.log(1 + odds)
        total = sum(worths.values()) or 1.0
        for term, worth in worths.items():
            postings = self._reader.read(term)
            for (documents, frequencies), norms, into in zip(
                postings.segments, self._norms, scores, strict=True
            ):
                formulas.accumulate_presence(
                    documents, frequencies, postings.columns, norms, into, 1.0, worth / total, 0.0
                )
