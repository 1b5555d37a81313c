"""Stances: the second column of a comparative run, which never reorders it."""

from __future__ import annotations

from dataclasses import replace

from sicetnon.ranking.comparing import Comparison
from sicetnon.records import Ranking, Topic


class Stances:
    """A stage: says of every passage which of the two objects it favours.

    A topic without two objects gets `NO` throughout.
    """

    def __init__(self, comparison: Comparison):
        self._comparison = comparison

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        comparer = self._comparison.comparer(topic)
        if comparer is None:
            return replace(ranking, stances=("NO",) * len(ranking))
        found = self._comparison.evidence(topic, ranking)
        return replace(ranking, stances=tuple(map(comparer.judged, found)))


class SameStance:
    """A stage: gives all passages one stance, as the organisers' baseline does."""

    def __init__(self, stance: str = "NO"):
        self._stance = stance

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with the stance."""
        return replace(ranking, stances=(self._stance,) * len(ranking))
