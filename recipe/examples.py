"""Training examples: one record for each judged text, of any data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Head = Literal["quality", "argumentativeness", "stance", "comparison", "embedding"]
Split = Literal["train", "validation", "held-out"]

_OTHER_SIDE = {0.0: 1.0, 1.0: 0.0}
EITHER_NEUTRAL_OR_NO = 4
"""The label of a sentence that takes no side, if NEUTRAL and NO were not distinguished."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its label.

    Attributes:
        head: The head that it trains.
        dataset: Its data set.
        text: The text.
        label: A quality from 0 to 1, or the number of a class.
        group: The unit that a split must not divide: topic, question, essay or pair of objects.
        context: The topic or claim of a stance, or the question of a passage; empty otherwise.
        first: An object of a comparison.
        second: The other.
        split: Its split.
        votes: The share of each class, from judges' votes or from a teacher; a comparison's third
            share is that of NEUTRAL and NO together. Empty otherwise.
    """

    head: Head
    dataset: str
    text: str
    label: float
    group: str
    context: str = ""
    first: str = ""
    second: str = ""
    split: Split = "train"
    votes: tuple[float, ...] = ()


def turned_round(example: Example) -> Example:
    """The example with its two sides exchanged; one without a side stays unchanged."""
    label = _OTHER_SIDE.get(example.label, example.label)
    votes = (*example.votes[1::-1], *example.votes[2:])
    return replace(example, label=label, votes=votes)
