"""Questions with conclusions near to them, which nobody has judged: what a search brings up."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from recipe.baselines import frozen
from recipe.examples import Example
from recipe.overlap import near_duplicates
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, plain

_ASKED = (
    "conclusions", "more-conclusions", "reworded", "written", "more-written", "written-reasons",
    "debatepedia-claims", "debatepedia-questions", "key-points", "perspectrum", "iam-claims",
    "read", "asked",
)  # fmt: skip
_MOST_WORDS = 24
_FOR_A_CLAIM = 10


def nearby(
    found: Sequence[Example], datasets: Sequence[str], nearest: int, claims: int
) -> Iterator[Example]:
    """Short texts with the questions and claims that are near to them.

    The texts are those of training examples and the conclusions of args.me arguments. None nearly
    is a text that is held out, except that a conclusion may stand under a held-out question, too.

    Args:
        found: The examples.
        datasets: The data sets that are learnt; the questions of others are left out.
        nearest: The number of texts for each question or claim of a training example.
        claims: The number of texts that are taken for claims, with ten others for each.
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
    vectors = frozen(ordered)
    claimed = random.Random(claims).sample(ordered, claims)
    for contexts, most in ((questions, nearest), (claimed, _FOR_A_CLAIM)):
        for context, row in zip(contexts, frozen(contexts) @ vectors.T, strict=True):
            left_out = {*known.get(context, ()), context}
            best = np.argsort(-row)[: most + len(left_out)]
            others = [ordered[place] for place in best if ordered[place] not in left_out]
            for text in others[:most]:
                yield Example("stance", "nearby", text, 2.0, context, context=context)


def _short(texts: set[str]) -> set[str]:
    return {text for text in texts if 2 <= len(text.split()) <= _MOST_WORDS}
