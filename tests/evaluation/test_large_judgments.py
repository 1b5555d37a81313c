"""Judgments of very many topics: intervals and tests in blocks, the same to the last digit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from sicetnon.errors import StoppedError
from sicetnon.evaluation import significance
from sicetnon.evaluation.significance import (
    ASSIGNMENTS,
    Interval,
    mean_interval,
    randomisation_test,
)
from sicetnon.evaluation.stance import StanceScore
from sicetnon.stopping import Stop

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
    stop = Stop()
    stop.now()
    with stop.watched(), pytest.raises(StoppedError):
        mean_interval(random_values(_MANY))
    with stop.watched(), pytest.raises(StoppedError):
        randomisation_test(random_values(_MANY))
