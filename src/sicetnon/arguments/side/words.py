"""Cues for the side in the words of questions, conclusions and texts, without a model."""

from __future__ import annotations

import functools
import re

from sicetnon.arguments.sides import TURNING, content_stems
from sicetnon.text.unicode import IDEOGRAPH_RANGES

_IDEOGRAPH = re.compile(
    "[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in IDEOGRAPH_RANGES) + "]"
)
WORD_LETTERS = 20
"""Letters for a word, more than words have in the mean. A text has no more words than its letters
allow, so that one without blanks is read in part, too."""
_NEGATIONS = re.compile(r"\b(?:not|no|never|cannot|without|none|nor|\w+n['’]t)\b", re.IGNORECASE)
_TURNS = re.compile(
    rf"\b(?:{TURNING}|detriment\w*|scrap\w*|brutal|unsuitable|antithetical)\b", re.IGNORECASE
)
_PRAISE = re.compile(
    r"\b(?:should|allow\w*|legal\w*|good|better|best|right|support\w*|justif\w*|benefi\w*"
    r"|necessary|must|need\w*|save\w*|keep|fund\w*|protect\w*|accept\w*|moral|ethical"
    r"|compulsory|mandatory)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\W*(?:should|is|are|do|does|can|did|would)\b", re.IGNORECASE)
_WEIGHS = re.compile(
    r"\bon (?:the )?(?:one|other) hand\b|\bpros and cons\b|\bboth sides (?:have|are|of)\b"
    r"|\b(?:dis)?advantages and (?:its |their )?(?:dis)?advantages\b"
    r"|\b(?:benefits?|good) and (?:its |their |the )?(?:harms?|drawbacks?|costs|risks|bad)\b"
    r"|\bneither (?:wholly |simply )?(?:good|right|for) n?or\b|\bit depends\b",
    re.IGNORECASE,
)

_SIDE = r"(?:pro|aff|affirmative|proposition|prop)"
_OTHER = r"(?:con|neg|negative|opposition)"
_DOES = (
    r"(?:['’]s| (?:says|said|states|stated|claims|claimed|argues|argued|arguments?|has|had|also"
    r"|never|did|does|fails|failed|dropped|brings|forfeit\w*|asserts|must|rebut\w*|contends|wants))"
)
_VOTE, _STAND = (
    r"\b(?:votes?|voting|ballot)\b[^.!?]{0,25}\b",
    r"\b(?:i am|i'm|i will be|as) (?:the )?",
)
_THEREFORE = r"\b(?:i|we|must|to|and|therefore|thus|please) (?:strongly |hereby |firmly )?"
_RESOLUTION = r"\bresolution (?:is |has been |should be |stands )?"
# what debaters say of themselves, of their opponent and to the voters
_OWN = tuple(
    (re.compile(pattern, re.IGNORECASE), weight)
    for pattern, weight in (
        (rf"{_VOTE}{_SIDE}\b", 1.0),
        (rf"{_THEREFORE}affirm\b|{_RESOLUTION}(?:upheld|affirmed|true)\b|{_STAND}{_SIDE}\b", 1.0),
        (rf"\b{_OTHER}{_DOES}\b|\b(?:thank|thanks to) (?:the )?{_OTHER}\b|\bcon (?:for|,)", 1.0),
        (
            r"\bfirst round (?:is |for |will be )?(?:just |only )?(?:for )?acceptance\b"
            r"|\bfor accepting\b|\bgood luck to (?:my opponent|whoever|con)\b",
            0.5,
        ),
        (rf"{_VOTE}(?:{_OTHER}|against)\b", -1.0),
        (
            rf"{_THEREFORE}negate\b|{_RESOLUTION}(?:negated|false|refuted)\b|{_STAND}{_OTHER}\b",
            -1.0,
        ),
        (rf"\b{_SIDE}{_DOES}\b|\b(?:thank|thanks to) (?:the )?{_SIDE}\b|\bpro (?:for|,)", -1.0),
        (r"\bi (?:will |gladly |hereby )?accept\b|\baccept (?:this|the|your) debate\b", -0.5),
    )
)
# stems of verbs that say little
_LIGHT = frozenset({"make", "get", "becom", "give", "let", "caus"})
_FEWEST_REPEATED = 3
_ENDS = 150
_LONG = 500


def turns(statement: str) -> int:
    """The number of words that reverse the demand of a statement."""
    return len(_TURNS.findall(statement))


def direction(statement: str) -> float:
    """-1 where the demand of a statement is reversed, else 1."""
    return -1.0 if turns(statement) % 2 else 1.0


def negations(statement: str) -> int:
    """The number of negations."""
    return len(_NEGATIONS.findall(statement))


def praise(statement: str) -> int:
    """The number of words that demand or value."""
    return len(_PRAISE.findall(statement))


def asks(statement: str) -> bool:
    """Whether a statement has the form of a yes/no question."""
    return _ASKS.match(statement) is not None


def weighs(text: str) -> bool:
    """Whether a text says that it weighs both sides."""
    return _WEIGHS.search(text) is not None


def repeats(statement: str, claim: str) -> bool:
    """Whether a statement says a claim again: in its words alone, three and more, not reversed.

    Of 794 labelled pairs of a claim and a conclusion, all seven such conclusions are for the claim.
    """
    if claim.rstrip().endswith("?") or statement.rstrip().endswith("?") or asks(claim):
        return False
    own = stems(statement) - _LIGHT
    same = len(own) >= _FEWEST_REPEATED and own <= stems(claim)
    return same and direction(statement) == direction(claim)


def own_words(text: str) -> float:
    """The stance towards the resolution by a debater's words, from -2 (CON) to 2 (PRO).

    "Vote Con", "I negate" and "Pro claims" are words of the opponent of a resolution. The first and
    the last 150 words are read.
    """
    read = ends(text, _ENDS)
    found = sum(weight for pattern, weight in _OWN if pattern.search(read))
    return max(-2.0, min(2.0, found))


def separate(text: str) -> list[str]:
    """The words of a text; an ideograph is one, and so is a letter of kana."""
    return _IDEOGRAPH.sub(r" \g<0> ", text).split()


def has_at_most(text: str, count: int) -> bool:
    """Whether a text has at most `count` words and `WORD_LETTERS` × `count` letters."""
    return len(text) <= WORD_LETTERS * count and len(separate(text)) <= count


def ends(text: str, count: int, between: str = "") -> str:
    """The first and the last words of a text.

    Args:
        text: Any text.
        count: The number of words at each end; a text of at most twice as many is whole. Of words
            that are texts without blanks, the first and the last letters.
        between: A mark for what is left out.
    """
    found, letters = separate(text), WORD_LETTERS * count
    first = last = " ".join(found)
    if len(found) > 2 * count:
        first, last = " ".join(found[:count]), " ".join(found[-count:])
    elif len(first) <= 2 * letters:
        return first
    return " ".join(filter(None, [first[:letters], between, last[-letters:]]))


def stems(statement: str) -> frozenset[str]:
    """The stems of the content words of a statement; those of short ones are kept."""
    return _kept_stems(statement) if len(statement) < _LONG else content_stems(statement)


_kept_stems = functools.lru_cache(maxsize=8192)(content_stems)


def overlap(wanted: str, found: str) -> float:
    """The share of the stems of one statement that another has."""
    own = stems(wanted)
    return len(own & stems(found)) / len(own) if own else 0.0
