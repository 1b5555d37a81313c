"""Housekeeping: how much of a text runs the debate instead of arguing in it.

Rounds of a debate often only accept the challenge, thank the opponent or forfeit. They name the
debate's words and are found for it, and no assessor takes them for arguments.
"""

from __future__ import annotations

import re

import numpy as np

from sicetnon.index.index import Index
from sicetnon.records import Argument, ProcessedArgument, Ranking, Record, Topic

_PHRASES = re.compile(
    r"\b(?:i accept|accepted|acceptance|first round|good luck|look(?:ing)? forward|forfeit\w*"
    r"|extend (?:all )?(?:my )?arguments|thank(?:s| you| my)?|my opponent)\b",
    re.IGNORECASE,
)
_SMOOTHING_WORDS = 50
_MOST = 4.0


def housekeeping(text: str) -> float:
    """Housekeeping phrases a hundred words, from 0 to 4.

    Fifty words are added to the length, so that one phrase does not condemn a short text.
    """
    density = 100 * len(_PHRASES.findall(text)) / (len(text.split()) + _SMOOTHING_WORDS)
    return min(density, _MOST)


class HousekeepingPenalty:
    """A stage: takes `penalty` · housekeeping from the scores of the best arguments.

    Args:
        index: Where their texts are.
        penalty: What a phrase in a hundred words costs, in units of the score.
        depth: How many of the best are looked at; those behind can only rise past them.
    """

    def __init__(self, index: Index, penalty: float = 0.3, depth: int = 100):
        self._index, self._penalty, self._depth = index, penalty, depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The ranking with the penalty taken; documents with equal scores keep their order."""
        top = ranking.documents[: self._depth]
        scores = ranking.scores.copy()
        texts = [_said(record) for record in self._index.records(top)]
        scores[: len(top)] -= self._penalty * np.array([housekeeping(text) for text in texts])
        order = np.argsort(-scores, kind="stable")
        stances = ranking.stances and tuple(ranking.stances[place] for place in order.tolist())
        return Ranking(ranking.topic, ranking.documents[order], scores[order], stances)


def _said(record: Record) -> str:
    if isinstance(record, ProcessedArgument):
        record = record.argument
    return record.premise if isinstance(record, Argument) else record.default_text()
