"""Housekeeping phrases: accepting a challenge, thanking the opponent, forfeiting a round.

Rounds of a debate that have only such phrases repeat the words of the debate, so a search finds
them, but assessors do not judge them to be arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sicetnon.text.sentences import sentences

# the beginning of each phrase, for which a text is searched first, and what may follow
_PHRASES = {
    "i accept": "",
    "accept": "(?:ed|ance)",
    "first round": "",
    "good luck": "",
    "look": "(?:ing)? forward",
    "forfeit": r"\w*",
    "extend": " (?:all )?(?:my )?arguments",
    "thank": "(?:s| you| my)?",
    "my opponent": "",
}
_PHRASE = re.compile(rf"\b(?:{'|'.join(map(''.join, _PHRASES.items()))})\b")
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
    # a pattern that ignores case takes twice the time
    found = _phrases(text.lower())
    density = 100 * found / (len(text.split()) + _SMOOTHING_WORDS) if found else 0.0
    return min(density, _MOST)


def _phrases(text: str) -> int:
    """The number of phrases in a text of small letters, as `_PHRASE.findall` would find them.

    To try the pattern at every letter takes three times as long as to look for their beginnings.
    """
    begins = sorted(begin for opening in _PHRASES for begin in _places(opening, text))
    found = end = 0
    for begin in begins:
        if begin >= end and (match := _PHRASE.match(text, begin)):
            found, end = found + 1, match.end()
    return found


def _places(part: str, text: str) -> Iterator[int]:
    """The positions at which a text has a part."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


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
