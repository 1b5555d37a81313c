"""Stances: label the results of a comparative run, without reordering them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sicetnon.arguments.comparative.comparer import stances_by_model
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.records import Ranking, Topic

if TYPE_CHECKING:
    from sicetnon.arguments.models import classifiers


class RuleStances:
    """A stage: labels each passage with the object that it favours, by rules.

    A topic without two objects gets `NO` throughout.
    """

    method = "rules"

    def __init__(self, reader: ComparativeEvidence):
        self._reader = reader

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        comparer = self._reader.comparer(topic)
        if comparer is None:
            return NoStances().apply(topic, ranking)
        found = self._reader.evidence(topic, ranking)
        return replace(ranking, stances=tuple(map(comparer.judged, found)))


class LearnedStances:
    """A stage: labels passages by a model (see `stances_by_model`).

    A topic without two objects gets `NO` throughout.
    """

    def __init__(self, index: IndexReader, model: classifiers.Comparison):
        self._index, self._model = index, model

    @property
    def method(self) -> str:
        """`learned`, and the identity of the model."""
        return f"learned ({self._model.identity()})"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        objects = objects_of(topic)
        if objects is None:
            return NoStances().apply(topic, ranking)
        texts = [record.default_text() for record in self._index.records(ranking.ids)]
        return replace(ranking, stances=tuple(stances_by_model(texts, *objects, self._model)))


class NoStances:
    """A stage: gives all passages the stance `NO`, as the organisers' baseline does."""

    method = "NO throughout"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with the stance."""
        return replace(ranking, stances=("NO",) * len(ranking))


def comparison_model() -> classifiers.Comparison:
    """The model that comes with the package, after a first reading.

    Raises:
        DataError: The model is damaged.
    """
    from sicetnon.arguments.models import classifiers

    model = classifiers.Comparison()
    # it is loaded with the first text; damage must be known before other work
    model.classify(["ready"], "one", "other")
    return model
