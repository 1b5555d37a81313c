"""The parts of a document's score: weighting models over fields, summed with weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from sicetnon.argument_checks import check_finite
from sicetnon.arrays import Reals
from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.retrieval import formulas
from sicetnon.retrieval.postings import field_weights, postings_of
from sicetnon.retrieval.pruning import BoundsCache
from sicetnon.retrieval.query_plan import (
    Clause,
    DocumentScore,
    DocumentValues,
    Lengths,
    Part,
    QueryPlanCache,
    Saturated,
)
from sicetnon.retrieval.weighting import WeightingModel, inverse_document_frequency

PartOf: TypeAlias = Callable[[Mapping[str, float]], Part]
"""The part of the score for a query: terms with their weights.

Only one thread at a time may call the function, which reads postings.
"""


class Scoring(Protocol):
    """A part of a document's score."""

    @property
    def weight(self) -> float:
        """The weight of the part in a sum of several."""

    def bind(self, index: IndexReader) -> PartOf:
        """The function that gives the part of the score for queries to an index."""


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

    def __post_init__(self) -> None:
        """Check the model and the numbers.

        Raises:
            UsageError: One is not legal.
        """
        if not isinstance(self.model, WeightingModel):
            raise UsageError(f"found {self.model!r} as a weighting model; expected BM25(), say")
        check_finite(self.weight, "weight")
        check_finite(self.other_forms, "other_forms", 0.0)

    def bind(self, index: IndexReader) -> PartOf:
        """The function that gives this part of the score for queries to an index."""
        model, reader = self.model, postings_of(index, self.fields, float(self.other_forms))
        lengths = Lengths(index.segments, reader.weights)
        norms = DocumentValues(lengths, lambda some: model.norms(some, reader.collection))
        of_document = model.document_scores
        document_scores = DocumentValues(lengths, of_document) if of_document else None

        bounds = BoundsCache(index.segments)

        def clause(term: str, weight: float) -> Clause | None:
            postings = reader.read(term)
            if not postings.documents:
                return None
            constants = model.constants(postings, reader.collection)
            return Clause(postings, norms, weight, constants, model.formula)

        plans = QueryPlanCache(clause, len(index.segments))

        def part(query: Mapping[str, float]) -> Part:
            clauses, columns = plans.plan(query)
            smoothing = None
            if document_scores:
                weights = columns.weights if columns else [each.weight for each in clauses]
                smoothing = DocumentScore(document_scores, sum(weights))
            return Part(clauses, float(self.weight), smoothing, bounds, columns)

        return part


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

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            UsageError: One is not legal.
        """
        check_finite(self.weight, "weight")
        check_finite(self.k1, "k1", 0.0)
        for name, share in self.b.items():
            check_finite(share, f"b of the field {name}", 0.0)
            if share > 1:
                raise UsageError(f"found b of the field {name} = {share!r}; expected at most 1")

    def bind(self, index: IndexReader) -> PartOf:
        """The function that gives this part of the score for queries to an index."""
        field_weights(index, self.b)  # refuses names of fields that the index lacks
        weights = zip(index.fields, field_weights(index, self.fields).tolist(), strict=True)
        # a field without weight finds no document, and does not make a term more common
        weight_of = {name: weight for name, weight in weights if weight}
        anywhere = postings_of(index, dict.fromkeys(weight_of, 1.0))
        readers = {name: postings_of(index, {name: 1.0}) for name in weight_of}
        norms = {name: self._norms(index, name) for name in weight_of}

        def part(query: Mapping[str, float]) -> Part:
            terms = []
            for term, query_weight in query.items():
                postings = anywhere.read(term)
                if not postings.documents:
                    continue
                idf = inverse_document_frequency("lucene", postings, anywhere.collection)
                clauses = (
                    Clause(
                        readers[name].read(term), norms[name], 1.0, (weight, 0.0),
                        formulas.normalised,
                    )
                    for name, weight in weight_of.items()
                )  # fmt: skip
                terms.append(Saturated(tuple(clauses), query_weight * idf, float(self.k1)))
            return Part(tuple(terms), float(self.weight))

        return part

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

    def __post_init__(self) -> None:
        """Check the fields and the weight.

        Raises:
            UsageError: One is not legal.
        """
        given: object = self.fields
        if isinstance(given, str) or not self.fields:
            raise UsageError(
                f"found {self.fields!r} as the fields that cover a question; expected a list of "
                'names, such as ("conclusion",)'
            )
        check_finite(self.weight, "weight")

    def bind(self, index: IndexReader) -> PartOf:
        """The function that gives this part of the score for queries to an index."""
        forms = float(self.other_forms)
        anywhere = postings_of(index, {}, forms)
        reader = postings_of(index, dict.fromkeys(self.fields, 1.0), forms)
        norms = [np.ones(len(segment)) for segment in index.segments]

        def part(query: Mapping[str, float]) -> Part:
            weights: dict[str, float] = {}
            for term, query_weight in query.items():
                frequency = anywhere.read(term).documents
                if frequency:
                    odds = anywhere.collection.documents / frequency
                    weights[term] = query_weight * math.log(1 + odds)
            total = sum(weights.values()) or 1.0
            clauses = (
                Clause(reader.read(term), norms, 1.0, (weight / total, 0.0), formulas.presence)
                for term, weight in weights.items()
            )
            return Part(tuple(clauses), float(self.weight))

        return part
