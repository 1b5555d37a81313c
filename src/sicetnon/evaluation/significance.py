"""Tests of significance over topics, and their correction for many comparisons.

Sources: Fisher's randomisation test and the t test as in Smucker, Allan and Carterette, A
Comparison of Statistical Significance Tests for Information Retrieval Evaluation, CIKM 2007;
the correction of Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
Journal of Statistics 1979. All p-values are two-sided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.evaluation.intervals import SEED, row_blocks
from sicetnon.stopping import check_wanted

EXACT_TOPICS = 16
"""Up to so many topics that differ, all 2^n assignments are tried; beyond, a sample of them."""
ASSIGNMENTS = 100_000
ROUNDING = 1e-9
"""Differences of scores below this are none."""

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def randomisation_test(differences: NDArray[np.float64], seed: int = SEED) -> float:
    """The chance of a mean at least as far from 0, were each difference's sign a coin's toss.

    Args:
        differences: One per topic, shape (n,).
        seed: Of the random numbers, used where there are too many assignments to try them all.

    Returns:
        The exact p-value, or an estimate from 100,000 assignments in which the observed one
        counts too, so that it is never 0. NaN without a topic.
    """
    if not len(differences):
        return math.nan
    return randomised(lambda signs: signs @ differences, differences != 0, seed)


def randomised(statistic: Statistic, differ: NDArray[np.bool_], seed: int) -> float:
    """The share of assignments of signs on which a statistic is at least as large as it is.

    Args:
        statistic: From signs, shape (m, topics), to a number for each of the m assignments.
        differ: Whether a topic's sign matters, shape (topics,).
        seed: Of the random numbers.
    """
    topics = len(differ)
    exact = int(differ.sum()) <= EXACT_TOPICS
    observed = abs(float(statistic(np.ones((1, topics)))[0]))
    threshold = observed - ROUNDING
    reached, tried = 0, 0
    for signs in _all_signs(differ) if exact else _random_signs(topics, seed):
        check_wanted()
        reached += int((np.abs(statistic(signs)) >= threshold).sum())
        tried += len(signs)
    return reached / tried if exact else (reached + 1) / (tried + 1)


def _all_signs(differ: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
    places = np.flatnonzero(differ)
    numbers, first = np.arange(2 ** len(places), dtype=np.int64), 0
    for rows in row_blocks(len(numbers), len(differ)):
        chunk = numbers[first : first + rows]
        first += rows
        signs = np.ones((rows, len(differ)))
        signs[:, places] -= 2.0 * ((chunk[:, None] >> np.arange(len(places))) & 1)
        yield signs


def _random_signs(topics: int, seed: int) -> Iterator[NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    for rows in row_blocks(ASSIGNMENTS, topics):
        tosses = random.integers(2, size=(rows, topics), dtype=np.int8)
        yield 2 * tosses.astype(np.float64) - 1


def paired_t_test(differences: NDArray[np.float64]) -> float:
    """The p-value of Student's t test that the mean of paired differences is 0.

    Args:
        differences: One per topic, shape (n,).

    Returns:
        NaN below two topics; 1 where all differences are 0.
    """
    count = len(differences)
    if count < 2:
        return math.nan
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread <= ROUNDING * abs(mean):
        return 1.0 if mean == 0 else 0.0
    return student_tail(mean / (spread / math.sqrt(count)), count - 1)


def student_tail(t: float, freedom: int) -> float:
    """The chance that |T| >= |t| for Student's T with a whole number of degrees of freedom.

    The finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun, Handbook of Mathematical
    Functions, 1964; right to about 1e-15 absolutely.
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    inside = 0.0
    for step in range(2 + odd, freedom + 1, 2):
        inside += term
        term *= cosine * cosine * (step - 1) / step
    central = (angle + sine * inside) * 2 / math.pi if odd else sine * inside
    return min(max(1.0 - central, 0.0), 1.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, so that any false alarm is as rare as each was.

    Args:
        p_values: One per comparison; NaN is no comparison, and stays.

    Returns:
        The corrected values, in the same order.
    """
    known = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    known.sort(key=lambda place: p_values[place])
    corrected = list(p_values)
    scaled = (p_values[place] * (len(known) - rank) for rank, place in enumerate(known))
    for place, p in zip(known, itertools.accumulate(scaled, max), strict=True):
        corrected[place] = min(p, 1.0)
    return corrected
