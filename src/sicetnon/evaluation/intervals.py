"""Confidence intervals: the percentile bootstrap over topics, as the published ones are.

Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13. The topics are
drawn with replacement, the score is computed on each draw, and the interval leaves out the same
share of the draws at either end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1000
CONFIDENCE = 0.95
SEED = 2022


class Interval(NamedTuple):
    """The bounds of a confidence interval; NaN where there is no topic."""

    low: float
    high: float


@functools.lru_cache(maxsize=8)
def draws(topics: int, samples: int = SAMPLES, seed: int = SEED) -> NDArray[np.int64]:
    """Places of topics drawn with replacement.

    Every run is given the same draws, so that its interval does not depend on the company that
    it is scored in.

    Returns:
        Shape (samples, topics), values in [0, topics).
    """
    return np.random.default_rng(seed).integers(topics, size=(samples, topics))


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
    return percentiles(array[draws(len(array), samples, seed)].mean(axis=1))
