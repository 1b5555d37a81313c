"""Reordering that keeps relevance first: bounded moves, and promotion inside chunks.

Both come from the pipeline of UvATask2SVM (University of Amsterdam, CLEF 2020, section 3.2): a
signal other than relevance reorders a ranking, but no document moves far from its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.checks import check_number
from sicetnon.records import Ranking, Topic

RankingSignal = Callable[[Topic, Ranking], Sequence[float]]
"""One number per document of a ranking, the higher the better."""


def bounded_order(keys: ArrayLike, bound: int) -> NDArray[np.int64]:
    """The order by descending key in which no item moves more than `bound` places.

    Each place is filled from the items that may stand there: those at most `bound` places behind
    it. An item at the last place that it may have goes first; else the one with the greatest key.
    This is earliest deadline first with the key as priority, so a legal order always exists. Of
    equal keys the one that stood first goes first.

    Args:
        keys: One number per item, in the present order. NaN counts as the smallest.
        bound: From 0 (nothing moves). At len(keys) - 1 or more this is the plain stable sort.

    Returns:
        Present places in the new order, shape (n,).
    """
    values = np.asarray(keys, dtype=np.float64).reshape(-1)
    values = np.where(np.isnan(values), -np.inf, values)
    if bound >= len(values) - 1:
        return np.argsort(-values, kind="stable").astype(np.int64)
    waiting: list[int] = []
    order = np.empty(len(values), dtype=np.int64)
    for place in range(len(values)):
        # the items that may stand here, in their old order
        first_new = 0 if place == 0 else place + bound
        waiting.extend(range(first_new, min(place + bound + 1, len(values))))
        overdue = waiting[0] == place - bound
        chosen = 0 if overdue else max(range(len(waiting)), key=lambda at: values[waiting[at]])
        order[place] = waiting.pop(chosen)
    return order


def promoted_order(chosen: Sequence[bool] | Sequence[float], chunk: int) -> NDArray[np.int64]:
    """The order that puts chosen items first inside each chunk; otherwise the order is kept.

    Args:
        chosen: Whether each item is chosen, in the present order.
        chunk: Items per chunk, from 1. At len(chosen) or more this is one stable sort.

    Returns:
        Present places in the new order, shape (n,).
    """
    flags = np.asarray(chosen, dtype=bool).reshape(-1)
    places = np.arange(len(flags))
    return np.lexsort((places, ~flags, places // chunk)).astype(np.int64)


def rescored(ranking: Ranking, scores: NDArray[np.float64]) -> Ranking:
    """The ranking with its best documents, at least one, sorted by new scores; the others below."""
    order = np.argsort(-scores, kind="stable")
    rest = np.arange(len(scores), len(ranking))
    below = scores.min() - np.arange(1, len(rest) + 1)
    return ranking.taken(np.concatenate((order, rest)), np.concatenate((scores[order], below)))


class _Reordering(ABC):
    """Base of both stages: orders the best documents by a signal, and leaves scores in place."""

    def __init__(self, measure: RankingSignal, depth: int | None):
        if depth is not None:
            check_number(depth, "depth", 0)
        self._measure, self._depth = measure, depth

    @abstractmethod
    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        """Present places in the new order, shape (n,)."""

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking."""
        top = ranking if self._depth is None else ranking.best(self._depth)
        rest = np.arange(len(top), len(ranking), dtype=np.int64)
        order = self._order(self._measure(topic, top))
        return ranking.taken(np.concatenate((order, rest)), ranking.scores)


class BoundedMoves(_Reordering):
    """A stage: sorts by a measure, but moves no document more than some places.

    Scores stay in place: the first score goes to the document that is now first.

    Args:
        measure: One number per document, the higher the better; NaN where nothing is known.
        bound: The most places that a document may move, up or down; no bound when left out.
        depth: Number of the best documents that take part; all when left out.

    Raises:
        UsageError: The bound or the depth is below 0.
    """

    def __init__(self, measure: RankingSignal, bound: int | None = 10, depth: int | None = None):
        if bound is not None:
            check_number(bound, "bound", 0)
        super().__init__(measure, depth)
        self._bound = bound

    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        return bounded_order(values, len(values) if self._bound is None else self._bound)


class Promotion(_Reordering):
    """A stage: puts chosen documents first inside each chunk of the ranking.

    The order among the chosen and among the others is kept, and scores stay in place.

    Args:
        measure: 1 or True for each chosen document, else 0 or False.
        chunk: Documents per chunk.
        depth: Number of the best documents that take part; all when left out.

    Raises:
        UsageError: The chunk is below 1 or the depth below 0.
    """

    def __init__(self, measure: RankingSignal, chunk: int = 10, depth: int | None = None):
        check_number(chunk, "chunk", 1)
        super().__init__(measure, depth)
        self._chunk = chunk

    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        return promoted_order(values, self._chunk)
