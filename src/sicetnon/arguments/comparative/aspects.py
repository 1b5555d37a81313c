"""Aspects of a comparison: in which respect a sentence says that something is better.

Adjectives say it without naming it: "cheaper" is about the price. Each aspect is a family of words.
"""

from __future__ import annotations

from collections.abc import Mapping

from sicetnon.arguments.comparative.adjectives import ADJECTIVES, grades
from sicetnon.arguments.comparative.mentions import key_of, words_of

_FAMILIES = {
    "price": "cheap expensive costly pricey affordable overpriced economical price prices cost"
    " costs money bargain fee fees pay",
    "speed": "fast quick slow sluggish speed rapid time hours minutes",
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
    keys = (key_of(word.lower()) for word in words_of(text))
    return list(dict.fromkeys(_KNOWN[key] for key in keys if key in _KNOWN))
