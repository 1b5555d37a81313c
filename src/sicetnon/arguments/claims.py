"""The claim of a text: the sentence that states the position of its writer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sicetnon.text.sentences import sentences

_HOLDS = (
    r"i (?:\w+ ){0,2}(?:think|believe|argue|claim|agree|disagree|feel|support|oppose|hold)"
    r"|in my (?:\w+ )?(?:opinion|view)|my (?:own )?(?:opinion|view|position|belief)"
    r"|i am (?:\w+ )?(?:against|for|convinced|of the opinion|in favou?r)"
    r"|from my (?:point of view|perspective)|personally"
)
_OPINION = re.compile(rf"\b(?:{_HOLDS})\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|in conclusion|hence|to sum up|in short)\b", re.IGNORECASE
)
# what may stand before the claim in its sentence
_FRAME = re.compile(
    r"^(?:(?:so|but|and|well|therefore|thus|hence|in conclusion|to sum up|in short|personally"
    r"|(?:in|from) my (?:\w+ )?(?:opinion|view|point of view|perspective)),?\s+)*"
    r"(?:i (?:\w+ ){0,2}(?:think|believe|argue|claim|feel|hold)(?: that)?,?\s+)?",
    re.IGNORECASE,
)
LONGEST_CLAIM = 1_000
"""Characters of a claim that are read; a longer one would take the model seconds."""

_FEWEST_WORDS = 3
# sentences of a short text, and those that are read of a longer one
_SHORT, _READ = 8, 40
# likeness that a cue is worth
_CUED = 0.15


def claim_of(text: str) -> str:
    """The claim of a text, without the words that only say that its writer holds it.

    In a short text it is the last sentence that states an opinion ("I believe that …"), else the
    last that concludes ("therefore …"), else the first. In 1,243 paragraphs of essays, 0.65 of the
    sentences so chosen are claims, 0.50 of the first and 0.38 of the last sentences. In a longer
    text it is the sentence that is most like the text as a whole, those with such words preferred
    (benchmarks/effectiveness/replies.py). A sentence ends after 1,000 characters.
    """
    found = [sentence[:LONGEST_CLAIM] for sentence in sentences(text)]
    whole = [each for each in found if len(each.split()) >= _FEWEST_WORDS] or found or [""]
    if len(whole) > _SHORT:
        return _unframed(_most_central(whole[:_READ]))
    for cue in (_OPINION, _CONCLUSION):
        if cued := [each for each in whole if cue.search(each)]:
            return _unframed(cued[-1])
    return _unframed(whole[0])


def _most_central(found: Sequence[str]) -> str:
    """The sentence whose embedding is closest to the mean of all."""
    # it loads the model
    from sicetnon.arguments.models.classifiers import Embedding

    vectors = Embedding().encode(found)
    cued = [bool(_OPINION.search(each) or _CONCLUSION.search(each)) for each in found]
    mean = vectors.mean(axis=0)
    likeness = vectors @ mean / (np.linalg.norm(mean) or 1.0)
    return found[int((likeness + _CUED * np.array(cued)).argmax())]


def _unframed(sentence: str) -> str:
    """A sentence without its frame ("I think that …"), if a clause follows it."""
    rest = sentence[_FRAME.match(sentence).end() :]  # type: ignore[union-attr]  # it may be empty
    return rest if len(rest.split()) >= _FEWEST_WORDS else sentence
