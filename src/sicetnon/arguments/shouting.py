"""Shouting: capitals and repeated words, which are typical of spam."""

from __future__ import annotations

import re
import string

_LOOKED_AT = 600
_CALM_CAPITALS = 0.3
_CALM_REPETITION = 0.5
_LINK = re.compile(r"https?:|www\.|>>>", re.IGNORECASE)
_ADVERTISES = re.compile(
    r"\b(?:cheap(?:est)?|buy|order|click|free|sale|hurry|act now|discount\w*|% ?off|offers?|deals?"
    r"|cash|earn|visit|subscribe|download|prices?)\b|\d ?% ?off",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_OTHER_ALPHABETS = re.compile(r"[^\x00-\x7f]")
_CAPITALS, _SMALL_LETTERS = string.ascii_uppercase.encode(), string.ascii_lowercase.encode()
_FEWEST_WORDS, _FEWEST_ADVERTISING, _LONGEST_ADVERT = 8, 3, 40
# shares of repeated words: of a text in capitals, and of any text
_REPEATING, _REPEATS_ALL = 0.3, 0.75
_SHOUTS = 0.5


def shouting(text: str) -> float:
    """The amount of shouting in a text, from 0 to 2, by its first 600 characters.

    The score is the sum of two parts: the share of capitals among the letters, scaled from 0 at
    30% to 1 at 100%, and the share of repeated words, scaled from 0 at 50% to 1 at 100%.
    """
    start = text[:_LOOKED_AT]
    letters, capitals = _letters(start)
    share = capitals / letters if letters else 0.0
    words = start.lower().split()
    repeated = 1 - len(set(words)) / len(words) if words else 0.0
    return _above(share, _CALM_CAPITALS) + _above(repeated, _CALM_REPETITION)


def _letters(text: str) -> tuple[int, int]:
    """The numbers of letters and of capitals in a text."""
    # Python looks at one letter of other alphabets at a time, and at all of these in one go
    plain = text.encode("ascii", "ignore")
    others = _OTHER_ALPHABETS.findall(text) if len(plain) < len(text) else []
    without_capitals = len(plain.translate(None, _CAPITALS))
    without_letters = len(plain.translate(None, _CAPITALS + _SMALL_LETTERS))
    letters = len(plain) - without_letters + sum(map(str.isalpha, others))
    return letters, len(plain) - without_capitals + sum(map(str.isupper, others))


def _above(value: float, calm: float) -> float:
    return max(0.0, (value - calm) / (1 - calm))


def is_spam(text: str) -> bool:
    """Whether a text shouts or advertises instead of arguing, by its first 600 characters.

    It repeats nearly all of its words; or it repeats many and is mostly in capitals; or it is a few
    words of advertising around a link.
    """
    start = text[:_LOOKED_AT]
    words = [word.lower() for word in _WORD.findall(start)]
    if len(words) < _FEWEST_WORDS:
        return False
    repeated = 1 - len(set(words)) / len(words)
    if repeated >= _REPEATS_ALL:
        return True
    capitals = sum(map(str.isupper, start)) / sum(map(str.isalpha, start))
    if repeated >= _REPEATING and capitals >= _SHOUTS:
        return True
    advertises = len(_ADVERTISES.findall(start)) >= _FEWEST_ADVERTISING
    return advertises and len(words) <= _LONGEST_ADVERT and bool(_LINK.search(start))
