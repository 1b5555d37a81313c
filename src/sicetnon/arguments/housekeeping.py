"""Housekeeping phrases: accepting a challenge, thanking the opponent, forfeiting a round.

Rounds of a debate that have only such phrases repeat the words of the debate, so a search finds
them, but assessors do not judge them to be arguments.
"""

from __future__ import annotations

import re

from sicetnon.text.sentences import sentences

_PHRASES = re.compile(
    r"\b(?:i accept|accepted|acceptance|first round|good luck|look(?:ing)? forward|forfeit\w*"
    r"|extend (?:all )?(?:my )?arguments|thank(?:s| you| my)?|my opponent)\b"
)
_SMOOTHING_WORDS = 50
_MOST = 4.0
# a sentence that has one of these says nothing of the matter, unless it is long
_PART = r"(?:arguments?|points?|contentions?|case|rebuttals?|r(?:ound )?\d)"
_RUNS_THE_DEBATE = re.compile(
    rf"\b(?:forfeit\w*|extend(?:s|ed|ing)? (?:all |both |my |of |the |these |those )*{_PART}"
    r"|extend all|(?:arguments?|points?) extended"
    r"|(?:see|refer to|read) (?:all )?(?:of )?(?:my|the|our) (?:\w+ )?(?:arguments?|posts?|points?)"
    r"|i (?:will |gladly |hereby |happily )*accept|(?:challenge|debate) accepted|acceptance"
    r"|accept (?:this|the|your|my) (?:\w+ )?(?:debate|challenge)"
    r"|(?:first|next|last|final|this) round|rounds? (?:\d|one|two|three|four|five)"
    r"|(?:good|best of) luck|look(?:ing)? forward to|thank(?:s| you)|nice try"
    r"|(?:good|fun|interesting|enjoyable) debate|well (?:done|played|argued)|i rest my case"
    r"|vote (?:for )?(?:pro|con|me)|i concede|(?:pro|con) (?:has )?(?:dropped|conceded)"
    r"|agree with (?:my opponent|the previous speaker)|i (?:think i )?(?:win|won|give up)"
    r"|my opponent (?:has |did |does )?(?:not |never )?(?:respond|repl|post|conced|quit|left)\w*"
    r"|(?:no|nothing) (?:more|else|further) to (?:say|add)|(?:cannot|can't) argue further)\b"
    r"|^\W*accepted\b",
    re.IGNORECASE,
)
_LONGEST_HOUSEKEEPING = 25
_LONGEST_READ = 1500
# words that must be left to argue with
_ARGUES = 8


def housekeeping(text: str) -> float:
    """Housekeeping phrases per hundred words, at most 4.

    Fifty words are added to the length, so that one phrase does not dominate a short text.
    """
    # half the time of a pattern that ignores case
    found = _PHRASES.findall(text.lower())
    density = 100 * len(found) / (len(text.split()) + _SMOOTHING_WORDS)
    return min(density, _MOST)


def _runs_a_debate(sentence: str) -> bool:
    """Whether a short sentence forfeits, extends, greets, thanks, accepts or asks for votes."""
    return len(sentence.split()) <= _LONGEST_HOUSEKEEPING and bool(
        _RUNS_THE_DEBATE.search(sentence)
    )


def is_housekeeping(text: str) -> bool:
    """Whether a text only runs a debate: nothing is left that could argue.

    Of a text with a sentence that forfeits, extends, greets, thanks or accepts, fewer than eight
    words are in other sentences.
    """
    if len(text) > _LONGEST_READ:
        return False
    kept, running = 0, False
    for sentence in sentences(text):
        if _runs_a_debate(sentence):
            running = True
        else:
            kept += len(sentence.split())
    return running and kept < _ARGUES
