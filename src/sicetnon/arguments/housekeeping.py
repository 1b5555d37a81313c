"""Housekeeping: how much of a text runs the debate instead of arguing in it.

Rounds of a debate often only accept the challenge, thank the opponent or forfeit. They name the
debate's words and are found for it, and no assessor takes them for arguments.
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
    """Housekeeping phrases a hundred words, from 0 to 4.

    Fifty words are added to the length, so that one phrase does not condemn a short text.
    """
    density = 100 * len(_PHRASES.findall(text)) / (len(text.split()) + _SMOOTHING_WORDS)
    return min(density, _MOST)
