"""Questions and claims with texts near to them, which nobody has judged: what a search finds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from recipe.baselines import frozen
from recipe.examples import Example
from recipe.overlap import near_duplicates
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, plain

NEAREST = 14
"""Texts for each question."""

MORE, CLAIMS = 30, 6_000
"""Texts for each question of `more_nearby`, and texts that are claims there."""

_ASKED = (
    "conclusions", "more-conclusions", "reworded", "written", "more-written", "written-reasons",
    "debatepedia-claims", "debatepedia-questions", "key-points", "perspectrum", "iam-claims",
)  # fmt: skip
_MOST_WORDS = 24
_AT_ONCE = 500


def nearby(found: Sequence[Example], datasets: Sequence[str]) -> Iterator[Example]:
    """Short texts with the questions and claims of training examples that are near to them.

    The texts are those of training examples and the conclusions of args.me arguments. None nearly
    is a text that is held out, except that a conclusion may stand under a held-out question, too.

    Args:
        found: The examples.
        datasets: The data sets that are learnt; the questions of others are left out.
    """
    known = _known(found)
    yield from _nearest("nearby", _questions(found, datasets), _texts(found), known, NEAREST)


def more_nearby(found: Sequence[Example], datasets: Sequence[str]) -> Iterator[Example]:
    """As `nearby`, more texts for each question; some of the texts are claims, too.

    Args:
        found: The examples.
        datasets: The data sets that are learnt; the questions of others are left out.
    """
    known, texts = _known(found), _texts(found)
    claims = random.Random(CLAIMS).sample(texts, min(CLAIMS, len(texts)))
    for claim in claims:
        known[claim].add(claim)
    yield from _nearest("more-nearby", _questions(found, datasets), texts, known, MORE)
    yield from _nearest("more-nearby", claims, texts, known, MORE // 3)


def _asked(found: Sequence[Example]) -> list[Example]:
    return [e for e in found if e.head == "stance" and e.split == "train" and e.dataset in _ASKED]


def _questions(found: Sequence[Example], datasets: Sequence[str]) -> list[str]:
    return sorted({each.context for each in _asked(found) if each.dataset in datasets})


def _known(found: Sequence[Example]) -> dict[str, set[str]]:
    """The texts that were judged, by their questions."""
    known: dict[str, set[str]] = defaultdict(set)
    for each in _asked(found):
        known[each.context].add(each.text)
    return known


def _texts(found: Sequence[Example]) -> list[str]:
    """Short texts, none of which nearly is one that is held out."""
    texts = _short({each.text for each in _asked(found)})
    folder = data_folder() / "touche-2020-task-1/input"
    texts |= _short({plain(each.conclusion) for each in arguments_of(folder)})
    held = [e.text for e in found if e.head == "stance" and e.split == "held-out"
            and e.dataset not in _ASKED[:3]]  # fmt: skip
    ordered = sorted(texts)
    dropped = near_duplicates(ordered, held)
    return [text for place, text in enumerate(ordered) if place not in dropped]


def _nearest(
    dataset: str,
    questions: Sequence[str],
    texts: Sequence[str],
    known: Mapping[str, set[str]],
    count: int,
) -> Iterator[Example]:
    """Each question with the texts that are nearest to it, without those that were judged."""
    vectors = frozen(texts).T
    for first in range(0, len(questions), _AT_ONCE):
        some = questions[first : first + _AT_ONCE]
        for question, row in zip(some, frozen(some) @ vectors, strict=True):
            judged = known.get(question, set())
            best = np.argsort(-row)[: count + len(judged)]
            others = [texts[place] for place in best if texts[place] not in judged]
            for text in others[:count]:
                yield Example("stance", dataset, text, 2.0, question, context=question)


def _short(texts: set[str]) -> set[str]:
    return {text for text in texts if 2 <= len(text.split()) <= _MOST_WORDS}
