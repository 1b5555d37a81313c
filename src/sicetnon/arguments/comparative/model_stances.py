"""The stances of passages towards two objects, by the debate model, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.mentions import FIRST, SECOND, Mentions, key_of, words_of
from sicetnon.records import ComparativeStance
from sicetnon.text.sentences import sentences

if TYPE_CHECKING:
    from sicetnon.arguments.model.classifiers import Comparison

Floats: TypeAlias = NDArray[np.float32]
_MOST_WORDS = 60
# chosen on 275 passages that a large language model labelled; finer ones would be chance
_TAKES_A_SIDE, _SPEAKS_FOR, _IN_BALANCE = 0.7, 0.3, 0.2


def stances_by_model(
    texts: Sequence[str], first: str, second: str, model: Comparison
) -> list[ComparativeStance]:
    """The stance of each passage towards two objects. Equal texts are read once.

    Most passages that a search finds take no stance, and the model, which learnt from answers that
    compare, calls them `NEUTRAL` as a whole. Therefore single sentences decide. A passage without a
    sentence that names an object is `NO`. It takes a side if a sentence does, and if the passage as
    a whole leans to one: the sum of the two (the highest probability of a side, and the difference
    of the two sides) is over 0.7. The mean of the sentences tells which. A passage with sentences
    for either object, whose mean is in balance, is `NEUTRAL`.
    """
    mentions = Mentions(first, second)
    naming = {text: _naming(text, mentions) for text in dict.fromkeys(texts)}
    read = list(dict.fromkeys(part for text, own in naming.items() if own for part in (text, *own)))
    rows = dict(zip(read, model.probabilities(read, first, second), strict=True))
    found = {
        text: _stance(rows[text], np.stack([rows[part] for part in own]))
        for text, own in naming.items()
        if own
    }
    return [found.get(text, "NO") for text in texts]


def _naming(text: str, mentions: Mentions) -> list[str]:
    """The beginnings of the sentences that name an object."""
    found = []
    for sentence in sentences(text):
        words = words_of(sentence)
        if {FIRST, SECOND} & set(mentions.marked(words, [key_of(word) for word in words])):
            found.append(" ".join(sentence.split()[:_MOST_WORDS]))
    return found


def _stance(whole: Floats, singles: Floats) -> ComparativeStance:
    """The stance of a passage.

    Args:
        whole: The probabilities of `COMPARISONS` for the passage, shape (4,).
        singles: Those of its sentences, shape (sentences, 4).
    """
    sides = singles[:, :2]
    mean = float((sides[:, 0] - sides[:, 1]).mean())
    if sides.max(axis=0).min() > _SPEAKS_FOR and abs(mean) < _IN_BALANCE:
        return "NEUTRAL"
    strength = float(sides.sum(axis=1).max()) + abs(float(whole[0] - whole[1]))
    if strength <= _TAKES_A_SIDE or mean == 0:
        return "NO"
    return "FIRST" if mean > 0 else "SECOND"
