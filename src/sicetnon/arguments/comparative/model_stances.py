"""Favouring: which of two objects passages favour, by a model, and by names what it cannot tell."""

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
    """The stance of each passage towards two objects. Each text is asked of once.

    What the model learns from are answers to the very question, hardly one without any stance, and
    sentences whose labels do not tell `NEUTRAL` from `NO`. Most passages that are found for a
    question have none. So names decide what the model cannot tell: a passage without any word of
    either name is `NO`, unread; where the model sees no side, one that names both is `NEUTRAL`,
    any other `NO`.

    Args:
        texts: The passages.
        first: The name of an object.
        second: The name of the other.
        model: What reads them.
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
