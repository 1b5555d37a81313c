"""The stance of a passage towards two objects, and the aspects in which it compares them.

By rules, each word becomes a tag: an object, a comparative with its sign, praise, blame or
negation. Patterns over the tags find the object that wins, and praise near a single object counts
for it. Every pattern is tried in both directions with opposite sign, so swapping the objects swaps
the stance. `stances_by_model` does the same with the debate model.

`aspects_in` tells in which respect a sentence compares. Adjectives say it without naming it:
"cheaper" is about the price. Each aspect is a family of words. Words that are mostly said by
chance, such as "time", name an aspect in some phrases alone.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.mentions import FIRST, SECOND, Mentions, key_of, words_of
from sicetnon.arguments.comparative.question_parser import (
    ADJECTIVES,
    COMPARATIVES,
    SUPERLATIVES,
    grades,
)
from sicetnon.records import ComparativeStance
from sicetnon.text.sentences import sentences

if TYPE_CHECKING:
    from sicetnon.arguments.models.classifiers import Comparison

_PRAISE = """
advantage advantages benefit benefits pro pros plus strength strengths love loves loved recommend
recommends recommended prefer prefers preferred favorite favourite win wins winner winning worth
enjoy enjoyed excels excel pleased satisfied impressed improve improves improved solves saves
helps succeeds ease upside upsides bargain choose favor favour well
"""
_BLAME = """
disadvantage disadvantages drawback drawbacks con cons problem problems issue issues weakness
weaknesses hate hates hated avoid avoids fail fails failed failure lose loses lost loser losing
lack lacks lacking crash crashes suffers suffer downside downsides flaw flaws trouble sucks suck
complaint complaints waste breaks broken risk risks damage damages regret disappointed unfortunately
nightmare harm harms hurts cannot bug bugs
"""
_NOT = """
not no never neither nor hardly barely isn't aren't wasn't weren't doesn't don't didn't won't can't
couldn't wouldn't shouldn't ain't isnt doesnt dont without cant nothing nobody stop
"""
_FEELINGS = dict.fromkeys(_PRAISE.split(), "P") | dict.fromkeys(_BLAME.split(), "N")
_SIGNS = {1: "+", -1: "-", 0: "0"}
_NEGATIONS = frozenset(_NOT.split())
_STATEMENT_END = re.compile(r"(?<=[.!?;])[\"'”’)]*\s+|\n+|\s[•|*–—]\s")
_LONGEST = 80

_ANY = r"(?:[^AB.]\S* )"
_NO_C = r"(?:(?!C[-+0])[^AB]\S* )"
_THAN = r"(?:than|then|(?:when |as )?compared (?:to|with)|versus|vs|relative to)"
# X is the object that the pattern favours; the group c, if there is one, has the sign
_PAIRS = (
    # X is faster than Y; X has a better engine than Y
    (1.0, rf"X {_ANY}{{0,16}}?(?P<c>C[-+0]) {_NO_C}{{0,6}}?{_THAN} {_ANY}{{0,8}}?Y(?!\S)"),
    # it is easier to learn X than Y; it is slower in X compared to Y
    (0.9, rf"(?P<c>C[-+0]) {_NO_C}{{0,6}}?X {_ANY}{{0,6}}?{_THAN} {_ANY}{{0,6}}?Y(?!\S)"),
    # compared to Y, X is faster; unlike Y, X works well
    (
        0.8,
        r"(?:compared (?:to|with)|unlike|than|whereas|while|versus) "
        rf"{_ANY}{{0,3}}?Y (?:{_ANY}{{0,2}}, )?{_ANY}{{0,2}}?X {_ANY}{{0,6}}?"
        r"(?P<c>C[-+0]|P|N)(?! than)",
    ),
    # X, unlike Y, works well
    (
        0.8,
        rf"X , (?:unlike|compared to|in contrast to) {_ANY}{{0,3}}?Y , {_ANY}{{0,8}}?"
        r"(?P<c>C[-+0]|P|N)",
    ),
    # X is a better Y
    (0.6, rf"X {_ANY}{{0,8}}?(?:a|the|an) (?:much |far )?(?P<c>C[-+]) Y(?!\S)"),
    # I prefer X over Y; choose X instead of Y
    (
        1.0,
        r"(?:prefer\w*|choos\w+|chose\w*|recommend\w*|favou?r\w*|pick\w*|go|went|suggest|buy|bought"
        rf"|opt\w*|P) {_ANY}{{0,3}}?X {_ANY}{{0,5}}?"
        rf"(?:over|to|instead of|rather than|than|above) {_ANY}{{0,3}}?Y(?!\S)",
    ),
    # X beats Y; X is superior to Y
    (
        1.0,
        rf"X {_ANY}{{0,5}}?(?:beats?|outperforms?\w*|trumps?|surpass\w*|outshines?|kills|crushe[sd]"
        r"|blows|outweighs?|exceeds?|wins? (?:over|against)|won against|defeat\w*|tops|outclass\w*"
        r"|edges?(?: out)?|outsells?|(?:superior|preferable|prefered|P) to|P over|ahead of"
        rf"|(?:C\+|S\+) over) {_ANY}{{0,3}}?Y(?!\S)",
    ),
    (
        -1.0,
        rf"X {_ANY}{{0,5}}?(?:N (?:to|against)|inferior to|pales? \S+ \S+ to|no match for|[b]ehind"
        rf"|lags?|trails?|! (?:compete with|match)) {_ANY}{{0,3}}?Y(?!\S)",
    ),
    # X needs half the time that Y takes; X costs twice as much as Y
    (
        0.8,
        rf"X {_ANY}{{0,6}}?(?:half|third|quarter|fraction) (?:of )?the (?:time|price|costs?|effort"
        rf"|weight|noise|energy|work) {_ANY}{{0,4}}?Y(?!\S)",
    ),
    (
        -0.8,
        r"X (?:(?![AB!]|half)\S+ ){0,6}?(?:twice|double|thrice|three times) "
        r"(?:the (?:time|price|costs?|effort|weight|noise)|as (?:long|much)) "
        rf"{_ANY}{{0,4}}?Y(?!\S)",
    ),
    # X is not as good as Y
    (
        -1.0,
        rf"X {_ANY}{{0,5}}?! {_ANY}{{0,2}}?(?:as|so) {_ANY}{{0,2}}?\S+ as {_ANY}{{0,4}}?Y(?!\S)",
    ),
    # X over Y; switched from Y to X
    (0.5, rf"X {_ANY}{{0,2}}?(?:over|instead of|rather than) {_ANY}{{0,2}}?Y(?!\S)"),
    (
        0.7,
        r"(?:switch|migrat|upgrad|convert|mov|chang)\w* "
        rf"(?:over )?from {_ANY}{{0,2}}?Y {_ANY}{{0,2}}?to {_ANY}{{0,2}}?X(?!\S)",
    ),
)
# it is faster than Y, in a statement that does not name X
_ALONE = re.compile(rf"(?P<n>! )?(?P<c>C[-+0]) {_ANY}{{0,4}}?than {_ANY}{{0,3}}?(?P<o>[AB])\b")
_CHOSEN = re.compile(
    r"(?P<n>! )?(?:go with|went with|recommend|prefer|choose|chose|pick|opt for|stick with|use|get"
    rf"|buy|love|vote for|P) {_ANY}{{0,2}}?(?P<o>[AB])\b"
)
_WEIGHING = re.compile(r"\b(?:C[-+0]|S[-+]|than|vs|versus|differ\w*|compar\w+|both|whereas|P|N)")
_CLAUSE = re.compile(r" (?:but|while|whereas|although|though|however|yet|and|[,;:()]) ")
# "A and B are cheap" favours neither
_LISTED = r"{} (?:(?![PNCS!])[^AB]\S* ){{0,2}}?(?:and|or|&|,|/|nor|vs) (?:[^AB]\S* )?{}(?!\S)"
_TOGETHER = re.compile("|".join((_LISTED.format("A", "B"), _LISTED.format("B", "A"))))
_DENIED = re.compile(r"! (?:\S+ ){0,2}$")
_NEAR = {"P": 0.25, "N": -0.25, "C+": 0.4, "C-": -0.4, "S+": 0.5, "S-": -0.5}
_REACH = 7
_WEIGHT = {"+": 1.0, "-": -1.0, "0": 0.5, "P": 0.8, "N": -0.8}


class Statement(NamedTuple):
    """A sentence, or a part of one before a semicolon, dash or bullet, in words.

    Attributes:
        keys: The key of each word (`mentions.key_of`).
    """

    words: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class ObjectEvidence:
    """The evidence in a passage for and against two objects.

    Attributes:
        balance: Above 0 for the first object, below 0 for the second.
        amount: The sum of the absolute values of all evidence.
        mentions: The number of mentions of each object.
        weighs: The number of statements that name and compare both.
    """

    balance: float
    amount: float
    mentions: tuple[int, int]
    weighs: int


@dataclass(frozen=True)
class Comparer:
    """Finds the stance of passages towards two objects.

    Attributes:
        least: The least absolute balance of a passage that takes a side.
        share: The least share of the amount that the balance must have.
    """

    first: str
    second: str
    least: float = 0.3
    share: float = 0.2

    def stance(self, text: str) -> ComparativeStance:
        """The object that a passage favours; `NEUTRAL` if it weighs both; else `NO`."""
        return self.judged(self.evidence(text))

    def judged(self, evidence: ObjectEvidence) -> ComparativeStance:
        """The stance that follows from evidence."""
        if abs(evidence.balance) >= max(self.least, self.share * evidence.amount):
            return "FIRST" if evidence.balance > 0 else "SECOND"
        both = min(evidence.mentions) > 0
        return "NEUTRAL" if both and (evidence.weighs or evidence.amount) else "NO"

    def evidence(self, text: str) -> ObjectEvidence:
        """The evidence in a passage."""
        return self.evidence_of(read_statements(text))

    def names_none(self, keys: frozenset[str]) -> bool:
        """True if no word is the first word of an object's name."""
        return self._mentions.starts.isdisjoint(keys)

    def evidence_of(self, statements: Sequence[Statement]) -> ObjectEvidence:
        """The evidence in the statements of a passage."""
        values: list[float] = []
        named = [0, 0]
        weighs = 0
        for statement in statements:
            if self._mentions.starts.isdisjoint(statement.keys):
                continue
            marked = self._mentions.marked(statement.words, statement.keys)
            counts = marked.count(FIRST), marked.count(SECOND)
            if not any(counts):
                continue
            named[0] += counts[0]
            named[1] += counts[1]
            if marked[-1] == "?":
                weighs += all(counts)
                continue
            tags = " ".join(_tagged(marked)).replace(" if ! ", " ")
            weighs += bool(all(counts) and _WEIGHING.search(tags))
            values += _values(tags, counts)
        # exact sums, so that the order of the objects cannot matter
        amount = math.fsum(map(abs, values))
        return ObjectEvidence(math.fsum(values), amount, (named[0], named[1]), weighs)

    @functools.cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self.first, self.second)


def read_statements(text: str) -> tuple[Statement, ...]:
    """The statements of a passage; one over 80 words is cut."""
    found = []
    for statement in _STATEMENT_END.split(text):
        words = words_of(statement)
        for at in range(0, len(words), _LONGEST):
            part = tuple(words[at : at + _LONGEST])
            found.append(Statement(part, tuple(map(key_of, part))))
    return tuple(found)


def _tagged(words: Sequence[str]) -> list[str]:
    """Words as tags: comparatives `C+ C- C0`, superlatives `S+ S-`, praise `P`, blame `N`, negation
    `!`. Objects and all other words stay.
    """
    tags: list[str] = []
    place = 0
    while place < len(words):
        word = words[place].replace("’", "'")
        following = words[place + 1] if place + 1 < len(words) else ""
        place += 1
        if word in ("more", "less", "most", "least"):
            sign = ADJECTIVES.get(following)
            turned = -1 if word in ("less", "least") else 1
            place += sign is not None
            sign = turned * (1 if sign is None else sign)
            tags.append(("S" if word in ("most", "least") else "C") + _SIGNS[sign])
        elif word in ("harder", "heavier") and following in ("to", "on"):
            tags.append("C-")
        elif word in COMPARATIVES:
            tags.append("C" + _SIGNS[COMPARATIVES[word]])
        else:
            tags.append(_tag(word))
    return tags


def _tag(word: str) -> str:
    if word in (FIRST, SECOND):
        return word
    if word in _NEGATIONS:
        return "!"
    if SUPERLATIVES.get(word):
        return "S" + _SIGNS[SUPERLATIVES[word]]
    if ADJECTIVES.get(word):
        return "P" if ADJECTIVES[word] > 0 else "N"
    return _FEELINGS.get(word, word)


def _values(tags: str, counts: tuple[int, int]) -> list[float]:
    """The evidence in a statement: positive for the first object, negative for the second."""
    if all(counts):
        values = _pair_values(tags, FIRST, SECOND)
        values += [-value for value in _pair_values(tags, SECOND, FIRST)]
        if values:
            return values
    values = _alone_values(tags) if not all(counts) else []
    speaker = ""
    if all(counts) and _TOGETHER.search(tags):
        return values
    for clause in _CLAUSE.split(f" {tags} "):
        words = clause.split()
        named = [mark for mark in (FIRST, SECOND) if mark in words]
        # a clause that names neither is about the object of the clause before
        speaker = named[0] if len(named) == 1 else speaker if not named else ""
        if speaker:
            values += _clause_values(words, 1.0 if speaker == FIRST else -1.0)
    return values


@functools.cache
def _patterns(first: str, second: str) -> tuple[tuple[float, re.Pattern[str]], ...]:
    marks = {"X": first, "Y": second}
    return tuple(
        (weight, re.compile(r"(?<!\S)" + re.sub(r"\b[XY]\b", lambda m: marks[m[0]], pattern)))
        for weight, pattern in _PAIRS
    )


def _pair_values(tags: str, first: str, second: str) -> list[float]:
    """The evidence of patterns in which one object beats the other."""
    values = []
    for weight, pattern in _patterns(first, second):
        for match in pattern.finditer(tags):
            said = match.groupdict().get("c")
            value = weight * (_WEIGHT[said[-1]] if said else 1.0)
            before = tags[max(0, match.start() - 16) : match.start()]
            inside = match.group()[: match.start("c") - match.start()] if said else match.group()
            inside = _CLAUSE.split(f" {inside} ")[-1]
            negated = "!" in inside.split() or bool(_DENIED.search(before))
            # "not faster" is weaker than "slower"; "not as good as" contains its negation
            values.append(-0.6 * value if negated and weight != -1.0 else value)
    return values


def _alone_values(tags: str) -> list[float]:
    values = []
    for match in _ALONE.finditer(tags):
        value = 0.5 * _WEIGHT[match["c"][-1]] * (-0.6 if match["n"] else 1.0)
        values.append(-value if match["o"] == FIRST else value)
    return values


def _clause_values(words: Sequence[str], direction: float) -> list[float]:
    """Praise and blame in a clause about one object alone."""
    if "than" in words:
        return []
    places = [place for place, word in enumerate(words) if word in (FIRST, SECOND)] or [0]
    values: list[float] = []
    for place, word in enumerate(words):
        weight = _NEAR.get(word)
        if weight is None or not any(-3 <= place - at <= _REACH for at in places):
            continue
        negated = "!" in words[max(0, place - 3) : place]
        values.append(direction * weight * (-0.6 if negated else 1.0))
    chosen = _CHOSEN.search(" ".join(words))
    if chosen:
        values.append(direction * (-0.5 if chosen["n"] else 0.5))
    return values


Floats: TypeAlias = NDArray[np.float32]
_MOST_WORDS = 60
# chosen on 275 passages that a large language model labelled; finer ones would be chance
_TAKES_A_SIDE, _SPEAKS_FOR, _IN_BALANCE = 0.7, 0.3, 0.2


def stances_by_model(
    texts: Sequence[str], first: str, second: str, model: Comparison
) -> list[ComparativeStance]:
    """The stance of each passage towards two objects. Equal texts are read once.

    Most passages that a search finds take no stance, and the model, which learnt from answers that
    compare, calls them `NEUTRAL` as a whole. Therefore single sentences decide. A passage without a
    sentence that names an object is `NO`. It takes a side if a sentence does, and if the passage as
    a whole leans to one: the sum of the two (the highest probability of a side, and the difference
    of the two sides) is over 0.7. The mean of the sentences tells which. A passage with sentences
    for either object, whose mean is in balance, is `NEUTRAL`.
    """
    mentions = Mentions(first, second)
    naming = {text: _naming(text, mentions) for text in dict.fromkeys(texts)}
    read = list(dict.fromkeys(part for text, own in naming.items() if own for part in (text, *own)))
    rows = dict(zip(read, model.probabilities(read, first, second), strict=True))
    found = {
        text: _stance(rows[text], np.stack([rows[part] for part in own]))
        for text, own in naming.items()
        if own
    }
    return [found.get(text, "NO") for text in texts]


def _naming(text: str, mentions: Mentions) -> list[str]:
    """The beginnings of the sentences that name an object."""
    found = []
    for sentence in sentences(text):
        words = words_of(sentence)
        if {FIRST, SECOND} & set(mentions.marked(words, [key_of(word) for word in words])):
            found.append(" ".join(sentence.split()[:_MOST_WORDS]))
    return found


def _stance(whole: Floats, singles: Floats) -> ComparativeStance:
    """The stance of a passage.

    Args:
        whole: The probabilities of `COMPARISONS` for the passage, shape (4,).
        singles: Those of its sentences, shape (sentences, 4).
    """
    sides = singles[:, :2]
    mean = float((sides[:, 0] - sides[:, 1]).mean())
    if sides.max(axis=0).min() > _SPEAKS_FOR and abs(mean) < _IN_BALANCE:
        return "NEUTRAL"
    strength = float(sides.sum(axis=1).max()) + abs(float(whole[0] - whole[1]))
    if strength <= _TAKES_A_SIDE or mean == 0:
        return "NO"
    return "FIRST" if mean > 0 else "SECOND"


_FAMILIES = {
    "price": "cheap expensive costly pricey affordable overpriced economical price prices cost"
    " costs money bargain fee fees pay",
    "speed": "fast quick slow sluggish speed rapid",
    "ease": "easy simple difficult tricky intuitive complicated cumbersome ease beginner beginners"
    " learn",
    "safety": "safe dangerous risky unsafe harmful secure insecure toxic safety danger accident"
    " accidents",
    "reliability": "reliable sturdy durable robust fragile flimsy unreliable stable unstable"
    " defective broke broken repair repairs lasts solid tough",
    "weight": "light heavy lightweight bulky portable weight",
    "noise": "quiet noisy loud noise",
    "health": "healthy unhealthy nutritious fattening health vitamins fibre fiber protein diet",
    "comfort": "comfortable uncomfortable comfy cosy painful comfort",
    "looks": "beautiful ugly pretty elegant attractive design looks style",
    "cleaning": "clean dirty messy greasy cleaning",
    "taste": "tasty delicious bland taste flavour flavor",
    "climate": "green sustainable polluting environmentally climate environment emissions carbon"
    " energy efficient inefficient wasteful",
    "size": "big large small tiny huge narrow size room space",
    "sound": "sound tone voice melody",
    "quality": "quality image picture screen camera",
    "battery": "battery batteries charge charging",
    "performance": "powerful performance responsive memory",
    "support": "support community documentation library libraries",
    "privacy": "privacy private",
    "weather": "weather wind rain cold winter waves",
}
_TIME = r"(?:time|seconds?|minutes?|hours?|days?)"
# words in these senses name no aspect
_CHANCE = re.compile(
    r"\b(?:a (?:little|large|small|big|great) (?:bit|number|amount|part|deal|share|extent)"
    r"|(?:in|by) large|at large|large(?:ly)? because|no big deal|big deal|small talk|living rooms?"
    r"|(?:bed|bath|class|dining ?|show|sitting |next )rooms?|(?:in|to|of) the (?:\w+ )?room"
    r"|room temperature|pay attention|by design|quick(?:ly)? (?:note|question)|fast forward"
    r"|light (?:up|bulbs?|years?|of)|the light|(?:sun|day|moon|traffic )lights?|winter sports?"
    r"|(?:a |the )?green (?:tea|beans?|leaves|light)|sounds? (?:like|good|great|as)|in the long run"
    r"|easy-going|hard time|looks? (?:like|at|for|into|after|forward)|(?:simply|clearly) because"
    r"|solid (?:foods?|lines?|grounds?)|taste (?:in|for)|health insurance|waste of"
    r"|(?:(?:my|our|the|at) )?last (?:(?:one|night|day|week|month|year|time|summer|winter)s?\b)"
    r"|the power (?:fails?|goes|is|was)|power (?:cuts?|outages?|failures?|plants?|grids?|cords?)"
    r"|(?:out of|in) the cold|security (?:lines?|checks?|guards?)"
    # what the size of a place or of a person is
    r"|(?:in|on|for|at|with|from|of) (?:a |an |the |my |our |your )?(?:very |rather )?"
    r"(?:small|large|big|tiny|huge|narrow) \w+|how (?:large|small|big))\b",
    re.IGNORECASE,
)
# and these name one that none of their words names
_PHRASES = {
    "speed": re.compile(
        r"\b(?:(?:half|twice|third|quarter|fraction) (?:of )?the time|in no time|at once and"
        r"|(?:less|more|much|little|extra|your|any|saves?|saving|wast\w+|no) time\b"
        r"(?! (?:ago|when))"
        rf"|(?:takes?|took|taking|needs?|within|in) (?:[\w-]+ ){{0,4}}?{_TIME}\b(?! ago)"
        r"|(?:for )?hours on end|time[- ]consuming|sooner)\b",
        re.IGNORECASE,
    ),
}


def _families() -> Mapping[str, str]:
    """The aspect of each word's key; adjectives have their comparatives and superlatives beside."""
    known: dict[str, str] = {}
    for name, words in _FAMILIES.items():
        for word in words.split():
            for form in (word, *(grades(word) if word in ADJECTIVES else ())):
                known.setdefault(key_of(form), name)
    return known


_KNOWN = _families()


def aspects_in(text: str) -> list[str]:
    """The aspects that a text speaks of, each once, in the order of their first words."""
    plain = _CHANCE.sub(" ", text)
    keys = (key_of(word.lower()) for word in words_of(plain))
    found = dict.fromkeys(_KNOWN[key] for key in keys if key in _KNOWN)
    found |= dict.fromkeys(name for name, phrase in _PHRASES.items() if phrase.search(plain))
    return list(found)
