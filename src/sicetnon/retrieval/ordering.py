"""The order of many scores: the highest first, and of equal ones the first of them first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined

_SORTING = 3e-8
"""Seconds that numpy takes for a score."""
_MOST_MOVES = 16


def _plainly_by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The same as `_by_buckets`, always."""
    return np.argsort(-scores, kind="stable")


def by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places of scores, the highest first, of equal ones in their order, shape as `scores`."""
    order = _by_buckets(scores)
    return order if len(order) == len(scores) else _plainly_by_score(scores)


@compiled(plain=_plainly_by_score, seconds=lambda scores: _SORTING * scores.size)
def _by_buckets(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """See `by_score`; nothing where scores are not finite, or most of them are nearly equal.

    As many buckets as scores are filled, and what they hold is sorted by insertion.
    """
    count, nothing = scores.size, np.empty(0, np.int64)
    highest, lowest = ends_of(scores)
    width = highest - lowest
    if not 0.0 <= width < np.inf:
        return nothing
    scale = count / width if width > 0.0 else 0.0
    if not scale < np.inf:
        return nothing
    ends, buckets = np.zeros(count + 2, np.int64), np.empty(count, np.int64)
    for place in range(count):
        # the division and the product may be rounded up
        buckets[place] = min(int((highest - scores[place]) * scale), count)
        ends[buckets[place] + 1] += 1
    for bucket in range(count):
        ends[bucket + 1] += ends[bucket]
    order = np.empty(count, np.int64)
    for place in range(count):
        order[ends[buckets[place]]] = place
        ends[buckets[place]] += 1
    moves = _MOST_MOVES * count
    for rank in range(1, count):
        place, to = order[rank], rank
        while to > 0 and scores[order[to - 1]] < scores[place]:
            order[to] = order[to - 1]
            to -= 1
        order[to] = place
        moves -= rank - to
        if moves < 0:
            return nothing
    return order


@inlined
def ends_of(scores: NDArray[np.float64]) -> tuple[float, float]:
    """The highest and the lowest of some scores; infinite where one is no number.

    numpy's functions for this would load much of numba, and scipy.
    """
    highest, lowest = -np.inf, np.inf
    for score in scores:
        if np.isnan(score):
            return np.inf, -np.inf
        highest, lowest = max(highest, score), min(lowest, score)
    return highest, lowest
