"""Stances: the second column of a comparative run, which never reorders it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sicetnon.arguments.comparative.model_stances import stances_by_model
from sicetnon.arguments.comparative.questions import objects_of
from sicetnon.errors import MissingExtraError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.records import Ranking, Topic

if TYPE_CHECKING:
    from sicetnon.arguments.model import classifiers


class Stances:
    """A stage: says of every passage which of the two objects it favours, by rules.

    A topic without two objects gets `NO` throughout.
    """

    method = "rules"

    def __init__(self, evidence: ComparativeEvidence):
        self._evidence = evidence

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        comparer = self._evidence.comparer(topic)
        if comparer is None:
            return replace(ranking, stances=("NO",) * len(ranking))
        found = self._evidence.evidence(topic, ranking)
        return replace(ranking, stances=tuple(map(comparer.judged, found)))


class LearnedStances:
    """A stage: the same by a model (see `sicetnon.arguments.comparative.model_stances`).

    A topic without two objects gets `NO` throughout.

    Args:
        index: Where the texts are.
        model: What reads them (see `comparing_model`).
    """

    def __init__(self, index: IndexReader, model: classifiers.Comparison):
        self._index, self._model = index, model

    @property
    def method(self) -> str:
        """That it is learned, and which model says it."""
        return f"learned ({self._model.identity()})"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        objects = objects_of(topic)
        if objects is None:
            return replace(ranking, stances=("NO",) * len(ranking))
        texts = [record.default_text() for record in self._index.records(ranking.ids)]
        return replace(ranking, stances=tuple(stances_by_model(texts, *objects, self._model)))


class SameStance:
    """A stage: gives all passages one stance, as the organisers' baseline does."""

    def __init__(self, stance: str = "NO"):
        self._stance = stance
        self.method = f"{stance} throughout"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with the stance."""
        return replace(ranking, stances=(self._stance,) * len(ranking))


def comparing_model() -> classifiers.Comparison:
    """The model that comes with the package, ready to read.

    Raises:
        DataError: The model is damaged.
        MissingExtraError: What runs it is not installed.
    """
    from sicetnon.arguments.model import classifiers

    model = classifiers.Comparison()
    try:
        # what is missing is to be known now, not when everything else is done
        model.classify(["ready"], "one", "other")
    except MissingExtraError:
        raise MissingExtraError("The learned stance", "model") from None
    return model
