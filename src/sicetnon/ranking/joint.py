"""Several ways to find documents, fused into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sicetnon.evaluation.runs import Lines, Run
from sicetnon.formats.runs import UNSTANCED
from sicetnon.ranking.fusion import Fusion, fuse
from sicetnon.records import Ranking, Topic

Find = Callable[[Sequence[Topic], int], list[Ranking]]
"""A retriever's `retrieve` or a system's `rank`."""

_DIGITS = 10


class Joint:
    """A retriever: asks others, and fuses what they find as runs are fused.

    Args:
        finders: What finds documents of one index, by their numbers.
        fusion: How; reciprocal rank fusion without weights when left out.
        depth: How many documents each finds at least: what one finds late another may find early.
    """

    def __init__(self, finders: Sequence[Find], fusion: Fusion | None = None, depth: int = 1000):
        self._finders, self._fusion, self._depth = tuple(finders), fusion or Fusion(), depth

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic. Of equal ones the first indexed stands first."""
        depth = max(k, self._depth)
        found = [finder(topics, depth) for finder in self._finders]
        return [
            self._fused(topic, rankings, k) for topic, *rankings in zip(topics, *found, strict=True)
        ]

    def _fused(self, topic: Topic, rankings: Sequence[Ranking], k: int) -> Ranking:
        runs = [
            Run(str(place), str(place), {topic.number: _lines(ranking)})
            for place, ranking in enumerate(rankings)
        ]
        fused = fuse(runs, self._fusion, k).topics[topic.number]
        numbers = np.array([int(name) for name in fused.documents], dtype=np.int64)
        return Ranking(topic, numbers, fused.scores)


def _lines(ranking: Ranking) -> Lines:
    # with leading zeros names have the order of numbers, which is that of ties
    names = [f"{number:0{_DIGITS}}" for number in ranking.documents.tolist()]
    return Lines(names, [UNSTANCED] * len(names), ranking.scores)
