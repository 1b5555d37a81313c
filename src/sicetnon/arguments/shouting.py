"""Shouting: capitals and repeated words, which are typical of spam."""

from __future__ import annotations

_LOOKED_AT = 600
_CALM_CAPITALS = 0.3
_CALM_REPETITION = 0.5


def shouting(text: str) -> float:
    """The amount of shouting in a text, from 0 to 2, by its first 600 characters.

    The score is the sum of two parts: the share of capitals among the letters, scaled from 0 at
    30% to 1 at 100%, and the share of repeated words, scaled from 0 at 50% to 1 at 100%.
    """
    start = text[:_LOOKED_AT]
    letters = sum(map(str.isalpha, start))
    capitals = sum(map(str.isupper, start)) / letters if letters else 0.0
    words = start.lower().split()
    repeated = 1 - len(set(words)) / len(words) if words else 0.0
    return _above(capitals, _CALM_CAPITALS) + _above(repeated, _CALM_REPETITION)


def _above(value: float, calm: float) -> float:
    return max(0.0, (value - calm) / (1 - calm))
