"""Questions with conclusions near to them, which nobody has judged: what a search brings up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from recipe.baselines import frozen
from recipe.examples import Example
from recipe.overlap import near_duplicates
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, plain

NEAREST = 14
"""Conclusions for each question."""

_ASKED = (
    "conclusions", "more-conclusions", "reworded", "written", "more-written", "written-reasons",
    "debatepedia-claims", "debatepedia-questions", "key-points", "perspectrum", "iam-claims",
)  # fmt: skip
_MOST_WORDS = 24


def nearby(found: Sequence[Example], datasets: Sequence[str]) -> Iterator[Example]:
    """Short texts with the questions and claims of training examples that are near to them.

    The texts are those of training examples and the conclusions of args.me arguments. None nearly
    is a text that is held out, except that a conclusion may stand under a held-out question, too.

    Args:
        found: The examples.
        datasets: The data sets that are learnt; the questions of others are left out.
    """
    asked = [e for e in found if e.head == "stance" and e.split == "train" and e.dataset in _ASKED]
    known: dict[str, set[str]] = defaultdict(set)
    for each in asked:
        known[each.context].add(each.text)
    questions = sorted({each.context for each in asked if each.dataset in datasets})
    texts = _short({each.text for each in asked})
    folder = data_folder() / "touche-2020-task-1/input"
    texts |= _short({plain(each.conclusion) for each in arguments_of(folder)})
    held = [e.text for e in found if e.head == "stance" and e.split == "held-out"
            and e.dataset not in _ASKED[:3]]  # fmt: skip
    ordered = sorted(texts)
    dropped = near_duplicates(ordered, held)
    ordered = [text for place, text in enumerate(ordered) if place not in dropped]
    near = frozen(questions) @ frozen(ordered).T
    for question, row in zip(questions, near, strict=True):
        best = np.argsort(-row)[: NEAREST + len(known[question])]
        others = [ordered[place] for place in best if ordered[place] not in known[question]]
        for text in others[:NEAREST]:
            yield Example("stance", "nearby", text, 2.0, question, context=question)


def _short(texts: set[str]) -> set[str]:
    return {text for text in texts if 2 <= len(text.split()) <= _MOST_WORDS}
