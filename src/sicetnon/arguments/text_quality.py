"""Texts that are no arguments: spam, shouting, and the housekeeping of a debate.

Capitals and repeated words are typical of spam. Housekeeping phrases accept a challenge, thank the
opponent or forfeit a round. Rounds of a debate that have only such phrases repeat the words of the
debate, so a search returns them, but assessors do not judge them to be arguments.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from sicetnon.text.sentences import sentences

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
    begins = sorted(begin for opening in _PHRASES for begin in _positions(opening, text))
    found = end = 0
    for begin in begins:
        if begin >= end and (match := _PHRASE.match(text, begin)):
            found, end = found + 1, match.end()
    return found


def _positions(part: str, text: str) -> Iterator[int]:
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
