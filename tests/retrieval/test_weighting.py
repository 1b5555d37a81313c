"""Weighting models through the searcher, against their published formulas in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval import formulas
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.postings import PostingsReader
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.searcher import LocalRetriever
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
from support.plain_models import (
    Formula,
    PlainCollection,
    bm25,
    dirichlet,
    dlh,
    dph,
    jelinek_mercer,
    pl2,
    tf_idf,
)
from support.small_indexes import by_place, opened, places

MODELS: list[tuple[WeightingModel, Formula]] = [
    (BM25(), bm25("lucene", 1.2, 0.75)),
    (BM25(0.9, 0.4, "robertson"), bm25("robertson", 0.9, 0.4)),
    (BM25(3.2, 0.2, "atire"), bm25("atire", 3.2, 0.2)),
    (BM25(1.5, 1.0, "plus", 0.5), bm25("plus", 1.5, 1.0, 0.5)),
    (BM25(0.0, 0.0, "plus"), bm25("plus", 0.0, 0.0, 1.0)),
    (DirichletLM(20, "matched"), dirichlet(20)),
    (DirichletLM(), dirichlet(2000, floor=0.0)),
    (DirichletLM(3.5), dirichlet(3.5, floor=0.0)),
    (JelinekMercer(), jelinek_mercer(0.4)),
    (JelinekMercer(0.9), jelinek_mercer(0.9)),
    (DPH(), dph),
    (DLH(), dlh),
    (PL2(), pl2(1.0)),
    (PL2(7.0), pl2(7.0)),
    (TFIDF(), tf_idf(0.2)),
    (TFIDF(0.75), tf_idf(0.75)),
]
EACH_MODEL = [MODELS[place] for place in (0, 3, 5, 6, 8, 10, 11, 12, 14)]
"""Each formula once: forms change what it is given, whatever its parameters."""
FORM_WEIGHTS = (0.0, 0.1, 1.0)
WORDS = ("ban", "bans", "banned", "tax", "taxes", "school", "vote", "votes", "gun", "rights")
"""Words of which some are forms of each other, and none a stop word of any list."""
ABSENT = "zebra"


Value = TypeVar("Value")


@dataclass(frozen=True)
class Case:
    """A corpus, how it is cut into segments, what is deleted from it, and what is asked."""

    documents: list[dict[str, str]]
    cuts: list[int]
    deleted: list[int]
    query: list[str]
    weights: dict[str, float]
    b: dict[str, float]

    @property
    def counts(self) -> dict[str, float]:
        return {word: float(count) for word, count in Counter(self.query).items()}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    fields = ("conclusion", "premise", "title")[: draw(st.integers(1, 3))]
    texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)

    def by_field(values: st.SearchStrategy[Value]) -> st.SearchStrategy[dict[str, Value]]:
        return st.tuples(*[values] * len(fields)).map(
            lambda row: dict(zip(fields, row, strict=True))
        )

    documents = draw(st.lists(by_field(texts), min_size=1, max_size=12))
    places = st.integers(0, len(documents) - 1)
    deleted = draw(st.lists(places, max_size=len(documents) - 1, unique=True))
    query = draw(st.lists(st.sampled_from((*WORDS, ABSENT)), min_size=1, max_size=8))
    # mostly quarters: their sums are exact, so that equal documents have equal plain scores too
    weight = st.sampled_from([1.0, 0.25, 2.0, 0.3, 0.0])
    weights, b = draw(by_field(weight)), draw(by_field(st.sampled_from([0.0, 0.4, 1.0])))
    return Case(documents, draw(st.lists(places, max_size=2)), deleted, query, weights, b)


SINGLE_WORDS = Case(
    [{"text": "ban"}, {"text": "tax"}, {"text": "ban"}, {"text": "ban ban ban"}, {"text": ""}],
    [2], [], ["ban", "ban", ABSENT, "tax"], {"text": 1.0}, {"text": 0.75},
)  # fmt: skip
EVERYWHERE = Case(
    [{"text": f"ban {word}"} for word in WORDS], [], [3], ["ban"], {"text": 2.0}, {"text": 0.0}
)
EMPTY = Case(
    [{"a": "", "b": ""}] * 2, [1], [], ["ban", "ban"], {"a": 1.0, "b": 0.0}, {"a": 0, "b": 1}
)


def every_case(examples: int) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Run a test on the cases above, and on generated ones."""

    def decorate(test: Callable[[Case], None]) -> Callable[[Case], None]:
        for case in (SINGLE_WORDS, EVERYWHERE, EMPTY):
            test = example(case)(test)
        return settings(max_examples=examples, derandomize=True)(given(cases())(test))

    return decorate


def ranked(
    index: IndexReader, scores: Sequence[Scoring], query: Sequence[str], k: int = 1000
) -> Ranking:
    return LocalRetriever(index, scores, threads=1).retrieve([Topic("1", " ".join(query))], k)[0]


def assert_same(ranking: Ranking, plain: Mapping[int, float], what: object) -> None:
    """The same documents with the same scores in the same order, ties by number."""
    assert sorted(places(ranking)) == sorted(plain), what
    found = by_place(ranking)
    for place, score in found.items():
        assert score == pytest.approx(plain[place], rel=1e-9, abs=1e-10), (what, place)
    order = list(found.items())
    assert order == sorted(order, key=lambda each: (-each[1], each[0])), what
    expected = [plain[place] for place in found]
    for before, after in pairwise(expected):
        assert before >= after - 1e-9 * (1 + abs(after)), what


@every_case(30)
def test_models_equal_their_published_formulas(case: Case) -> None:
    plain = PlainCollection(case.documents, case.deleted, case.weights)
    with opened(case.documents, "plain", case.cuts, case.deleted) as index:
        for model, formula in MODELS:
            ranking = ranked(index, [FieldScore(model, case.weights)], case.query)
            assert_same(ranking, plain.search(case.counts, formula), model)
        full = ranked(index, [FieldScore(DirichletLM(9, "full"), case.weights)], case.query)
        assert_same(full, plain.likelihood(case.counts, 9), "full")


@every_case(25)
def test_models_on_an_index_of_forms(case: Case) -> None:
    with opened(case.documents, "forms", case.cuts, case.deleted) as index:
        for other in FORM_WEIGHTS:
            plain = PlainCollection(case.documents, case.deleted, case.weights, True, other)
            for model, formula in EACH_MODEL:
                score = FieldScore(model, case.weights, other_forms=other)
                ranking = ranked(index, [score], case.query)
                assert_same(ranking, plain.search(case.counts, formula), (model, other))
            score = FieldScore(DirichletLM(9, "full"), case.weights, other_forms=other)
            full = plain.likelihood(case.counts, 9)
            assert_same(ranked(index, [score], case.query), full, ("full", other))


@every_case(20)
def test_other_forms_that_count_fully_are_stems(case: Case) -> None:
    cut = (case.cuts, case.deleted)
    with (
        opened(case.documents, "forms", *cut) as forms,
        opened(case.documents, "porter-stop", *cut) as stems,
    ):
        scores = [FieldScore(model, case.weights) for model, _ in EACH_MODEL]
        for score in (*scores, Coverage(tuple(case.weights)), BM25F(case.weights, b=case.b)):
            ours, theirs = (ranked(index, [score], case.query) for index in (forms, stems))
            assert_same(ours, by_place(theirs), score)


@every_case(30)
def test_bm25f_equals_its_published_formula(case: Case) -> None:
    plain = PlainCollection(case.documents, case.deleted, case.weights)
    with opened(case.documents, "plain", case.cuts, case.deleted) as index:
        score = BM25F(case.weights, 1.7, case.b)
        ranking = ranked(index, [score], case.query)
        assert_same(ranking, plain.bm25f(case.counts, 1.7, case.b), score)


@every_case(30)
def test_coverage_equals_its_definition(case: Case) -> None:
    fields = tuple(case.weights)[:2]
    with opened(case.documents, "forms", case.cuts, case.deleted) as index:
        for other in (0.0, 1.0):
            plain = PlainCollection(case.documents, case.deleted, None, True, other)
            ranking = ranked(index, [Coverage(fields, other_forms=bool(other))], case.query)
            assert_same(ranking, plain.coverage(case.counts, fields), other)


@every_case(30)
def test_scores_are_summed_with_their_weights(case: Case) -> None:
    fields = list(case.weights)
    first, last = {fields[0]: 1.0}, {fields[-1]: 1.0}
    with opened(case.documents, "plain", case.cuts, case.deleted) as index:
        both = [
            FieldScore(DirichletLM(10, "matched"), first, 0.8),
            FieldScore(DirichletLM(10, "matched"), last, 0.2),
        ]
        plain: dict[int, float] = {}
        for part, weight in ((first, 0.8), (last, 0.2)):
            collection = PlainCollection(case.documents, case.deleted, part)
            for place, score in collection.search(case.counts, dirichlet(10)).items():
                plain[place] = plain.get(place, 0.0) + weight * score
        assert_same(ranked(index, both, case.query), plain, "0.8-DirichletLM-0.2-DirichletLM")


FORMULAS = (
    formulas.saturation, formulas.log_ratio, formulas.log_ratio_matched,
    formulas.hypergeometric_popper, formulas.hypergeometric_laplace, formulas.poisson_laplace,
    formulas.pivoted, formulas.normalised, formulas.presence,
)  # fmt: skip
positive = st.floats(1e-3, 1e6)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.__name__)
@settings(max_examples=60, derandomize=True)
@given(tf=st.floats(0.1, 1000), longer=st.floats(0, 1e5), a=positive, b=st.floats(-5, 5))
@example(tf=1.0, longer=0.0, a=1.0, b=0.0)
def test_compiled_formulas_equal_the_plain_ones(
    formula: formulas.Formula, tf: float, longer: float, a: float, b: float
) -> None:
    value = formula(tf, tf + longer, a, b)
    for loops in (COMPILED, NUMPY):
        scores = np.full(3, formulas.UNSEEN)
        scores[2] = 5.0
        postings = np.array([11, 12], dtype=np.int32), np.full((2, 1), tf), (1.0,)
        norms = np.full(3, tf + longer)
        assert loops.accumulator(formula)(postings, 10, norms, scores, 2.0, a, b)
        assert scores.tolist() == [formulas.UNSEEN, 2 * value, 5 + 2 * value]


def test_a_document_of_nothing_but_the_term_scores_a_number() -> None:
    with opened([{"text": "ban"}, {"text": "tax"}]) as index:
        for model, _ in MODELS:
            assert np.isfinite(ranked(index, [FieldScore(model)], ["ban"]).scores).all(), model
        assert ranked(index, [FieldScore(DPH())], ["ban"]).scores.tolist() == [0.0]


def test_a_hand_worked_example() -> None:
    documents = [{"text": "ban ban tax"}, {"text": "tax"}, {"text": "school vote"}]
    with opened(documents) as index:
        ranking = ranked(index, [FieldScore(BM25())], ["ban"])
        expected = math.log(1 + 2.5 / 1.5) * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
        assert list(ranking) == [("0", pytest.approx(expected, rel=1e-12))]
        ranking = ranked(index, [FieldScore(DirichletLM(10, "matched"))], ["tax"])
        assert by_place(ranking) == pytest.approx(
            {0: math.log(13 / 10 * 10 / 13), 1: math.log(13 / 11)}, abs=1e-12
        )


def test_equal_shares_of_a_document_tie() -> None:
    documents = [{"text": f"{'ban ' * n} {'tax ' * n} {'gun ' * n}"} for n in range(1, 60)]
    with opened(documents) as index:
        ranking = ranked(index, [FieldScore(JelinekMercer())], ["tax"])
        assert places(ranking) == list(range(59))


def test_an_unknown_field_is_refused_by_name() -> None:
    with opened([{"title": "ban", "text": "tax"}]) as index:
        for score in (
            FieldScore(BM25(), {"premise": 1.0}),
            BM25F({"premise": 1.0}),
            Coverage(("premise",)),
        ):
            with pytest.raises(BrokenIndexError, match=r"no field premise.*title, text"):
                LocalRetriever(index, [score])


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (BM25, {"variant": "okapi"}),
        (BM25, {"b": 1.5}),
        (DirichletLM, {"mu": 0.0}),
        (DirichletLM, {"variant": "lucene"}),
        (JelinekMercer, {"lambda_": 1.0}),
        (PL2, {"c": 0.0}),
        (TFIDF, {"slope": -0.1}),
    ],
)
def test_illegal_parameters_are_refused(model: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(parameters))):
        model(**parameters)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("scoring", "given", "name"),
    [
        *((FieldScore, {"model": BM25(), "weight": w}, "weight") for w in (NAN, INFINITE, "x")),
        *((FieldScore, {"model": BM25(), "other_forms": w}, "other_forms") for w in (NAN, -1, "x")),
        (FieldScore, {"model": "bm25"}, "weighting model"),
        *((BM25F, {"fields": {}, "k1": wrong}, "k1") for wrong in (NAN, -1, INFINITE)),
        *((BM25F, {"fields": {}, "b": {"a": wrong}}, "b of the field a") for wrong in (NAN, -1, 7)),
        *((Coverage, {"fields": wrong}, "fields that cover") for wrong in ("a", ())),
        (Coverage, {"fields": ("a",), "weight": NAN}, "weight"),
        (BM25, {"delta": NAN}, "delta"),
    ],
)
def test_illegal_scores_are_refused(scoring: Any, given: dict[str, Any], name: str) -> None:
    with pytest.raises(UsageError, match=name):
        scoring(**given)


@pytest.mark.parametrize("wrong", [-1, NAN, INFINITE, 1e-300, 1e10, "x", True])
def test_illegal_weights_of_fields_are_refused(wrong: Any) -> None:
    with opened([{"a": "tea"}]) as index, pytest.raises(UsageError, match="the field a"):
        LocalRetriever(index, [FieldScore(BM25(), {"a": wrong})])


@given(case=cases())
@settings(max_examples=15)
def test_statistics_do_not_depend_on_how_the_documents_are_kept(case: Case) -> None:
    """Not even in the last bit, so that any engine with the same documents has the same scores."""
    weights = {name: 0.3 * (place + 1) for place, name in enumerate(case.documents[0])}
    with opened(case.documents, "forms", case.cuts, case.deleted) as cut:
        kept = [d for place, d in enumerate(case.documents) if place not in case.deleted]
        with opened(kept, "forms") as whole:
            readers = [PostingsReader(index, weights, 0.1) for index in (cut, whole)]
            for word in WORDS:
                found = [reader.read(word) for reader in readers]
                assert found[0].documents == found[1].documents
                assert found[0].occurrences == found[1].occurrences
