"""Queries that find candidates by an upper bound of the score, with frequencies by name.

There are two upper bounds. Weighting models in Painless, the engine's language, score every
document with a term of the question. They get a term's weighted frequency as `_score`, and the
lengths of the fields as doc values. The engine computes in single precision and takes no score
below 0, so that a script gives an upper bound: never below the model's score but for rounding. Our
own code computes the scores themselves.

The second upper bound skips documents. The field `bound` has the words of all text fields of a
document, as stems if an index distinguishes the forms of a stem. Its similarity falls with a
document's length and rises with a frequency, so that the engine knows the highest score of a block
of postings and leaves out blocks that cannot win. The engine's lengths are rounded down, which
makes scores higher, never lower. A similarity is fixed when an index is made, but the parameters of
a model are not: they travel with each term in its boost, as a number of 30 bits. Every parameter is
rounded to the side on which the score is higher.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from sicetnon.cluster.collection_statistics import MOST_CLAUSES, ClusterPostings
from sicetnon.cluster.mapping import BOUND, length_field, terms_field
from sicetnon.errors import UsageError
from sicetnon.retrieval.query_plan import Clause, Part, Saturated
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.statistics import CollectionStatistics
from sicetnon.retrieval.weighting import (
    BM25,
    DLH,
    DPH,
    PL2,
    TFIDF,
    DirichletLM,
    JelinekMercer,
    WeightingModel,
)
from sicetnon.text.analysis import StemWords

Query = dict[str, Any]
_RELATIVE_ERROR = 4e-7
"""Of a sum in single precision, for each clause."""

_ABSOLUTE_ERROR = 1e-5

_DOCUMENT_OFFSET = 16.0
"""Added to ln(µ / (µ + length)), so that no score is below 0: lengths up to e^16 · µ."""

_LOG2 = "0.6931471805599453"
_FORMULAS: dict[type[WeightingModel], str] = {
    BM25: "params.a*t/(t+params.k1*(1-params.b+params.b*l/params.average))+params.c",
    DirichletLM: "Math.log(1+params.a*t)+Math.log(params.mu/(params.mu+l))",
    JelinekMercer: "Math.log(1+params.a*t/l)",
    DPH: "{double f=t/l;if(f>=1){return 0;}double g=t*Math.log(params.a*f)+0.5*Math.log("
    f"2*Math.PI*t*(1-f));return Math.max(0,(1-f)*(1-f)/(t+1)*g/{_LOG2})}}",
    DLH: "{double f=Math.min(t/l,1-1e-9);double g=t*Math.log(params.a*f)+(l-t)*Math.log(1-f)+"
    f"0.5*Math.log(2*Math.PI*t*(1-f));return Math.max(0,g/{_LOG2}/(t+0.5))}}",
    PL2: f"{{double n=t*Math.log(1+params.k*params.average/l)/{_LOG2};double g=n*Math.log("
    f"n/params.a)/{_LOG2}+(params.a-n)/{_LOG2}+0.5*Math.log(2*Math.PI*n)/{_LOG2};"
    "return Math.max(0,g/(n+1))}",
    TFIDF: "params.a*(t>1?1+Math.log(1+Math.log(t)):t)/(1-params.b+params.b*l/params.average)",
}
_FULL_DIRICHLET = "Math.log(1+params.a*t)"


class Statistics(Protocol):
    """An index that gives statistics of terms over weighted fields."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """The statistics of terms over weighted fields."""


@dataclass
class UpperBound:
    """A query whose scores are no lower than the model's.

    Attributes:
        leaves: The name in the query of each form in each field whose frequencies it gives.
        query: The query; None if a model has no script.
        bare: The query without the part that gives frequencies alone, if it has such a part.
        offset: The least amount by which its scores are too high.
        clauses: Number of its clauses.
        weights: The sum of the weights of its terms.
        scale: A model's scores are its scores by this factor.
    """

    leaves: dict[tuple[str, int], str] = field(default_factory=dict)
    query: Query | None = None
    bare: Query | None = None
    offset: float = 0.0
    clauses: int = 0
    weights: float = 0.0
    scale: float = 1.0

    @property
    def is_complete(self) -> bool:
        """Whether the engine takes the query: it has a clause, and not too many."""
        return self.query is not None and self.clauses <= MOST_CLAUSES

    @property
    def without_frequencies(self) -> Query | None:
        """The query with the same scores, for a response without frequencies."""
        return self.bare or _unnamed(self.query)

    def limit(self, score: float) -> float:
        """The highest score that a document can have that the engine scores no higher than this."""
        score *= self.scale
        rounding = score * _RELATIVE_ERROR * (self.clauses + 10)
        return score - self.offset + rounding + _ABSOLUTE_ERROR * (1 + self.weights)

    def name(self, form: str, number: int) -> str:
        """The name of the query of a form in a field."""
        return self.leaves.setdefault((form, number), str(len(self.leaves)))

    def leaf(self, form: str, number: int, weight: float = 1.0) -> Query:
        """A query whose score is the weighted frequency of a form in a field."""
        self.clauses += 1
        term = {"term": {terms_field(number): {"value": form, "_name": self.name(form, number)}}}
        # a weight on the named query itself would change what is read by its name
        return term if weight == 1.0 else {"bool": {"should": [term], "boost": weight}}

    def leaves_of(self, postings: ClusterPostings, term: str) -> Query:
        """A query whose score is the weighted frequency of a term."""
        leaves = [
            self.leaf(form, number, weight * form_weight)
            for form, form_weight in postings.forms(term)
            for number, weight in enumerate(postings.columns)
            if weight
        ]
        return leaves[0] if len(leaves) == 1 else {"bool": {"should": leaves}}


def frequencies_query(leaves: Mapping[tuple[str, int], str]) -> Query:
    """The query that matches all documents with one of some forms, with frequencies by name."""
    terms = [
        {"term": {terms_field(number): {"value": form, "_name": name}}}
        for (form, number), name in leaves.items()
    ]
    return {"bool": {"should": terms}}


def postings_for(index: Statistics, scoring: Scoring) -> list[ClusterPostings]:
    """The statistics for a score of a sum; an error if a cluster cannot compute the score."""
    if isinstance(scoring, FieldScore):
        return [index.postings(scoring.fields, scoring.other_forms)]
    if isinstance(scoring, Coverage):
        forms = float(scoring.other_forms)
        covered = index.postings(dict.fromkeys(scoring.fields, 1.0), forms)
        return [covered, index.postings({}, forms)]
    if isinstance(scoring, BM25F):
        weights = zip(index.fields, index.postings(scoring.fields, 1.0).columns, strict=True)
        names = [name for name, weight in weights if weight]
        anywhere = index.postings(dict.fromkeys(names, 1.0), 1.0)
        return [anywhere, *(index.postings({name: 1.0}, 1.0) for name in names)]
    raise UsageError(
        f"found the score {type(scoring).__name__}; a cluster takes FieldScore, BM25F and Coverage"
    )


def script_bound(
    index: Statistics,
    scores: Sequence[Scoring],
    parts: Sequence[Part],
    query: Mapping[str, float],
) -> UpperBound:
    """The query that scores every document with a term by scripts; `parts` are bound scores."""
    bound = UpperBound()
    queries: list[Query | None] = []
    for scoring, part in zip(scores, parts, strict=True):
        postings = postings_for(index, scoring)
        if isinstance(scoring, FieldScore):
            is_alone = len(scores) == 1
            queries.append(_field_score(bound, scoring, postings[0], part, query, is_alone))
        elif isinstance(scoring, Coverage):
            queries.append(_coverage(bound, scoring, postings, part, query))
        elif isinstance(scoring, BM25F):
            queries.append(_bm25f(bound, scoring, postings, part, query))
        bound.weights += abs(scoring.weight) * sum(map(abs, query.values()))
    matching = [each for each in queries if each]
    if all(each is not None for each in queries) and matching:
        bound.query = {"bool": {"should": matching}}
    return bound


def _present(
    postings: ClusterPostings, query: Mapping[str, float], part: Part
) -> list[tuple[str, float, Clause | Saturated]]:
    """The terms that occur, with their weights and their clauses in the score."""
    terms = [term for term in query if postings.statistics(term).documents]
    return [(term, query[term], clause) for term, clause in zip(terms, part.terms, strict=True)]


def _field_score(
    bound: UpperBound,
    scoring: FieldScore,
    postings: ClusterPostings,
    part: Part,
    query: Mapping[str, float],
    is_alone: bool,
) -> Query | None:
    model, has_script = scoring.model, type(scoring.model) in _FORMULAS
    terms: list[Query] = []
    present = _present(postings, query, part)
    for term, weight, clause in present:
        inner = bound.leaves_of(postings, term)
        if has_script and isinstance(clause, Clause):
            constants, columns = clause.constants, postings.columns
            script = _term_script(model, columns, constants, postings.collection)
            terms.append(_scripted(inner, script, weight))
    if not has_script:
        return None
    boost = max(scoring.weight, 0.0)
    length = sum(weight for _, weight, _ in present)
    # where several scores are added up, a document may lack this one, and the offset with it
    is_offset = bool(terms) and is_alone and length > 0
    if is_offset and isinstance(model, DirichletLM) and model.variant == "full":
        script = _document_script(model.mu, postings.columns, length)
        bound.offset = _DOCUMENT_OFFSET * length * boost
        return _scripted({"bool": {"should": terms}}, script, boost)
    return {"bool": {"should": terms, "boost": boost}} if terms else {}


def _coverage(
    bound: UpperBound,
    scoring: Coverage,
    postings: Sequence[ClusterPostings],
    part: Part,
    query: Mapping[str, float],
) -> Query:
    covered, anywhere = postings
    terms: list[Query] = []
    # a term that occurs in other fields alone has a clause, too, which matches nothing
    for term, _, clause in _present(anywhere, query, part):
        if isinstance(clause, Clause):
            boost = max(clause.constants[0], 0.0)
            inner = bound.leaves_of(covered, term)
            terms.append({"constant_score": {"filter": inner, "boost": boost}})
    return {"bool": {"should": terms, "boost": max(scoring.weight, 0.0)}} if terms else {}


def _bm25f(
    bound: UpperBound,
    scoring: BM25F,
    postings: Sequence[ClusterPostings],
    part: Part,
    query: Mapping[str, float],
) -> Query:
    anywhere, *by_field = postings
    terms: list[Query] = []
    for term, _, saturated in _present(anywhere, query, part):
        if not isinstance(saturated, Saturated):
            continue
        fields = []
        for each, clause in zip(by_field, saturated.clauses, strict=True):
            number = next(number for number, weight in enumerate(each.columns) if weight)
            share = scoring.b.get(each.names[number], 0.75)
            script = _normalised_script(number, share, each.collection.average_length or 1.0)
            fields.append(_scripted(bound.leaves_of(each, term), script, clause.constants[0]))
        script = {"source": "_score/(params.k1+_score)", "params": {"k1": scoring.k1}}
        terms.append(_scripted({"bool": {"should": fields}}, script, saturated.weight))
    return {"bool": {"should": terms, "boost": max(scoring.weight, 0.0)}} if terms else {}


def _scripted(query: Query, script: dict[str, Any], weight: float) -> Query:
    return {"script_score": {"query": query, "script": script, "boost": max(weight, 0.0)}}


def _term_script(
    model: WeightingModel,
    columns: Sequence[float],
    constants: Sequence[float],
    collection: CollectionStatistics,
) -> dict[str, Any]:
    """The script of a term's score, for fields with weights and the model's constants."""
    formula = _FORMULAS[type(model)]
    if isinstance(model, DirichletLM) and model.variant == "full":
        formula = _FULL_DIRICHLET
    head = f"double t=_score;double l={_length(columns)};"
    if formula.startswith("{"):
        source = head + formula[1:-1]
    else:
        source = f"{head}return Math.max(0,{formula})"
    params = {"a": constants[0], "c": constants[1], "average": collection.average_length or 1.0}
    return {"source": source, "params": params | _parameters(model) | _weights(columns)}


def _document_script(mu: float, columns: Sequence[float], query_length: float) -> dict[str, Any]:
    """The script that adds |q| · (ln(µ / (µ + length)) + `_DOCUMENT_OFFSET`) to a score."""
    source = (
        f"double l={_length(columns)};"
        "return Math.max(0,_score+params.q*(Math.log(params.mu/(params.mu+l))+params.offset))"
    )
    params = {"mu": mu, "q": query_length, "offset": _DOCUMENT_OFFSET}
    return {"source": source, "params": params | _weights(columns)}


def _normalised_script(number: int, share: float, average: float) -> dict[str, Any]:
    """The script of a field's frequency by its normalised length, in BM25F."""
    source = f"_score/(1-params.b+params.b*doc['{length_field(number)}'].value/params.average)"
    return {"source": source, "params": {"b": share, "average": average}}


def _length(columns: Sequence[float]) -> str:
    """The weighted length of a document; its weights are parameters, since scripts are compiled."""
    return "+".join(
        f"params.w{number}*doc['{length_field(number)}'].value"
        for number, weight in enumerate(columns)
        if weight
    )


def _weights(columns: Sequence[float]) -> dict[str, float]:
    return {f"w{number}": weight for number, weight in enumerate(columns) if weight}


def _parameters(model: WeightingModel) -> dict[str, float]:
    values = asdict(model)  # type: ignore[call-overload]
    if isinstance(model, TFIDF):
        return {"b": model.slope}
    if isinstance(model, PL2):
        return {"k": model.c}
    return {name: values[name] for name in ("k1", "b", "mu") if name in values}


def _unnamed(query: Any) -> Any:
    """A query without the names of its clauses."""
    if isinstance(query, dict):
        return {key: _unnamed(value) for key, value in query.items() if key != "_name"}
    return [_unnamed(each) for each in query] if isinstance(query, list) else query


_FIRST_CODE = 0x800000
"""The bits of the smallest number in single precision that has all of its digits."""

_WEIGHTS, _STEPS = 255, 1023
_MARGIN = 1e-6
"""The two exponential functions may differ in the last digits."""


@dataclass(frozen=True)
class _Scale:
    """Numbers of ten bits, evenly spaced by their logarithm; code 0 is the number 0."""

    least: float
    most: float

    @property
    def step(self) -> float:
        return math.log(self.most / self.least) / (_STEPS - 1)

    def below(self, value: float) -> int:
        """The code of the next lower number."""
        if value < self.least:
            return 0
        step = math.floor(math.log(value / self.least) / self.step - _MARGIN)
        return min(max(step + 1, 0), _STEPS)

    def above(self, value: float) -> int:
        """The code of the next higher number; an OverflowError if there is none."""
        if value > self.most * (1 - _MARGIN):
            raise OverflowError
        step = math.ceil(math.log(max(value, self.least) / self.least) / self.step + _MARGIN)
        return max(step, 0) + 1

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
    """A term in a skipping bound: the factor of its score, the constant of a language model, and
    what is added where it occurs.
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
) -> UpperBound | None:
    """The query that skips documents, or None if the score has no such bound.

    `stem` gives the stems of words, for an index that distinguishes the forms of a stem.
    """
    (scoring, *others), part = scores, parts[0]
    if others or not isinstance(scoring, FieldScore) or scoring.weight <= 0:
        return None
    (postings,) = postings_for(index, scoring)
    if set(postings.columns) != {1.0} or min(query.values(), default=0.0) <= 0:
        return None
    present = [term for term in query if postings.statistics(term).documents]
    terms = _terms(scoring.model, part, stem(present) if stem else present)
    bound = UpperBound(weights=scoring.weight * sum(query.values()))
    for form in (form for term in present for form, _ in postings.forms(term)):
        for number in range(len(postings.columns)):
            bound.name(form, number)
    bound.clauses = len(bound.leaves) + 2 * len(terms)
    largest = max((term.weight for term in terms.values()), default=0.0)
    if not largest or bound.clauses > MOST_CLAUSES:
        return None
    average = postings.collection.average_length or 1.0
    try:
        clauses = _skipping_clauses(scoring.model, terms, largest, average)
    except OverflowError:
        return None
    named = {"bool": {"should": [frequencies_query(bound.leaves)], "boost": 0}}
    bound.bare = {"bool": {"should": clauses}}
    bound.query = {"bool": {"must": [bound.bare], "should": [named]}}
    return replace(bound, scale=scoring.weight * largest)


def _terms(model: WeightingModel, part: Part, stems: Sequence[str]) -> dict[str, _Term]:
    """The terms of the question by their stems; none if the model has no bound."""
    terms: dict[str, _Term] = {}
    for stem, clause in zip(stems, part.terms, strict=True):
        term = _term(model, clause) if isinstance(clause, Clause) else None
        if term is None:
            return {}
        terms[stem] = terms[stem].joined(term) if stem in terms else term
    return terms


def _term(model: WeightingModel, clause: Clause) -> _Term | None:
    """A term of a model with a bound, or None."""
    first, second = (*clause.constants, 0.0, 0.0)[:2]
    if type(model) is BM25:
        return _Term(clause.weight * max(first, 0.0), bonus=clause.weight * max(second, 0.0))
    if type(model) in (DirichletLM, JelinekMercer):
        return _Term(clause.weight, first)
    return None


def _skipping_clauses(
    model: WeightingModel, terms: Mapping[str, _Term], largest: float, average: float
) -> list[Query]:
    """The queries whose scores are added up."""
    clauses: list[Query] = []
    for term, each in terms.items():
        weight = min(math.ceil(each.weight / largest * _WEIGHTS), _WEIGHTS)
        code = _code(model, weight, each, average)
        # the number in single precision with these bits
        (boost,) = struct.unpack("<f", struct.pack("<i", code + _FIRST_CODE))
        clauses.append({"term": {BOUND: {"value": term, "boost": boost}}})
        if each.bonus:
            filtered: dict[str, Any] = {"filter": {"term": {BOUND: term}}}
            clauses.append({"constant_score": filtered | {"boost": each.bonus / largest}})
    return clauses


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
