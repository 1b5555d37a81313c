"""The side of a text by the sentences that say most about the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side import words
from sicetnon.arguments.side.evidence import EvidenceReader
from sicetnon.arguments.sides import content_stems_of_each
from sicetnon.arrays import Reals
from sicetnon.text.sentences import sentences

_READ = 10
_LEAST_WORDS, _MOST_WORDS = 3, 60
_SIDELESS = 6.9
"""The log odds of taking no side of a text without a sentence: `logit` of 1."""
_END_LETTERS = 6_000
"""Letters at each end of a text among which sentences are looked for."""


def read_sentences(
    reader: EvidenceReader,
    texts: Sequence[str],
    questions: Sequence[str],
    wanted: NDArray[np.bool_],
) -> tuple[Reals, Reals]:
    """The side of texts by the sentences of each that share most stems with its question.

    Args:
        reader: Reads with the model.
        texts: Any texts.
        questions: A question for each.
        wanted: Mask of the texts to read, shape (texts,); the others get 0.

    Returns:
        Two arrays of shape (texts,). The mean over the sentences of the square of their log odds,
        with the sign of these: sentences that are sure count most. The least log odds of a
        sentence's taking no side; 6.9 for a text without sentences.
    """
    leaning, sideless = np.zeros(len(texts)), np.zeros(len(texts))
    places = np.flatnonzero(wanted).tolist()
    chosen = [sentences_about(texts[place], questions[place]) for place in places]
    asked = [questions[place] for place, own in zip(places, chosen, strict=True) for _ in own]
    odds, none = reader.statements([each for own in chosen for each in own], asked)
    begin = 0
    for place, own in zip(places, chosen, strict=True):
        found, begin = slice(begin, begin + len(own)), begin + len(own)
        leaning[place] = (odds[found] * np.abs(odds[found])).sum() / max(len(own), 1)
        sideless[place] = min([_SIDELESS, *none[found].tolist()])
    return leaning, sideless


def sentences_about(text: str, question: str) -> list[str]:
    """At most ten sentences of a text that share most stems with a question, in their order.

    Of sentences that share as many stems, the first are taken. Sentences of fewer than three words
    are left out, and those of more than 60 words are cut. Of a long text the beginning and the end
    are read.
    """
    if len(text) > 2 * _END_LETTERS:
        text = f"{text[:_END_LETTERS]}\n\n{text[-_END_LETTERS:]}"
    found = [words.separate(sentence)[:_MOST_WORDS] for sentence in sentences(text)]
    read = [
        " ".join(each)[: words.WORD_LETTERS * _MOST_WORDS]
        for each in found
        if len(each) >= _LEAST_WORDS
    ]
    asked = words.stems(question)
    shared = [len(asked & stems) for stems in content_stems_of_each(read)]
    best = sorted(range(len(read)), key=lambda place: -shared[place])[:_READ]
    return [read[place] for place in sorted(best)]
