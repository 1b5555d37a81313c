"""Reword sentences on two objects, for a teacher to label.

A small network learns from a larger one what it says of many texts, and few sentences are judged
(Jiao et al. 2020, section 4.3, exchange words for the same reason).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from recipe.examples import Example
from recipe.network import original_words, tokenizer
from sicetnon.arguments.comparative.mentions import FIRST, SECOND, Mentions, words_of

_SEED = 6
_COPIES, _COPIES_OF_SIDED = 3, 6
_NEAREST = 8
_LEAST_TIMES = 4
_MOST_EXCHANGED = 0.35
_LEFT_OUT = 0.05
_OTHER_OBJECTS = 0.5


def reworded(found: Sequence[Example]) -> Iterator[Example]:
    """Copies of sentences with words replaced by words of similar use.

    Args:
        found: Sentences on two objects; those that take a side are copied twice as often. A copy
            is in the group of its sentence, and of the data set `unjudged`.
    """
    rng = random.Random(_SEED)
    words = [Mentions(each.first, each.second).marked(words_of(each.text)) for each in found]
    alike = _alike(words)
    for each, own in zip(found, words, strict=True):
        for _ in range(_COPIES_OF_SIDED if each.label in (0, 1) else _COPIES):
            first, second = each.first, each.second
            if rng.random() < _OTHER_OBJECTS:
                other = rng.choice(found)
                first, second = other.first, other.second
            text = " ".join(_exchanged(own, {FIRST: first, SECOND: second}, alike, rng))
            yield replace(each, dataset="unjudged", text=text, first=first, second=second, votes=())


def _exchanged(
    words: Sequence[str], names: dict[str, str], alike: dict[str, list[str]], rng: random.Random
) -> Iterator[str]:
    share = rng.uniform(0.1, _MOST_EXCHANGED)
    for word in words:
        drawn = rng.random()
        if word in names:
            yield names[word]
        elif drawn < share and word in alike:
            yield rng.choice(alike[word])
        elif drawn < 1 - _LEFT_OUT or not word.isalpha():
            yield word


def _alike(texts: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """For each word of the texts in the vocabulary, the words with the nearest vectors."""
    counts = Counter(word for words in texts for word in words if word.islower())
    number = tokenizer().token_to_id
    known = sorted(w for w, c in counts.items() if c >= _LEAST_TIMES and number(w) is not None)
    vectors = original_words()[[number(word) for word in known]].numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    nearest = np.argsort(-cosines, axis=1)[:, :_NEAREST]
    return {word: [known[p] for p in row] for word, row in zip(known, nearest, strict=True)}
