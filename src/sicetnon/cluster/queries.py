"""Queries that find candidates: a bound of the score, and frequencies by name."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from sicetnon.cluster.mapping import BOUND, length_field, terms_field
from sicetnon.cluster.statistics import MOST_CLAUSES, ClusterPostings
from sicetnon.errors import UsageError
from sicetnon.retrieval.clauses import Clause, Part, Saturated
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
from sicetnon.text.stems import StemWords

DOCUMENT_OFFSET = 16.0
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


def has_script(model: WeightingModel) -> bool:
    """Whether a model has a script; a user's own model has none."""
    return type(model) in _FORMULAS


def term_script(
    model: WeightingModel,
    columns: Sequence[float],
    constants: Sequence[float],
    collection: CollectionStatistics,
) -> dict[str, Any]:
    """The script of a term's score.

    Args:
        model: The weighting model.
        columns: The weight of each field.
        constants: The model's constants for the term.
        collection: Statistics of the collection.
    """
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


def document_script(mu: float, columns: Sequence[float], query_length: float) -> dict[str, Any]:
    """The script that adds |q| · (ln(µ / (µ + length)) + `DOCUMENT_OFFSET`) to a score."""
    source = (
        f"double l={_length(columns)};"
        "return Math.max(0,_score+params.q*(Math.log(params.mu/(params.mu+l))+params.offset))"
    )
    params = {"mu": mu, "q": query_length, "offset": DOCUMENT_OFFSET}
    return {"source": source, "params": params | _weights(columns)}


def normalised_script(field: int, share: float, average: float) -> dict[str, Any]:
    """The script of a field's part in BM25F: its frequency by its normalised length."""
    source = f"_score/(1-params.b+params.b*doc['{length_field(field)}'].value/params.average)"
    return {"source": source, "params": {"b": share, "average": average}}


def saturated_script(k1: float) -> dict[str, Any]:
    """The script of a term's score in BM25F, from the sum over its fields."""
    return {"source": "_score/(params.k1+_score)", "params": {"k1": k1}}


def _length(columns: Sequence[float]) -> str:
    """The weighted length of a document; its weights are parameters, since scripts are compiled."""
    return "+".join(
        f"params.w{place}*doc['{length_field(place)}'].value"
        for place, weight in enumerate(columns)
        if weight
    )


def _weights(columns: Sequence[float]) -> dict[str, float]:
    return {f"w{place}": weight for place, weight in enumerate(columns) if weight}


def _parameters(model: WeightingModel) -> dict[str, float]:
    found = asdict(model)  # type: ignore[call-overload]
    if isinstance(model, TFIDF):
        return {"b": model.slope}
    if isinstance(model, PL2):
        return {"k": model.c}
    return {name: found[name] for name in ("k1", "b", "mu") if name in found}


Query = dict[str, Any]
_RELATIVE_ERROR = 4e-7
"""Of a sum in single precision, for each clause."""

_ABSOLUTE_ERROR = 1e-5


@dataclass
class Bound:
    """A query whose scores are no lower than the model's.

    Attributes:
        leaves: The forms and fields whose frequencies are wanted, by their name in the query.
        query: The query; None where a model has no script.
        bare: The query without the part that gives frequencies alone; None where it has no such
            part.
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
        """The query with the same scores, for an answer without frequencies."""
        return self.bare or _unnamed(self.query)

    def limit(self, score: float) -> float:
        """The highest score that a document can have that the engine scores no higher than this."""
        score *= self.scale
        rounding = score * _RELATIVE_ERROR * (self.clauses + 10)
        return score - self.offset + rounding + _ABSOLUTE_ERROR * (1 + self.weights)

    def name(self, form: str, place: int) -> str:
        """The name of the query of a form in a field."""
        return self.leaves.setdefault((form, place), str(len(self.leaves)))

    def leaf(self, form: str, place: int, weight: float = 1.0) -> Query:
        """A query whose score is the weighted frequency of a form in a field."""
        self.clauses += 1
        term = {"term": {terms_field(place): {"value": form, "_name": self.name(form, place)}}}
        # a weight on the named query itself would change what is read by its name
        return term if weight == 1.0 else {"bool": {"should": [term], "boost": weight}}


class Statistics(Protocol):
    """An index that gives statistics of terms over weighted fields."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """As `postings_of`."""


def bound_of(
    index: Statistics,
    scores: Sequence[Scoring],
    parts: Sequence[Part],
    query: Mapping[str, float],
) -> Bound:
    """The query that finds the candidates.

    Args:
        index: Gives the statistics.
        scores: The parts of the score.
        parts: The same parts for the query, with statistics and constants.
        query: Terms with their weights.
    """
    bound = Bound()
    found: list[Query | None] = []
    for scoring, part in zip(scores, parts, strict=True):
        readers = readers_of(index, scoring)
        if isinstance(scoring, FieldScore):
            found.append(_field_score(bound, scoring, readers[0], part, query, len(scores) == 1))
        elif isinstance(scoring, Coverage):
            found.append(_coverage(bound, scoring, readers, part, query))
        elif isinstance(scoring, BM25F):
            found.append(_bm25f(bound, scoring, readers, part, query))
        bound.weights += abs(scoring.weight) * sum(map(abs, query.values()))
    wanted = [each for each in found if each]
    if all(each is not None for each in found) and wanted:
        bound.query = {"bool": {"should": wanted}}
    return bound


def readers_of(index: Statistics, scoring: Scoring) -> list[ClusterPostings]:
    """The readers of the statistics of a part of a score.

    Raises:
        UsageError: The part is of a kind that no cluster can compute.
    """
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


def frequencies_query(leaves: Mapping[tuple[str, int], str]) -> Query:
    """The query that finds all documents with one of some forms, with frequencies by name."""
    found = [
        {"term": {terms_field(place): {"value": form, "_name": name}}}
        for (form, place), name in leaves.items()
    ]
    return {"bool": {"should": found}}


def _present(
    reader: ClusterPostings, query: Mapping[str, float], part: Part
) -> list[tuple[str, float, Clause | Saturated]]:
    """The terms that occur, with their weights and their clauses in the part of a score."""
    terms = [term for term in query if reader.statistics(term).documents]
    return [(term, query[term], clause) for term, clause in zip(terms, part.terms, strict=True)]


def _leaves(bound: Bound, reader: ClusterPostings, term: str) -> Query:
    """A query whose score is the weighted frequency of a term."""
    found = [
        bound.leaf(form, place, weight * form_weight)
        for form, form_weight in reader.forms(term)
        for place, weight in enumerate(reader.columns)
        if weight
    ]
    return found[0] if len(found) == 1 else {"bool": {"should": found}}


def _field_score(
    bound: Bound,
    scoring: FieldScore,
    reader: ClusterPostings,
    part: Part,
    query: Mapping[str, float],
    is_alone: bool,
) -> Query | None:
    model, is_scripted = scoring.model, has_script(scoring.model)
    found: list[Query] = []
    for term, weight, clause in _present(reader, query, part):
        inner = _leaves(bound, reader, term)
        if is_scripted and isinstance(clause, Clause):
            script = term_script(model, reader.columns, clause.constants, reader.collection)
            found.append(_scripted(inner, script, weight))
    if not is_scripted:
        return None
    boost = max(scoring.weight, 0.0)
    total: Query = {"bool": {"should": found, "boost": boost}} if found else {}
    length = sum(weight for _, weight, _ in _present(reader, query, part))
    # where several parts are added up, a document may lack this one, and the offset with it
    if (
        found
        and isinstance(model, DirichletLM)
        and model.variant == "full"
        and is_alone
        and length > 0
    ):
        script = document_script(model.mu, reader.columns, length)
        total = _scripted({"bool": {"should": found}}, script, boost)
        bound.offset = DOCUMENT_OFFSET * length * boost
    return total


def _coverage(
    bound: Bound,
    scoring: Coverage,
    readers: Sequence[ClusterPostings],
    part: Part,
    query: Mapping[str, float],
) -> Query:
    covered, anywhere = readers
    found: list[Query] = []
    # a term that occurs in other fields alone has a clause, too, which finds nothing
    for term, _, clause in _present(anywhere, query, part):
        if isinstance(clause, Clause):
            boost = max(clause.constants[0], 0.0)
            inner = _leaves(bound, covered, term)
            found.append({"constant_score": {"filter": inner, "boost": boost}})
    return {"bool": {"should": found, "boost": max(scoring.weight, 0.0)}} if found else {}


def _bm25f(
    bound: Bound,
    scoring: BM25F,
    readers: Sequence[ClusterPostings],
    part: Part,
    query: Mapping[str, float],
) -> Query:
    anywhere, *by_field = readers
    found: list[Query] = []
    for term, _, saturated in _present(anywhere, query, part):
        if not isinstance(saturated, Saturated):
            continue
        fields = []
        for reader, clause in zip(by_field, saturated.clauses, strict=True):
            place = next(place for place, weight in enumerate(reader.columns) if weight)
            script = normalised_script(
                place,
                scoring.b.get(reader.names[place], 0.75),
                reader.collection.average_length or 1.0,
            )
            fields.append(_scripted(_leaves(bound, reader, term), script, clause.constants[0]))
        inner = {"bool": {"should": fields}}
        found.append(_scripted(inner, saturated_script(scoring.k1), saturated.weight))
    return {"bool": {"should": found, "boost": max(scoring.weight, 0.0)}} if found else {}


def _scripted(query: Query, script: dict[str, Any], weight: float) -> Query:
    return {"script_score": {"query": query, "script": script, "boost": max(weight, 0.0)}}


def _unnamed(query: Any) -> Any:
    """A query without the names of its parts."""
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
