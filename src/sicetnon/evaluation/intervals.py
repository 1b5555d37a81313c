"""Confidence intervals: the percentile bootstrap over topics, as the published ones are.

Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13. The topics are
drawn with replacement, the score is computed on each draw, and the interval leaves out the same
share of the draws at either end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.stopping import check_wanted

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
        check_wanted()
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
