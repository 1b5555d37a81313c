"""The stances of passages towards two objects, by the debate model and by the names in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sicetnon.arguments.comparative.comparer import ComparativeStance
from sicetnon.arguments.comparative.mentions import (
    FIRST,
    SECOND,
    Mentions,
    key_of,
    words_of,
    words_of_name,
)

if TYPE_CHECKING:
    from sicetnon.arguments.model.classifiers import Comparison


def stances_by_model(
    texts: Sequence[str], first: str, second: str, model: Comparison
) -> list[ComparativeStance]:
    """The stance of each passage towards two objects. Equal texts are read once.

    The model cannot separate `NEUTRAL` from `NO`: it was trained on answers, nearly all of which
    have a stance, and on sentences whose labels do not separate the two; but most passages that a
    search finds have no stance. Therefore names decide. A passage without a word of either name is
    `NO`, and is not read. If the model finds no side, a passage that names both objects is
    `NEUTRAL`, any other `NO`.

    Args:
        texts: The passages.
        first: The name of an object.
        second: The name of the other.
        model: The classifier.
    """
    mentions = Mentions(first, second)
    names = {key_of(word) for name in (first, second) for word in words_of_name(name)}
    sideless: dict[str, ComparativeStance] = {}
    for text in dict.fromkeys(texts):
        words = words_of(text)
        keys = [key_of(word) for word in words]
        if not names.isdisjoint(keys):
            both = {FIRST, SECOND} <= set(mentions.marked(words, keys))
            sideless[text] = "NEUTRAL" if both else "NO"
    labels = model.classify(list(sideless), first, second)
    found = {
        text: _side(label) or otherwise
        for (text, otherwise), label in zip(sideless.items(), labels, strict=True)
    }
    return [found.get(text, "NO") for text in texts]


def _side(label: str) -> ComparativeStance | None:
    return "FIRST" if label == "FIRST" else "SECOND" if label == "SECOND" else None
