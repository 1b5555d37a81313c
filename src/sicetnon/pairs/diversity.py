"""Diversity: fold near duplicates, and spread results over sentences and arguments."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

NEARLY_THE_SAME = 0.85


def fold(
    cosines: NDArray[np.float32],
    worth: NDArray[np.float64],
    threshold: float = NEARLY_THE_SAME,
) -> NDArray[np.int64]:
    """The places of texts that are no near duplicates of better ones, best first.

    Args:
        cosines: The cosine of each two texts, shape (texts, texts).
        worth: The score of each text, shape (texts,). Of equal ones the first is better.
        threshold: The cosine from which two texts are near duplicates.
    """
    order = np.argsort(-worth, kind="stable")
    similar = cosines[np.ix_(order, order)] >= threshold
    kept = np.ones(len(order), dtype=bool)
    for place in range(len(order)):
        if kept[place]:
            kept[place + 1 :] &= ~similar[place, place + 1 :]
    return order[kept]


def spread(
    scores: NDArray[np.float64],
    uses: Sequence[Sequence[Hashable]],
    cost: float,
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best results one by one, with a cost for each use of the same sentence or argument.

    This is maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), with repeated use in
    place of similarity.

    Args:
        scores: The score of each result, shape (results,).
        uses: The items that each result uses, such as its sentences and arguments.
        cost: The cost of each use of an item by a better result.
        count: Largest number of results.

    Returns:
        The places of the results, and their scores less the costs, which never rise.
    """
    used: Counter[Hashable] = Counter()
    worth_of: list[float] = scores.tolist()
    waiting = [(-score, place) for place, score in enumerate(worth_of)]
    heapq.heapify(waiting)
    places: list[int] = []
    worths: list[float] = []
    while waiting and len(places) < count:
        worth, place = heapq.heappop(waiting)
        paid = cost * sum(map(used.__getitem__, uses[place])) - worth_of[place]
        # costs only grow, so a result that leads after its costs is the best
        if waiting and paid > worth and (paid, place) > waiting[0]:
            heapq.heappush(waiting, (paid, place))
            continue
        used.update(uses[place])
        places.append(place)
        worths.append(-paid)
    return np.array(places, dtype=np.int64), np.array(worths)
