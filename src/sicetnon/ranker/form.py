"""Features of an argument's form: what its text alone tells of its strength."""

from __future__ import annotations

import math
import re

from sicetnon.arguments.argumentativeness import CUES
from sicetnon.arguments.housekeeping import housekeeping

_ENOUGH_WORDS = 400
_SMOOTHING_WORDS = 50
_LINK = re.compile(r"https?:|www\.")
_NUMBER = re.compile(r"\d+")
_QUOTATION = re.compile(r'"[^"\n]{20,2000}"|“[^”]{20,2000}”')
# in small letters: to look for them in any case takes three times as long
_DEBATE = re.compile(
    r"\b(?:vote (?:pro|con|for)|rebuttal|round \w+|opponent|resolution|refut\w+|dropped|extend\w*"
    r"|forfeit\w*|debate|con's|pro's|voters?|judges?|sources?)\b"
)
_YOU = re.compile(r"\byou(?:r|rs|'re)?\b")
_I = re.compile(r"\b(?:i|my|me)\b")
_CLAIM = re.compile(CUES["claims"].pattern)


def form_features(text: str) -> dict[str, float]:
    """The features of a text's form by name; `FEATURES` has their meaning.

    What is counted per hundred words has fifty words added to the length, so that one phrase does
    not dominate a short text.
    """
    words, small = text.split(), text.lower()
    count = len(words)

    def density(number: int) -> float:
        return 100 * number / (count + _SMOOTHING_WORDS)

    return {
        "length": math.log1p(min(count, _ENOUGH_WORDS)),
        "word_length": min(sum(map(len, words)) / max(count, 1), 20.0),
        "numbers": math.log1p(len(_NUMBER.findall(text))),
        "links": math.log1p(len(_LINK.findall(text))),
        "quotation": sum(len(part) for part in _QUOTATION.findall(text)) / max(len(text), 1),
        "debate_talk": density(len(_DEBATE.findall(small))),
        "housekeeping": housekeeping(text),
        "second_person": density(len(_YOU.findall(small))),
        "first_person": density(len(_I.findall(small))),
        "claims": density(len(_CLAIM.findall(small))),
        "questions": density(text.count("?")),
    }
