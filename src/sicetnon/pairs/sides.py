"""The sides of pairs of sentences on the question: the second column of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side.classifier import Side
from sicetnon.arguments.side.statements import is_point
from sicetnon.formats.identifiers import SEPARATOR, argument_of
from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import is_conclusion
from sicetnon.records import UNSTANCED, ProcessedArgument, Ranking, Topic

_STANCES = ("PRO", "CON", UNSTANCED, UNSTANCED)
_OTHER_SIDE = [1, 0, 2, 3]


class RuleSides:
    """A stage: leaves the stances that the pairs have by rules."""

    method = "rules"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking."""
        return ranking


class LearnedSides:
    """A stage: labels pairs with the side of their arguments on the question.

    A pair has the side that is most probable for both sentences together. BOTH and NONE are `Q0`.
    Each argument is read once per topic, however many pairs it is in.

    Args:
        index: An index of processed arguments.
        side: Judges the sides of arguments.
    """

    def __init__(self, index: IndexReader, side: Side):
        self._index, self._side = index, side

    @property
    def method(self) -> str:
        """`learned`, and the identity of the model."""
        return f"learned ({self._side.identity()})"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        pairs = [identifier.split(SEPARATOR) for identifier in ranking.ids]
        sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair))
        arguments = list(dict.fromkeys(map(self._argument, sentences)))
        records = cast("list[ProcessedArgument]", self._index.records(arguments))
        if not records:
            return ranking
        given = [record.argument for record in records]
        found = self._side.probabilities(
            [argument.premise for argument in given],
            topic.title,
            [argument.conclusion for argument in given],
            [argument.stance for argument in given],
            [argument.title for argument in given],
            [argument.resolution for argument in given],
        )
        rows: dict[str, NDArray[np.float32]] = {}
        for record, row in zip(records, found, strict=True):
            rows |= {each.id: _row(each.id, each.text, record, row) for each in record.sentences}
        sides = [
            int(np.sum([rows[sentence] for sentence in pair], axis=0).argmax()) for pair in pairs
        ]
        return replace(ranking, stances=tuple(_STANCES[side] for side in sides))

    def _argument(self, sentence: str) -> str:
        """The id of a sentence's argument; ids of 2021 end in `_sent` and a number."""
        found = argument_of(sentence)
        return found if self._index.number(found) is not None else sentence.rpartition("_")[0]


def ready_side() -> Side:
    """The classifier of sides with the shipped model, after a first reading.

    Raises:
        DataError: The model is damaged.
    """
    side = Side()
    # the model is loaded with the first text; damage must be known before other work
    side.classify(["ready"], "ready?")
    return side


def _row(
    identifier: str, text: str, record: ProcessedArgument, row: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The probabilities of a sentence: its argument's, but a conclusion may be what that denies."""
    argument = record.argument
    denied = argument.stance == "CON" and not is_point(argument.conclusion, argument.resolution)
    return row[_OTHER_SIDE] if denied and is_conclusion(identifier, text, record) else row
