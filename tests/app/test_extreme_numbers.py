"""Numbers beyond all bounds, wherever people can give one: an answer, or one clear line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sicetnon
from sicetnon.errors import SicetnonError
from sicetnon.records import Topic
from sicetnon.retrieval.feedback import RM3, Bo1
from sicetnon.retrieval.scoring import BM25F, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, PL2, TFIDF, DirichletLM, JelinekMercer
from support.debates import QUESTION, both_sides

NUMBERS = [
    *(0, 1, -1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**70, -(2**70), 10**400),
    *(10**5000, -(10**5000), 5e-324, 1e-320, 1e-310, 1e-200, 1e-99, 1e99, 1e101, 1e300, 1.7e308),
    *(math.inf, -math.inf, math.nan, np.float32(1e38), np.float16(6e4), np.int64(2**62)),
    *(np.uint64(2**63), True, None, "1"),
]
TOPICS = [Topic("1", QUESTION)]
Use = Callable[[Any], Any]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("extreme") / "index")


def models() -> dict[str, Callable[[Any], Any]]:
    found: dict[str, Callable[[Any], Any]] = {
        "lambda": lambda value: JelinekMercer(value),
        "c": lambda value: PL2(value),
        "slope": lambda value: TFIDF(value),
    }
    for variant in ("lucene", "robertson", "atire", "plus"):
        for name in ("k1", "b", "delta"):
            found[f"{name} {variant}"] = lambda value, name=name, variant=variant: BM25(
                **{name: value}, variant=variant
            )
    for variant in ("full", "matched", "clipped"):
        found[f"mu {variant}"] = lambda value, variant=variant: DirichletLM(value, variant)
    return found


def check(use: Use) -> None:
    for number in NUMBERS:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found, said = None, "one line"
            try:
                found = use(number)
            except SicetnonError as error:
                said = str(error)
        assert len(said.splitlines()) == 1
        for ranking in found if isinstance(found, list) else ():
            assert np.isfinite(ranking.scores).all(), repr(number)


@pytest.mark.parametrize("name", models())
def test_weighting_models(name: str, index: sicetnon.Index) -> None:
    make = models()[name]
    check(lambda value: LocalRetriever(index, [FieldScore(make(value))]).retrieve(TOPICS, 9))


@pytest.mark.parametrize(
    "make",
    [
        lambda value: FieldScore(BM25(), weight=value),
        lambda value: FieldScore(BM25(), other_forms=value),
        lambda value: FieldScore(BM25(), fields={"text": value}),
        lambda value: BM25F({"text": value}),
        lambda value: BM25F({"text": 1.0}, k1=value),
        lambda value: BM25F({"text": 1.0}, b={"text": value}),
        lambda value: BM25F({"text": 1.0}, weight=value),
    ],
)
def test_scorings(make: Use, index: sicetnon.Index) -> None:
    check(lambda value: LocalRetriever(index, [make(value)]).retrieve(TOPICS, 9))


@pytest.mark.parametrize(
    ("kind", "name"),
    [(RM3, "documents"), (RM3, "terms"), (RM3, "original"), (Bo1, "documents"), (Bo1, "terms")],
)
def test_feedback(kind: Use, name: str, index: sicetnon.Index) -> None:
    def use(value: Any) -> Any:
        feedback = kind(**{name: value})  # type: ignore[call-arg]
        return LocalRetriever(index, [FieldScore(BM25())], feedback).retrieve(TOPICS, 9)

    check(use)


def test_depths(index: sicetnon.Index, tmp_path: Path) -> None:
    check(lambda value: LocalRetriever(index, [FieldScore(BM25())]).retrieve(TOPICS, value))
    check(lambda value: index.system().retrieve(TOPICS, value))
    for use in (
        lambda value: index.search(QUESTION, value),
        lambda value: index.nearest_topics(QUESTION, value),
        lambda value: sicetnon.reply(index, "Zoos should be closed.", value),
        lambda value: sicetnon.Index.open(index.folder, postings_memory=value).search(QUESTION),
    ):
        check(lambda value, use=use: use(value) and None)


def test_fusion() -> None:
    runs = [sicetnon.load_run({"1": {"a": 2.0, "b": 1.0}}, name) for name in ("one", "two")]
    for method in ("rrf", "combsum", "combmnz"):
        for use in (
            lambda value, method=method: sicetnon.Fusion(method, constant=value),
            lambda value, method=method: sicetnon.Fusion(method, weights=(value, 1)),
        ):
            check(lambda value, use=use: list(sicetnon.fuse(runs, use(value)).rankings.values()))
    check(lambda value: list(sicetnon.fuse(runs, depth=value).rankings.values()))


def test_evaluation() -> None:
    run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1, "b": 0}}
    few = [number for number in NUMBERS if not (isinstance(number, int) and number > 10**5)]
    assert len(few) > 20
    for use in (
        lambda value: sicetnon.evaluate(run, qrels, seed=value),
        lambda value: sicetnon.evaluate(run, {"1": {"a": value}}),
        lambda value: sicetnon.evaluate({"1": {"a": value}}, qrels),
        lambda value: sicetnon.experiment([run, run], None, qrels, baseline=value),
    ):
        check(lambda value, use=use: use(value) and None)
    for number in (10**8, 2**63, 2**70, 10**400):
        with pytest.raises(SicetnonError, match="samples"):
            sicetnon.evaluate(run, qrels, samples=number)


@pytest.mark.parametrize("name", ["depth", "votes", "quota", "seed"])
def test_pools(name: str, tmp_path: Path) -> None:
    def use(value: Any) -> None:
        path = tmp_path / f"{id(value)}.sqlite"
        sicetnon.make_pool(path, {"run": {"1": {"a": 1.0}}}, TOPICS, **{name: value})
        with sicetnon.JudgingFile(path) as file:
            file.assigned("anna")

    check(use)
