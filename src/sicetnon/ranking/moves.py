"""Reordering that keeps relevance first: bounded moves, and promotion inside chunks.

Both come from the pipeline of UvATask2SVM (University of Amsterdam, CLEF 2020, section 3.2): a
signal other than relevance reorders a ranking, but nothing may get far from where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.errors import UsageError
from sicetnon.records import Ranking, Topic

Measure = Callable[[Topic, Ranking], Sequence[float]]
Choice = Callable[[Topic, Ranking], Sequence[bool] | Sequence[float]]


def bounded_order(keys: ArrayLike, bound: int) -> NDArray[np.int64]:
    """The order by descending key in which no item moves more than `bound` places.

    Place by place, the item with the greatest key is taken of those that may stand there: it
    stood at most `bound` places behind, unless some item has reached the last place that it may
    have; then that one is taken. This is earliest deadline first with the key as priority, so a
    legal order always exists. Of equal keys the one that stood first goes first.

    Args:
        keys: One number an item, in the present order. NaN counts as the smallest.
        bound: From 0 (nothing moves). At len(keys) - 1 or more this is the plain stable sort.

    Returns:
        Places of the present order, in the new order.
    """
    values = np.asarray(keys, dtype=np.float64).reshape(-1)
    values = np.where(np.isnan(values), -np.inf, values)
    if bound >= len(values) - 1:
        return np.argsort(-values, kind="stable").astype(np.int64)
    waiting: list[int] = []
    order = np.empty(len(values), dtype=np.int64)
    for place in range(len(values)):
        # every item that may stand here; those in `waiting` are in their old order
        first_new = 0 if place == 0 else place + bound
        waiting.extend(range(first_new, min(place + bound + 1, len(values))))
        overdue = waiting[0] == place - bound
        chosen = 0 if overdue else max(range(len(waiting)), key=lambda at: values[waiting[at]])
        order[place] = waiting.pop(chosen)
    return order


def promoted_order(chosen: Sequence[bool] | Sequence[float], chunk: int) -> NDArray[np.int64]:
    """The order in which chosen items go first inside each chunk; else all keep their order.

    Args:
        chosen: Whether an item is chosen, in the present order.
        chunk: Items a chunk, from 1. At len(chosen) or more this is one stable sort.

    Returns:
        Places of the present order, in the new order.
    """
    flags = np.asarray(chosen, dtype=bool).reshape(-1)
    places = np.arange(len(flags))
    return np.lexsort((places, ~flags, places // chunk)).astype(np.int64)


class BoundedMoves:
    """A stage: sorts by a measure, but moves no document more than some places.

    Scores stay where they are: the first document has the first score, whoever it is.

    Args:
        measure: One number a document, the higher the better; NaN where nothing is known.
        bound: The most places that a document may move, up or down.
        depth: How many of the best documents take part; all when left out.

    Raises:
        UsageError: The bound or the depth is below 0.
    """

    def __init__(self, measure: Measure, bound: int = 10, depth: int | None = None):
        if bound < 0 or (depth is not None and depth < 0):
            raise UsageError(f"found a bound of {bound}, depth {depth}; expected 0 or more")
        self._measure, self._bound, self._depth = measure, bound, depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking."""
        top, rest = _split(ranking, self._depth)
        order = bounded_order(self._measure(topic, top), self._bound)
        return ranking.taken(np.concatenate((order, rest)), ranking.scores)


class Promotion:
    """A stage: puts chosen documents first inside each chunk of the ranking.

    Order inside the chosen and inside the others is kept, and scores stay where they are.

    Args:
        choice: Whether each document is chosen.
        chunk: Documents a chunk.
        depth: How many of the best documents take part; all when left out.

    Raises:
        UsageError: The chunk is below 1 or the depth below 0.
    """

    def __init__(self, choice: Choice, chunk: int = 10, depth: int | None = None):
        if chunk < 1 or (depth is not None and depth < 0):
            raise UsageError(f"found chunks of {chunk}, depth {depth}; expected 1 and 0 or more")
        self._choice, self._chunk, self._depth = choice, chunk, depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking."""
        top, rest = _split(ranking, self._depth)
        order = promoted_order(self._choice(topic, top), self._chunk)
        return ranking.taken(np.concatenate((order, rest)), ranking.scores)


def _split(ranking: Ranking, depth: int | None) -> tuple[Ranking, NDArray[np.int64]]:
    """The documents that take part, and the places of the others."""
    count = len(ranking) if depth is None else min(depth, len(ranking))
    places = np.arange(len(ranking), dtype=np.int64)
    return ranking.taken(places[:count], ranking.scores[:count]), places[count:]
