"""Statistics over topics: confidence intervals, tests of significance, comparison with a baseline.

Sources: the percentile bootstrap of Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13: the topics are drawn with replacement, the score is computed on each draw, and the
interval leaves out the same share of the draws at either end. Fisher's randomisation test and
the t test as in Smucker, Allan and Carterette, A Comparison of Statistical Significance Tests for
Information Retrieval Evaluation, CIKM 2007; the correction of Holm, A Simple Sequentially
Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979. All p-values are
two-sided.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.cancellation import check_cancelled

SAMPLES = 1000
CONFIDENCE = 0.95
SEED = 2022
# numbers of a block: 16 MiB
_BLOCK_NUMBERS = 1 << 21
# draws of so many numbers are kept for the next score, which has the same: 1 MiB
_KEPT_NUMBERS = 1 << 17


class Interval(NamedTuple):
    """The bounds of a confidence interval; NaN where there is no topic."""

    low: float
    high: float


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    topics: int,
    samples: int,
    seed: int,
) -> NDArray[np.float64]:
    """A statistic of topics drawn with replacement.

    Every run is given the same draws, so that its interval does not depend on the company that
    it is scored in. They are made block by block: judgments may have a million topics.

    Args:
        statistic: From the positions of drawn topics, shape (m, topics), to m numbers.
        topics: Number of topics.
        samples: Number of draws.
        seed: Of the random numbers.

    Returns:
        Shape (samples,).
    """
    if topics * samples <= _KEPT_NUMBERS:
        return statistic(_few_draws(topics, samples, seed))
    return np.concatenate([statistic(block) for block in _blocks(topics, samples, seed)])


def draws(topics: int, samples: int = SAMPLES, seed: int = SEED) -> NDArray[np.int64]:
    """The positions of topics drawn with replacement, as `bootstrap` draws them.

    Returns:
        Shape (samples, topics), values in [0, topics).
    """
    return np.concatenate(list(_blocks(topics, samples, seed)))


_few_draws = functools.lru_cache(maxsize=8)(draws)


def _blocks(topics: int, samples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    for rows in row_blocks(samples, topics):
        check_cancelled()
        yield random.integers(topics, size=(rows, topics))


def row_blocks(rows: int, columns: int, most: int = 4096) -> Iterator[int]:
    """The sizes of blocks of rows that stay within a limit of numbers, and of `most` rows.

    Each block but the last has a multiple of four rows: numpy draws four small numbers from one
    word, and drops what is left of a word at the end of a block.
    """
    size = max(min(most, _BLOCK_NUMBERS // max(columns, 1)) // 4 * 4, 4)
    for first in range(0, rows, size):
        yield min(size, rows - first)


def percentiles(statistics: NDArray[np.float64], confidence: float = CONFIDENCE) -> Interval:
    """The interval that holds the middle share of what a statistic was on each draw."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(statistics, [tail, 1 - tail])
    return Interval(float(low), float(high))


def mean_interval(values: Sequence[float], samples: int = SAMPLES, seed: int = SEED) -> Interval:
    """The 95% interval of a mean over topics.

    The same seed gives the same interval.
    """
    if not len(values):
        return Interval(math.nan, math.nan)
    array = np.asarray(values, dtype=np.float64)
    drawn = bootstrap(lambda block: array[block].mean(axis=1), len(array), samples, seed)
    return percentiles(drawn)


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
    """The share of assignments of signs on which a statistic is at least as large as observed.

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
        check_cancelled()
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


@dataclass(frozen=True)
class PairedComparison:
    """A run compared with a baseline, over the topics that count for both.

    Attributes:
        baseline: The name of the baseline.
        difference: The run's score less the baseline's; NaN without a common topic.
        common: Number of topics that count for both.
        wins: Topics on which the run is better.
        ties: Topics on which both are the same.
        losses: Topics on which the baseline is better.
        p_randomisation: Fisher's randomisation test.
        p_t: Student's t test of paired values; NaN where it does not apply (stances, one topic).
        p_randomisation_corrected: The first, corrected for the number of runs compared (Holm).
        p_t_corrected: The second, likewise.
    """

    baseline: str
    difference: float
    common: int
    wins: int
    ties: int
    losses: int
    p_randomisation: float
    p_t: float
    p_randomisation_corrected: float = math.nan
    p_t_corrected: float = math.nan


def compare(
    run: Mapping[str, float], baseline: Mapping[str, float], name: str, seed: int = SEED
) -> PairedComparison:
    """Compare the means of a measure, by its values for each topic that counts."""
    common = sorted(run.keys() & baseline.keys())
    differences = np.array([run[topic] - baseline[topic] for topic in common], dtype=np.float64)
    return PairedComparison(
        name,
        float(differences.mean()) if common else math.nan,
        len(common),
        *wins_ties_losses(differences),
        randomisation_test(differences, seed),
        paired_t_test(differences),
    )


def correct(comparisons: Sequence[PairedComparison]) -> list[PairedComparison]:
    """The comparisons of several runs with one baseline, corrected for their number (Holm)."""
    randomisation = holm([comparison.p_randomisation for comparison in comparisons])
    student = holm([comparison.p_t for comparison in comparisons])
    return [
        replace(comparison, p_randomisation_corrected=p_randomisation, p_t_corrected=p_t)
        for comparison, p_randomisation, p_t in zip(
            comparisons, randomisation, student, strict=True
        )
    ]


def wins_ties_losses(differences: NDArray[np.float64]) -> tuple[int, int, int]:
    """Wins, ties and losses."""
    wins, losses = int((differences > ROUNDING).sum()), int((differences < -ROUNDING).sum())
    return wins, len(differences) - wins - losses, losses
