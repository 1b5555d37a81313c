"""Blending: add measures of a document to the score of its relevance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.ranking.moves import RankingSignal, rescored
from sicetnon.records import Ranking, Topic


class Blend:
    """A stage: adds weighted measures to the scores of the best documents, and sorts them again.

    The scores are scaled to 0 … 1 first, so that weights mean the same for every retriever. The
    other documents keep their places behind the best.

    Args:
        measures: Measures from 0 to 1, each with its weight.
        depth: Number of the best documents that are measured.
    """

    def __init__(self, measures: Sequence[tuple[RankingSignal, float]], depth: int = 100):
        self._measures, self._depth = tuple(measures), depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking. Scores are the sums; those of the others continue below."""
        top = ranking.best(self._depth)
        if not len(top):
            return ranking
        sums = _scaled(top.scores)
        for measure, weight in self._measures:
            sums = sums + weight * np.asarray(measure(topic, top))
        return rescored(ranking, sums)


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores from 0 to 1; all 1 where they are equal."""
    spread = scores.max() - scores.min()
    if not spread > 0:
        return np.ones(len(scores))
    return (scores - scores.min()) / spread  # type: ignore[no-any-return]
