"""What the model learns from: one example a judged text, whatever data set it stems from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Head = Literal["quality", "argumentativeness", "stance", "comparison", "embedding"]
Split = Literal["train", "validation", "held-out"]

STANCES = ("PRO", "CON", "NONE")
COMPARISONS = ("FIRST", "SECOND", "NEUTRAL", "NO")
_OTHER_SIDE = {0.0: 1.0, 1.0: 0.0}
EITHER_NEUTRAL_OR_NO = 4
"""The label of a sentence that takes neither side, where nobody said in which of the two ways."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its label.

    Attributes:
        head: Which head learns it.
        dataset: Where it is from.
        text: The text.
        label: A quality from 0 to 1, or the number of a class.
        group: What it must not be divided by: its topic, question, essay or pair of objects.
        context: The topic or claim of a stance; empty otherwise.
        first: An object of a comparison.
        second: The other.
        split: Which part it is in.
        votes: The share of each class, where judges differ or a teacher said so; the last of a
            comparison's three is that of NEUTRAL and NO together. Empty otherwise.
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
    """The example with its two sides exchanged; one that takes none stays as it is."""
    label = _OTHER_SIDE.get(example.label, example.label)
    votes = (*example.votes[1::-1], *example.votes[2:])
    return replace(example, label=label, votes=votes)
