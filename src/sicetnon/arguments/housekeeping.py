"""Housekeeping phrases: accepting a challenge, thanking the opponent, forfeiting a round.

Rounds of a debate that have only such phrases repeat the words of the debate, so a search finds
them, but assessors do not judge them to be arguments.
"""

from __future__ import annotations

import re

_PHRASES = re.compile(
    r"\b(?:i accept|accepted|acceptance|first round|good luck|look(?:ing)? forward|forfeit\w*"
    r"|extend (?:all )?(?:my )?arguments|thank(?:s| you| my)?|my opponent)\b",
    re.IGNORECASE,
)
_SMOOTHING_WORDS = 50
_MOST = 4.0


def housekeeping(text: str) -> float:
    """Housekeeping phrases per hundred words, at most 4.

    Fifty words are added to the length, so that one phrase does not dominate a short text.
    """
    density = 100 * len(_PHRASES.findall(text)) / (len(text.split()) + _SMOOTHING_WORDS)
    return min(density, _MOST)
