"""Bounds that skip documents: a similarity of the engine that no score of a model exceeds.

The field `bound` has the words of all text fields of a document, as stems where an index keeps
forms apart. Its similarity falls with a document's length and rises with a frequency, so that the
engine knows the highest score of a block of postings and leaves out blocks that cannot win. The
engine's lengths are rounded down, which makes scores higher, never lower.

A similarity is fixed when an index is made, but the parameters of a model are not: they travel with
each term in its boost, as a number of 30 bits. Every parameter is rounded to the side on which the
score is higher.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sicetnon.cluster.layout import BOUND
from sicetnon.cluster.queries import Bound, Query, Statistics, frequencies_query, readers_of
from sicetnon.cluster.terms import MOST_CLAUSES
from sicetnon.retrieval.clauses import Clause, Part
from sicetnon.retrieval.scoring import FieldScore, Scoring
from sicetnon.retrieval.weighting import BM25, DirichletLM, JelinekMercer, WeightingModel
from sicetnon.text.analysis import StemWords

_FIRST_CODE = 0x800000
"""The bits of the smallest number in single precision that has all of its digits."""

_WEIGHTS, _STEPS = 255, 1023
_MARGIN = 1e-6
"""The two exponential functions may differ in the last digits."""


@dataclass(frozen=True)
class _Scale:
    """Numbers of ten bits, evenly spaced by their logarithm; code 0 is the number 0.

    Attributes:
        least: The number of code 1.
        most: The number of the last code.
    """

    least: float
    most: float

    @property
    def step(self) -> float:
        return math.log(self.most / self.least) / (_STEPS - 1)

    def below(self, value: float) -> int:
        """The code of the next lower number."""
        if value < self.least:
            return 0
        place = math.floor(math.log(value / self.least) / self.step - _MARGIN)
        return min(max(place + 1, 0), _STEPS)

    def above(self, value: float) -> int:
        """The code of the next higher number.

        Raises:
            OverflowError: There is none.
        """
        if value > self.most * (1 - _MARGIN):
            raise OverflowError
        return (
            max(math.ceil(math.log(max(value, self.least) / self.least) / self.step + _MARGIN), 0)
            + 1
        )

    def script(self, code: str) -> str:
        """The number of a code, in the engine's language."""
        return f"({code}==0?0.0:{self.least!r}*Math.exp(({code}-1)*{self.step!r}))"


_SATURATION, _SLOPE = _Scale(1e-3, 1e3), _Scale(1e-7, 1e1)
_RATIO, _MU = _Scale(1e-6, 1e12), _Scale(1.0, 1e6)
_BM25, _DIRICHLET, _MIXTURE = range(3)

SIMILARITY = {
    "type": "scripted",
    "script": {
        "source": (
            f"int code=Float.floatToIntBits((float)query.boost)-{_FIRST_CODE};"
            f"double w=((code>>20)&255)/{_WEIGHTS}.0;int p=(code>>10)&1023;int q=code&1023;"
            "int model=code>>28;double t=doc.freq;double l=Math.max(doc.length,1);"
            f"if(model=={_BM25}){{return w*t/(t+{_SATURATION.script('p')}"
            f"+{_SLOPE.script('q')}*l);}}"
            f"double a={_RATIO.script('p')};"
            f"if(model=={_MIXTURE}){{return w*Math.log(1+a*t/l);}}"
            f"double m={_MU.script('q')};"
            "return w*Math.max(0,Math.log(1+a*t)+Math.log(m/(m+l)))"
        )
    },
}
"""The similarity of the field `bound`."""


@dataclass(frozen=True)
class _Term:
    """A term of the question as the engine scores it.

    Attributes:
        weight: The factor of its score.
        ratio: The constant of a language model.
        bonus: Added where the term occurs.
    """

    weight: float
    ratio: float = 0.0
    bonus: float = 0.0

    def joined(self, other: _Term) -> _Term:
        """The bound of the sum of two terms with one stem."""
        return _Term(
            self.weight + other.weight, max(self.ratio, other.ratio), self.bonus + other.bonus
        )


def skipping_bound(
    index: Statistics,
    scores: Sequence[Scoring],
    parts: Sequence[Part],
    query: Mapping[str, float],
    stem: StemWords | None,
) -> Bound | None:
    """The query that skips documents; None where the score has no such bound.

    Args:
        index: Gives the statistics.
        scores: The parts of the score.
        parts: The same parts for the query, with statistics and constants.
        query: Terms with their weights.
        stem: Gives the stems of words, for an index that keeps forms apart.
    """
    (scoring, *others), part = scores, parts[0]
    if others or not isinstance(scoring, FieldScore) or scoring.weight <= 0:
        return None
    (reader,) = readers_of(index, scoring)
    if set(reader.columns) != {1.0} or min(query.values(), default=0.0) <= 0:
        return None
    present = [term for term in query if reader.statistics(term).documents]
    terms = _terms(scoring.model, part, stem(present) if stem else present)
    bound = Bound(weights=scoring.weight * sum(query.values()))
    for form in (form for term in present for form, _ in reader.forms(term)):
        for place in range(len(reader.columns)):
            bound.name(form, place)
    bound.clauses = len(bound.leaves) + 2 * len(terms)
    largest = max((term.weight for term in terms.values()), default=0.0)
    if not largest or bound.clauses > MOST_CLAUSES:
        return None
    try:
        found = _clauses(scoring.model, terms, largest, reader.collection.average_length or 1.0)
    except OverflowError:
        return None
    named = {"bool": {"should": [frequencies_query(bound.leaves)], "boost": 0}}
    bound.bare = {"bool": {"should": found}}
    bound.query = {"bool": {"must": [bound.bare], "should": [named]}}
    return replace(bound, scale=scoring.weight * largest)


def _terms(model: WeightingModel, part: Part, stems: Sequence[str]) -> dict[str, _Term]:
    """The terms of the question by their stems; none where the model has no bound."""
    found: dict[str, _Term] = {}
    for stem, clause in zip(stems, part.terms, strict=True):
        made = _term(model, clause) if isinstance(clause, Clause) else None
        if made is None:
            return {}
        found[stem] = found[stem].joined(made) if stem in found else made
    return found


def _term(model: WeightingModel, clause: Clause) -> _Term | None:
    """A term of a model with a bound, or None."""
    first, second = (*clause.constants, 0.0, 0.0)[:2]
    if type(model) is BM25:
        return _Term(clause.weight * max(first, 0.0), bonus=clause.weight * max(second, 0.0))
    if type(model) in (DirichletLM, JelinekMercer):
        return _Term(clause.weight, first)
    return None


def _clauses(
    model: WeightingModel, terms: Mapping[str, _Term], largest: float, average: float
) -> list[Query]:
    """The queries whose scores are added up."""
    found: list[Query] = []
    for term, each in terms.items():
        code = _code(
            model, min(math.ceil(each.weight / largest * _WEIGHTS), _WEIGHTS), each, average
        )
        found.append({"term": {BOUND: {"value": term, "boost": _as_boost(code)}}})
        if each.bonus:
            filtered: dict[str, Any] = {"filter": {"term": {BOUND: term}}}
            found.append({"constant_score": filtered | {"boost": each.bonus / largest}})
    return found


def _code(model: WeightingModel, weight: int, term: _Term, average: float) -> int:
    """The parameters of a term in 30 bits."""
    if isinstance(model, BM25):
        kind, first = _BM25, _SATURATION.below(model.k1 * (1 - model.b))
        second = _SLOPE.below(model.k1 * model.b / average)
    elif isinstance(model, DirichletLM):
        kind, first, second = _DIRICHLET, _RATIO.above(term.ratio), _MU.above(model.mu)
    else:
        kind, first, second = _MIXTURE, _RATIO.above(term.ratio), 0
    return kind << 28 | weight << 20 | first << 10 | second


def _as_boost(code: int) -> float:
    """The number in single precision with these bits."""
    found: float = struct.unpack("<f", struct.pack("<i", code + _FIRST_CODE))[0]
    return found
