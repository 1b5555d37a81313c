"""Intervals, tests of significance, stances, runs against a baseline; also of very many topics."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.cancellation import Cancellation
from sicetnon.errors import StoppedError
from sicetnon.evaluation import evaluate, significance
from sicetnon.evaluation.significance import (
    ASSIGNMENTS,
    Interval,
    compare,
    holm,
    mean_interval,
    paired_t_test,
    randomisation_test,
    student_tail,
)
from sicetnon.evaluation.stance import StanceScore, macro_f1
from sicetnon.records import Judgment, RunLine

TOPICS = [str(number) for number in range(1, 31)]


def test_an_interval_is_the_same_for_the_same_seed():
    values = np.linspace(0, 1, 40)
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, seed=1) != mean_interval(values, seed=2)


def test_an_interval_has_its_width():
    values = np.random.default_rng(1).normal(0.5, 0.2, size=400)
    low, high = mean_interval(values, samples=20_000)
    error = values.std() / math.sqrt(len(values))
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=error / 10)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=error / 10)


def test_an_interval_of_nothing_and_of_one():
    assert all(map(math.isnan, mean_interval([])))
    assert mean_interval([0.5]) == (0.5, 0.5)


@settings(max_examples=50)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_the_exact_randomisation_test(differences):
    sums = [
        sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(abs(total) >= abs(sum(differences)) for total in sums) / len(sums)
    assert randomisation_test(np.array(differences) / 10) == pytest.approx(expected)


def test_the_sampled_randomisation_test_is_near_the_exact_one():
    random = np.random.default_rng(7)
    differences = random.normal(0.2, 0.5, size=16)
    exact = randomisation_test(differences)
    # topics that do not differ change nothing; a speck of a difference forces a sample
    assert randomisation_test(np.concatenate([differences, np.zeros(30)])) == exact
    sampled = randomisation_test(np.concatenate([differences, np.full(10, 1e-12)]))
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=0.005)
    assert randomisation_test(np.full(40, 0.1)) == pytest.approx(1 / 100_001)


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [  # tables of Student's distribution, two-sided
        (12.7062047, 1, 0.05),
        (4.3026527, 2, 0.05),
        (2.2281389, 10, 0.05),
        (2.6799520, 49, 0.01),
        (-2.0095752, 49, 0.05),
        (3.4960129, 50, 0.001),
        (0.0, 7, 1.0),
        (0.0, 8, 1.0),
    ],
)
def test_student(t, freedom, p):
    assert student_tail(t, freedom) == pytest.approx(p, rel=1e-4)


def test_student_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for freedom in range(1, 60):
        for t in (0.01, 0.5, 1.3, 2.0, 3.7, 8.0):
            assert student_tail(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), abs=1e-13)


def test_the_t_test_where_there_is_nothing_to_test():
    assert math.isnan(paired_t_test(np.array([0.5])))
    assert math.isnan(paired_t_test(np.array([])))
    assert math.isnan(randomisation_test(np.array([])))
    assert paired_t_test(np.zeros(5)) == 1.0
    assert paired_t_test(np.full(5, 0.1)) == 0.0


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, math.nan, 0.9]) == pytest.approx([1.0, math.nan, 1.0], nan_ok=True)
    assert holm([]) == []


def test_a_comparison_is_over_the_topics_that_both_have():
    found = compare({"1": 1.0, "2": 0.5, "3": 0.2}, {"2": 0.25, "3": 0.2, "4": 0.0}, "base")
    assert (found.difference, found.common) == (0.125, 2)
    assert (found.wins, found.ties, found.losses) == (1, 1, 0)


def run_with(good, tag):
    """A run that finds the one good document first on some topics, second on the others."""
    return [
        RunLine(topic, "Q0", document, rank, 1.0 / rank, tag)
        for topic in TOPICS
        for rank, document in enumerate(("good", "bad") if topic in good else ("bad", "good"), 1)
    ]


QRELS = [
    Judgment(topic, document, label)
    for topic in TOPICS
    for document, label in (("good", 1), ("bad", 0))
]


def test_runs_against_a_baseline():
    runs = {
        "base": run_with(TOPICS[:10], "b"),
        "same": run_with(TOPICS[:10], "s"),
        "best": run_with(TOPICS[:29], "g"),
        "worse": run_with(TOPICS[1:8], "w"),
    }
    scores = evaluate(runs, [QRELS], baseline="base")
    assert [score.run for score in scores] == ["best", "base", "same", "worse"]
    best, base, same, worse = (score.comparison for score in scores)
    assert base is None
    assert (best.baseline, best.common) == ("base", 30)
    assert (best.wins, best.ties, best.losses) == (19, 11, 0)
    assert (worse.wins, worse.ties, worse.losses) == (0, 27, 3)
    assert best.difference == pytest.approx(scores[0].mean - scores[1].mean)
    assert same.p_randomisation == same.p_randomisation_corrected == same.p_t == 1.0
    assert worse.p_randomisation == 2 / 8  # exact: three topics differ
    assert worse.p_randomisation_corrected == 2 * worse.p_randomisation
    assert best.p_randomisation_corrected == pytest.approx(3 * best.p_randomisation)
    assert best.p_t_corrected == pytest.approx(3 * best.p_t)
    assert best.p_randomisation < 1e-4
    row = scores[0].row()
    assert (row["baseline"], row["wins"]) == ("base", 19)
    assert {
        "run",
        "tag",
        "qrels",
        "rule",
        "measure",
        "mean",
        "low",
        "high",
        "topics",
        "judged",
    } <= set(row)


def test_a_baseline_from_outside():
    scores = evaluate({"mine": run_with(TOPICS, "m")}, [QRELS], baseline=run_with([], "theirs"))
    assert [(score.run, score.comparison is None) for score in scores] == [
        ("mine", False),
        ("theirs", True),
    ]


STANCES = [Judgment("1", "a", "FIRST"), Judgment("1", "b", "NO"), Judgment("2", "a", "SECOND")]


def stances(words, tag="t"):
    places = [("1", "a"), ("1", "b"), ("1", "unjudged"), ("2", "a")]
    ranks = (1, 2, 1000, 1)
    return [
        RunLine(topic, word, document, rank, -float(rank), tag)
        for (topic, document), rank, word in zip(places, ranks, words, strict=True)
    ]


def test_stances_by_hand():
    [score] = evaluate(stances(["FIRST", "Q0", "NO", "FIRST"]), [STANCES])
    # FIRST: one hit, one false alarm, F1 2/3; the other three 0
    assert score.mean == pytest.approx(2 / 3 / 4)
    assert (score.lines, score.topics, score.judged) == (3, 2, 0.75)
    assert (score.dimension, score.measure, score.rule) == ("stance", "MacroF1", "official")
    assert score.confusion == ((1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 1))
    assert score.values == {"1": 0.5, "2": 0.0}
    assert score.row()["lines"] == 3


def test_a_stance_in_small_letters_is_wrong():
    [score] = evaluate(stances(["first", "0", "NO", "SECOND"]), [STANCES])
    assert score.mean == 1 / 4


def test_macro_f1_of_nothing():
    assert macro_f1(np.zeros((4, 5), dtype=np.int64)) == 0.0


def test_stances_against_a_baseline():
    runs = {
        "base": stances(["FIRST", "NO", "NO", "SECOND"]),
        "other": stances(["Q0", "NO", "NO", "FIRST"]),
    }
    comparison = next(
        s.comparison for s in evaluate(runs, [STANCES], baseline="base") if s.comparison
    )
    assert comparison.difference == pytest.approx(1 / 4 - 3 / 4)
    assert (comparison.wins, comparison.ties, comparison.losses) == (0, 0, 2)
    assert comparison.p_randomisation == 0.5  # both topics, or neither, of four assignments
    assert math.isnan(comparison.p_t)


_MANY = 30_000
_MOST_BYTES = 80 << 20


def random_values(count: int) -> NDArray[np.float64]:
    return np.random.default_rng(count).random(count)


def in_one(values: NDArray[np.float64], samples: int, seed: int) -> Interval:
    """The interval by its definition, all draws at once."""
    drawn = np.random.default_rng(seed).integers(len(values), size=(samples, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [(1 - 0.95) / 2, 1 - (1 - 0.95) / 2])
    return Interval(float(low), float(high))


@pytest.mark.parametrize("topics", [1, 2, 3, 49, 131, 132, 1023, 2500])
@pytest.mark.parametrize(("samples", "seed"), [(1000, 2022), (17, 5)])
def test_blocks_do_not_change_an_interval(topics: int, samples: int, seed: int) -> None:
    values = random_values(topics)
    assert mean_interval(values, samples, seed) == in_one(values, samples, seed)


@pytest.mark.parametrize("topics", [511, 601, 1023])
def test_blocks_do_not_change_a_p_value(topics: int) -> None:
    differences = random_values(topics) - 0.49
    random, reached, done = np.random.default_rng(3), 1, 0
    while done < ASSIGNMENTS:
        rows = min(4096, ASSIGNMENTS - done)
        tosses = random.integers(2, size=(rows, topics), dtype=np.int8)
        sums = np.abs((2 * tosses.astype(np.float64) - 1) @ differences)
        reached += int((sums >= abs(differences.sum()) - significance.ROUNDING).sum())
        done += rows
    assert randomisation_test(differences, 3) == reached / (ASSIGNMENTS + 1)


def test_intervals_of_many_topics_keep_nothing_large() -> None:
    matrices = {str(topic): np.eye(4, 5, dtype=np.int64) for topic in range(_MANY)}
    tracemalloc.start()
    try:
        for topics in (_MANY, _MANY + 1):
            mean_interval(random_values(topics))
        StanceScore(1.0, _MANY, 1.0, matrices).interval()
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < _MOST_BYTES
    assert kept < 1 << 20


def test_signs_of_many_topics_are_tried_in_blocks() -> None:
    differences = np.zeros(_MANY)
    differences[:12] = random_values(12)
    tracemalloc.start()
    try:
        p = randomisation_test(differences)
        # and a sample of them
        few = next(significance._random_signs(_MANY, 1))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert p == randomisation_test(differences[:12])
    assert set(few[0]) == {-1.0, 1.0}
    assert most < _MOST_BYTES


def test_draws_of_few_topics_are_made_once() -> None:
    significance._few_draws.cache_clear()
    for _ in range(3):
        mean_interval(random_values(50))
    assert significance._few_draws.cache_info().misses == 1


def test_draws_stop_when_nobody_waits() -> None:
    stop = Cancellation()
    stop.now()
    with stop.watched(), pytest.raises(StoppedError):
        mean_interval(random_values(_MANY))
    with stop.watched(), pytest.raises(StoppedError):
        randomisation_test(random_values(_MANY))
