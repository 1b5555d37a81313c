"""The stage that ranks arguments by what the ranker has learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sicetnon.index.reader import IndexReader
from sicetnon.ranker.features import DEPTH, NAMES, FeatureReader
from sicetnon.ranker.model import RankerModel, shipped_model
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic

_DIGITS = 4


class LearnedRanker:
    """A stage: reorders the best arguments by whether they are on topic and how strong they are.

    Results say why they stand where they stand, in `Ranking.reasons`: `on_topic` (probability that
    an argument is squarely about the question), `strength` and `lexical`, each from 0 to 1. The
    other arguments keep their order behind the best.
    """

    def __init__(self, index: IndexReader, model: RankerModel | None = None, depth: int = DEPTH):
        self._index, self._depth = index, depth
        self._model = model or shipped_model()
        self._features = FeatureReader(index)
        self._features.load_ahead()

    def learned_from(self, model: RankerModel) -> LearnedRanker:
        """The same stage with another model."""
        return LearnedRanker(self._index, model, self._depth)

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking, with reasons."""
        top = ranking.best(self._depth)
        if not len(top):
            return ranking
        table = self._features.read(topic, top, self._index.records_of(top))
        judged = self._model.judge(table)
        rest = ranking.scores[len(top) :]
        # what was not judged stands below, in its order
        below = rest - rest.max(initial=0.0) - 1.0
        scores = np.concatenate((judged.scores, below))
        order = np.argsort(-scores, kind="stable")
        lexical = table[:, NAMES.index("lexical")]
        columns = (judged.on_topic, judged.strength, lexical)
        reasons = [
            dict(zip(("on_topic", "strength", "lexical"), row, strict=True))
            for row in np.round(np.stack(columns, axis=1), _DIGITS).tolist()
        ]
        reasons += [{}] * len(rest)
        placed = replace(ranking.taken(order, scores[order]))
        return replace(placed, reasons=tuple(reasons[place] for place in order.tolist()))


def with_ranker(system: System, model: RankerModel) -> System:
    """A system with another model in the place of the shipped one, where it ranks by one."""
    stages = [
        stage.learned_from(model) if isinstance(stage, LearnedRanker) else stage
        for stage in system.stages
    ]
    return replace(system, stages=stages)
