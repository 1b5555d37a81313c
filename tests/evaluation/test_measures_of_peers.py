"""Counts, undefined topics, and the measures on which the peers differ from one another."""

from __future__ import annotations

import itertools
import math
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import Score, evaluate, experiment
from sicetnon.records import Topic

LABELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1, "d": 0}, "3": {"x": 1}}
RUN = {"1": {"b": 3.0, "a": 2.0, "c": 1.0}, "2": {"a": 2.0, "e": 1.0}}
pytestmark = pytest.mark.filterwarnings("ignore:.*answers . of the 3 topics")


def scored(measure: str, run: Any = None, labels: Any = None, rule: str = "trec") -> Score:
    (score,) = evaluate(run or RUN, labels or LABELS, measure, rule=rule)
    return score


@pytest.mark.parametrize(
    ("measure", "total"), [("NumQ", 2), ("NumRel", 3), ("NumRet", 5), ("NumRelRet", 3)]
)
def test_counts_are_added_up(measure: str, total: int) -> None:
    score = scored(measure)
    assert (score.mean, sum(score.values.values())) == (total, total)
    assert score.low <= total <= score.high
    ir_measures = pytest.importorskip("ir_measures")
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(measure)], LABELS, RUN)
    assert list(theirs.values()) == [total]


def test_counts_are_compared_and_shown_as_totals() -> None:
    other = {"1": {"b": 3.0}, "2": {"a": 2.0}, "3": {"x": 1.0}}
    result = experiment({"one": RUN, "two": other}, None, LABELS, "NumRet", baseline="two")
    (comparison,) = [each.comparison for each in result.scores if each.comparison]
    assert comparison.difference == 2
    assert "total" in str(result)


def test_accuracy_leaves_out_topics_where_it_is_undefined() -> None:
    score = scored("Accuracy")
    assert (score.values, score.topics, score.mean) == ({"1": 0.0, "2": 1.0}, 2, 0.5)
    run = {"1": {"a": 1.0}, "2": {"d": 1.0}}
    assert math.isnan(scored("Accuracy", run).mean)
    assert scored("Accuracy(rel=2)@2", {"1": {"c": 3.0, "a": 2.0, "b": 1.0}}, LABELS).mean == 1.0
    ir_measures = pytest.importorskip("ir_measures")
    rankings = itertools.permutations("abc")
    for order in rankings:
        ranked = {"1": dict(zip(order, (3.0, 2.0, 1.0), strict=True))}
        theirs = ir_measures.calc_aggregate([ir_measures.Accuracy], LABELS, ranked)
        assert scored("Accuracy", ranked, {"1": LABELS["1"]}).mean == pytest.approx(
            theirs[ir_measures.Accuracy]
        )


@pytest.mark.parametrize(
    ("recall", "nine", "ten"),
    [
        (0.0, 1.0, 1.0),
        (0.3, 2 / 4, 1.0),
        (0.5, 2 / 4, 2 / 4),
        (0.8, 3 / 6, 2 / 4),
        (1.0, 3 / 6, 3 / 6),
    ],
)
def test_interpolated_precision_of_either_trec_eval(recall: float, nine: float, ten: float) -> None:
    # relevant at ranks 1, 4 and 6, of 3: recall 0.3 is 0.9 documents, 0.8 is 2.4
    labels = {"1": {"a": 1, "d": 1, "f": 1}}
    run = {"1": {name: -float(rank) for rank, name in enumerate("abcdef")}}
    expected = {9: nine, 10: ten}
    if recall == 0.3:
        expected[9] = 1.0  # int(0.9 + 0.9) is 1 as well
    assert scored(f"IPrec@{recall}", run, labels).mean == pytest.approx(expected[9])
    assert scored(f"IPrec(trec_eval=9)@{recall}", run, labels).measure == f"IPrec@{recall}"
    ten_score = scored(f"IPrec(trec_eval=10)@{recall}", run, labels)
    assert ten_score.mean == pytest.approx(expected[10])
    assert ten_score.measure == f"IPrec(trec_eval=10)@{recall}"


@pytest.mark.parametrize("label", [4, 5, 31])
def test_labels_above_four(label: int) -> None:
    labels = {"1": {"a": label, "b": 1}}
    gains = [(1 << label) - 1, 1]
    run = {"1": {"b": 2.0, "a": 1.0}}
    expected = _dcg(gains[::-1]) / _dcg(gains)
    for measure in ("nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@5"):
        assert scored(measure, run, labels).mean == pytest.approx(expected)
    if label > 4:
        with pytest.raises(
            DataError, match=f"found the label {label}; ERR@10 takes labels up to 4"
        ):
            scored("ERR@10", run, labels)
    elif shutil.which("perl"):
        pytest.importorskip("ir_measures")
        assert scored("ERR@10", run, labels).mean == pytest.approx(
            1 / 16 + 15 / 16 * 15 / 16 / 2, 1e-4
        )


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


@pytest.mark.parametrize(
    "measure", ["nDCG(dcg='ln')", "nDCG(dcg='exp-log2',gains={1: 2})", "IPrec(trec_eval=8)@0.5"]
)
def test_parameters_that_are_none(measure: str) -> None:
    with pytest.raises(UsageError):
        scored(measure)


@pytest.mark.parametrize("rule", ["official", "trec", "condensed"])
def test_an_experiment_scores_the_topics_that_it_was_given(rule: str) -> None:
    class Best:
        def retrieve(self, topics: Any, k: int) -> Any:
            from sicetnon.evaluation import load_run

            held = {topic.number: RUN[topic.number] for topic in topics}
            return list(load_run(held).rankings.values())

    topics = [Topic("2", "Tenure?")]
    (score,) = experiment([Best()], topics, LABELS, "P@1", rule=rule).scores
    assert score.values == {"2": 1.0}
    (score,) = experiment([RUN], topics, LABELS, "P@1", rule=rule).scores
    assert score.values == {"2": 1.0}
    stances = {"1": {"a": "FIRST"}, "2": {"a": "NO"}}
    (score,) = experiment([RUN], topics, stances, rule=rule).scores
    assert list(score.values) == ["2"]
    with pytest.raises(UsageError, match="judges none of the topics"):
        experiment([RUN], [Topic("9", "Tenure?")], LABELS, "P@1", rule=rule)


def test_a_library_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_measures = pytest.importorskip("ir_measures")

    class Broken:
        def iter_calc(self, run: Any) -> Any:
            raise KeyError("mine")

    monkeypatch.setattr(
        ir_measures.measures.base.Measure, "evaluator", lambda self, qrels: Broken(), raising=False
    )
    with pytest.raises(DataError, match=r"run: ERR@3 cannot be computed: 'mine'"):
        scored("ERR@3", {"1": {"a": 1.0}}, {"1": {"a": 1}})
