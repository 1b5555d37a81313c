"""Aspects of a comparison: in which respect a sentence says that something is better.

Adjectives say it without naming it: "cheaper" is about the price. Each aspect is a family of words.
Words that are mostly said by chance, such as "time", name an aspect in some phrases alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sicetnon.arguments.comparative.adjectives import ADJECTIVES, grades
from sicetnon.arguments.comparative.mentions import key_of, words_of

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
