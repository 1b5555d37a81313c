"""The parts of a document's score: weighting models over fields, summed with weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval import formulas, kernels
from sicetnon.retrieval.formulas import Accumulate
from sicetnon.retrieval.postings import PostingsReader, TermPostings, field_weights
from sicetnon.retrieval.weighting import WeightingModel, inverse_document_frequency

Reals: TypeAlias = NDArray[np.float64]
AddScores: TypeAlias = Callable[[Mapping[str, float], list[Reals]], None]
"""Adds the scores of all documents for a query: terms with their weights.

Its second argument holds for each segment of the index an array, shape (documents,), in which
`formulas.UNSEEN` marks documents without a score; it is changed. Only one thread at a time may
call the function, which owns working memory.
"""


class Scoring(Protocol):
    """A part of a document's score."""

    @property
    def weight(self) -> float:
        """The weight of the part in a sum of several."""

    def bind(self, index: IndexReader) -> AddScores:
        """The function that scores the documents of an index."""


def _accumulate(
    accumulate: Accumulate,
    index: IndexReader,
    postings: TermPostings,
    norms: Sequence[Reals],
    scores: Sequence[Reals],
    query_weight: float,
    constants: Sequence[float],
) -> None:
    """Add a term's scores to those of its documents, segment by segment.

    Raises:
        BrokenIndexError: The postings are damaged.
    """
    for segment, (documents, frequencies), norm, into in zip(
        index.segments, postings.segments, norms, scores, strict=True
    ):
        if not accumulate(
            documents, frequencies, postings.columns, norm, into, query_weight, *constants
        ):
            raise segment.wrong_document()


@dataclass(frozen=True)
class FieldScore:
    """A weighting model over some fields, read as one text.

    A term's frequency is the weighted sum of its frequencies in the fields, and so is a document's
    length: with weights of 1 this is the score of the concatenated fields.

    Attributes:
        model: The weighting model.
        fields: Field names with their weights; all fields with weight 1 when left empty.
        weight: The weight of this score in a sum of several.
        other_forms: The weight of other forms of a term's stem, in an index that keeps forms apart.
    """

    model: WeightingModel
    fields: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0
    other_forms: float = 1.0

    def bind(self, index: IndexReader) -> AddScores:
        """See `Scoring.bind`."""
        model, reader = self.model, PostingsReader(index, self.fields, self.other_forms)
        lengths = [segment.lengths @ reader.weights for segment in index.segments]
        norms = [model.norms(each, reader.collection) for each in lengths]

        def add(query: Mapping[str, float], scores: list[Reals]) -> None:
            query_length = 0.0
            for term, weight in query.items():
                postings = reader.read(term)
                if not postings.statistics.documents:
                    continue
                query_length += weight
                constants = model.constants(postings.statistics, reader.collection)
                _accumulate(model.accumulate, index, postings, norms, scores, weight, constants)
            mu = model.document_weight()
            if mu is not None:
                for into, each in zip(scores, lengths, strict=True):
                    kernels.add_document_weights(into, each, query_length, mu)

        return add


@dataclass(frozen=True)
class BM25F:
    """BM25 over fields whose frequencies are normalised and weighted before they saturate.

    Zaragoza, Craswell, Taylor, Saria and Robertson, TREC 2004; Robertson and Zaragoza, "The
    Probabilistic Relevance Framework", 2009, equations 3.19 to 3.21. The inverse document frequency
    is Lucene's (see `BM25`), over documents with the term in any of the fields.

    Attributes:
        fields: Field names with their weights; all fields with weight 1 when left empty.
        k1: Saturation of repeated terms, from 0; the higher, the slower.
        b: Field names with the normalisation of their lengths, from 0 to 1 (0.75 unless named).
        weight: The weight of this score in a sum of several.
    """

    fields: Mapping[str, float]
    k1: float = 1.2
    b: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0

    def bind(self, index: IndexReader) -> AddScores:
        """See `Scoring.bind`."""
        field_weights(index, self.b)  # refuses names of fields that the index lacks
        weights = zip(index.fields, field_weights(index, self.fields).tolist(), strict=True)
        # a field without weight finds no document, and does not make a term more common
        weight_of = {name: weight for name, weight in weights if weight}
        anywhere = PostingsReader(index, dict.fromkeys(weight_of, 1.0))
        readers = {name: PostingsReader(index, {name: 1.0}) for name in weight_of}
        norms = {name: self._norms(index, name) for name in weight_of}

        def add(query: Mapping[str, float], scores: list[Reals]) -> None:
            for term, query_weight in query.items():
                statistics = anywhere.read(term).statistics
                if not statistics.documents:
                    continue
                idf = inverse_document_frequency("lucene", statistics, anywhere.collection)
                sums = [np.full(len(into), formulas.UNSEEN) for into in scores]
                for name, weight in weight_of.items():
                    postings, loop = readers[name].read(term), formulas.accumulate_normalised
                    _accumulate(loop, index, postings, norms[name], sums, 1.0, (weight, 0.0))
                for into, total in zip(scores, sums, strict=True):
                    kernels.add_saturated(into, total, query_weight * idf, self.k1)

        return add

    def _norms(self, index: IndexReader, name: str) -> list[Reals]:
        """The normalised lengths of a field in each segment."""
        place, share = index.fields.index(name), self.b.get(name, 0.75)
        average = index.field_totals[place] / max(index.document_count, 1) or 1.0
        return [1 - share + share * each.lengths[:, place] / average for each in index.segments]


@dataclass(frozen=True)
class Coverage:
    """The share of the query that some fields cover: Σ ln(1 + N/n) over the terms that occur
    there, divided by that over all terms.

    It measures whether a title or conclusion is about the question; repetition does not count.

    Attributes:
        fields: Field names.
        weight: The weight of this score in a sum of several.
        other_forms: Whether another form of a term's stem covers it as well.
    """

    fields: tuple[str, ...]
    weight: float = 1.0
    other_forms: bool = True

    def bind(self, index: IndexReader) -> AddScores:
        """See `Scoring.bind`."""
        forms = float(self.other_forms)
        anywhere = PostingsReader(index, {}, forms)
        reader = PostingsReader(index, dict.fromkeys(self.fields, 1.0), forms)
        norms = [np.ones(len(segment)) for segment in index.segments]

        def add(query: Mapping[str, float], scores: list[Reals]) -> None:
            weights: dict[str, float] = {}
            for term, query_weight in query.items():
                frequency = anywhere.read(term).statistics.documents
                if frequency:
                    odds = anywhere.collection.documents / frequency
                    weights[term] = query_weight * math.log(1 + odds)
            total = sum(weights.values()) or 1.0
            for term, weight in weights.items():
                postings, loop = reader.read(term), formulas.accumulate_presence
                _accumulate(loop, index, postings, norms, scores, 1.0, (weight / total, 0.0))

        return add
