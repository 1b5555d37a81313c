"""Sorting the best documents by a score of their texts, whatever found them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.records import Ranking, Record, Topic, said

TextScore = Callable[[Sequence[str]], NDArray[np.float64]]


class ByText:
    """A stage: sorts the best documents by a score of their texts; equals keep their order.

    Scores of the ranking stay where they are. Of an argument the premise is read.

    Args:
        read: Gives the records of a ranking.
        score: Scores texts, the higher the better.
        depth: How many of the best documents are sorted.
    """

    def __init__(
        self, read: Callable[[Ranking], Sequence[Record]], score: TextScore, depth: int = 10
    ):
        self._read, self._score, self._depth = read, score, depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The sorted ranking."""
        count = min(self._depth, len(ranking))
        if not count:
            return ranking
        records = self._read(ranking.best(count))
        scores = self._score([said(record) for record in records])
        order = np.argsort(-scores, kind="stable")
        rest = np.arange(count, len(ranking))
        return ranking.taken(np.concatenate((order, rest)), ranking.scores)
