"""Clauses that are kept from query to query change no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.query_plan import Clause, Part, QueryPlanCache
from sicetnon.retrieval.reference import Best
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import search_tabulated
from sicetnon.retrieval.weighting import BM25, DirichletLM
from support.small_indexes import build

WORDS = ("vote", "tax", "school", "teacher", "ban", "gun", "zebra")
queries = st.lists(
    st.dictionaries(st.sampled_from((*WORDS, "unknown")), st.sampled_from([1.0, 2.0, 0.1])),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    """Three segments; the last word is in one of them alone."""
    made = [{"premise": " ".join(WORDS[: 2 + number % 5]), "title": "tax"} for number in range(60)]
    made[50]["premise"] += " zebra"
    path = build(tmp_path_factory.mktemp("known"), made, "plain", (20, 40), [3, 44])
    with IndexReader.open(path) as opened:
        yield opened


def ranking(index: IndexReader, part: Part) -> list[tuple[int, float]]:
    best = Best.of(100)
    if part.terms:
        search_tabulated(part, index.segments, best)
    numbers, scores = best.ordered()
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


@pytest.mark.parametrize("score", [FieldScore(BM25()), FieldScore(DirichletLM(50, "full"))])
@given(asked=queries)
@settings(max_examples=60, deadline=None)
def test_queries_do_not_change_one_another(
    index: IndexReader, score: FieldScore, asked: Sequence[Mapping[str, float]]
) -> None:
    part_of = score.bind(index)
    parts = [part_of(query) for query in asked]
    # parts that were made before others are still what they were
    for query, part in zip(asked, parts, strict=True):
        alone = score.bind(index)(query)
        assert list(part.terms) == list(part.terms[:])
        assert [each.weight for each in part.clauses] == [each.weight for each in alone.clauses]
        assert part.postings == alone.postings == sum(c.postings.size for c in alone.clauses)
        assert ranking(index, part) == ranking(index, alone)


def test_few_clauses_are_kept(index: IndexReader) -> None:
    part_of = FieldScore(BM25()).bind(index)
    made: list[str] = []

    def make(term: str, weight: float) -> Clause | None:
        made.append(term)
        return next(part_of({term: weight}).clauses, None)

    known = QueryPlanCache(make, len(index.segments), most=8)
    for weight in range(1, 7):
        clauses, columns = known.plan({"vote": weight, "tax": 1.0, "unknown": 1.0})
        assert [each.weight for each in clauses] == [weight, 1.0]
        assert columns is not None
        assert columns.weights == [weight, 1.0]
        terms = [-1 if n is None else n for clause in clauses for n in clause.postings.terms]
        assert columns.terms.T.ravel().tolist() == terms
        assert len(known._clauses) <= 8
    # a term with another weight is made anew, and all are where too many were kept
    assert made == ["vote", "tax", "unknown", *["vote"] * 4, "vote", "tax", "unknown"]


def test_many_clauses_are_kept(index: IndexReader) -> None:
    part_of = FieldScore(BM25()).bind(index)
    # a term has a row for each of its weights
    parts = [part_of({"vote": float(weight), "ban": 1.0}) for weight in range(1, 200)]
    for weight, part in enumerate(parts, start=1):
        alone = FieldScore(BM25()).bind(index)({"vote": float(weight), "ban": 1.0})
        assert part.columns is not None
        assert part.columns.weights == [weight, 1.0]
        assert ranking(index, part) == ranking(index, alone)


def test_an_interrupt_leaves_a_term_unknown(index: IndexReader) -> None:
    part_of = FieldScore(BM25()).bind(index)
    fails = True

    def make(term: str, weight: float) -> Clause | None:
        if fails and term == "tax":
            raise KeyboardInterrupt
        return next(part_of({term: weight}).clauses, None)

    known = QueryPlanCache(make, len(index.segments))
    with pytest.raises(KeyboardInterrupt):
        known.plan({"vote": 1.0, "tax": 1.0})
    fails = False
    clauses, columns = known.plan({"tax": 1.0})
    assert columns is not None
    assert columns.terms.T.tolist() == [list(clauses[0].postings.terms)]
