"""Penalties: subtract the faults of a text from its score."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic, said


class Penalties:
    """A stage: subtracts weighted faults of their texts from the scores of the best documents.

    Args:
        index: The documents.
        faults: Measures of a text, each with its weight in units of the score.
        depth: Number of the best documents that are measured; others may rise past them.
    """

    def __init__(
        self, index: IndexReader, faults: Mapping[Callable[[str], float], float], depth: int = 100
    ):
        self._index, self._faults, self._depth = index, dict(faults), depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking; documents with equal scores keep their order."""
        top = ranking.ids[: self._depth]
        scores = ranking.scores.copy()
        texts = [said(record) for record in self._index.records(top)]
        for fault, cost in self._faults.items():
            scores[: len(top)] -= cost * np.array([fault(text) for text in texts])
        order = np.argsort(-scores, kind="stable")
        return ranking.taken(order, scores[order])
