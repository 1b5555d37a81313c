"""Queries that find candidates: a bound of the score, and frequencies by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sicetnon.cluster import scripts
from sicetnon.cluster.layout import terms_field
from sicetnon.cluster.terms import MOST_CLAUSES, ClusterPostings
from sicetnon.errors import UsageError
from sicetnon.retrieval.query_plan import Clause, Part, Saturated
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.weighting import DirichletLM

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
    model, is_scripted = scoring.model, scripts.has_script(scoring.model)
    found: list[Query] = []
    for term, weight, clause in _present(reader, query, part):
        inner = _leaves(bound, reader, term)
        if is_scripted and isinstance(clause, Clause):
            script = scripts.term_script(model, reader.columns, clause.constants, reader.collection)
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
        script = scripts.document_script(model.mu, reader.columns, length)
        total = _scripted({"bool": {"should": found}}, script, boost)
        bound.offset = scripts.DOCUMENT_OFFSET * length * boost
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
            script = scripts.normalised_script(
                place,
                scoring.b.get(reader.names[place], 0.75),
                reader.collection.average_length or 1.0,
            )
            fields.append(_scripted(_leaves(bound, reader, term), script, clause.constants[0]))
        inner = {"bool": {"should": fields}}
        found.append(_scripted(inner, scripts.saturated_script(scoring.k1), saturated.weight))
    return {"bool": {"should": found, "boost": max(scoring.weight, 0.0)}} if found else {}


def _scripted(query: Query, script: dict[str, Any], weight: float) -> Query:
    return {"script_score": {"query": query, "script": script, "boost": max(weight, 0.0)}}


def _unnamed(query: Any) -> Any:
    """A query without the names of its parts."""
    if isinstance(query, dict):
        return {key: _unnamed(value) for key, value in query.items() if key != "_name"}
    return [_unnamed(each) for each in query] if isinstance(query, list) else query
