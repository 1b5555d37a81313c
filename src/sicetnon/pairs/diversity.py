"""Diversity: near duplicates are folded, and no argument floods the top."""

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
        cosines: How alike the texts are, shape (texts, texts).
        worth: What each text is worth, shape (texts,). Of equal ones the first is better.
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
    """The best results one by one, each paying for what better ones have used before.

    Carbonell and Goldstein's maximal marginal relevance (SIGIR 1998), where what is redundant is
    not a similar text but another use of the same sentence or argument.

    Args:
        scores: Shape (results,).
        uses: What each result uses, such as its sentences and arguments.
        cost: What each former use of each of these costs.
        count: How many results are wanted.

    Returns:
        The places of at most `count` results and what they score after paying, never rising.
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
        # costs only grow, so whatever still leads after paying is the best
        if waiting and paid > worth and (paid, place) > waiting[0]:
            heapq.heappush(waiting, (paid, place))
            continue
        used.update(uses[place])
        places.append(place)
        worths.append(-paid)
    return np.array(places, dtype=np.int64), np.array(worths)
