"""Adjectives with their comparatives and superlatives, and their polarity.

The polarity is that in comparisons of products, places and the like. An adjective that praises one
thing and blames another (`big`, `hot`) is neutral.
"""

from __future__ import annotations

_PRAISING = """
good great fine nice cheap fast quick easy simple safe strong healthy tasty pretty clean clear smart
bright light smooth sturdy tough reliable secure rich calm comfy cosy cool durable fresh friendly
green handy happy humane kind lovely neat powerful pure quiet robust stable steady sweet wise sharp
crisp affordable effective efficient useful comfortable convenient flexible accurate popular
beautiful elegant attractive versatile practical portable responsive readable productive
intuitive enjoyable nutritious economical environmentally sustainable ethical interesting mature
advanced capable consistent impressive excellent superb amazing awesome fantastic wonderful perfect
outstanding brilliant superior ideal desirable suitable profitable sensible
successful natural lightweight innovative polished trustworthy talented rewarding valuable
beneficial favorable favourable solid maintainable scalable concise expressive compatible usable
"""
_BLAMING = """
bad slow weak noisy pricey costly ugly dirty loud risky dumb dull poor clumsy
bulky buggy nasty messy clunky tricky flimsy greasy crappy lousy shoddy scary fat sick sad lazy
expensive difficult dangerous harmful unhealthy complicated complex toxic unreliable unstable
inconvenient painful annoying boring confusing cumbersome inefficient ineffective insecure useless
vulnerable limited problematic unsafe fragile frustrating terrible horrible awful inferior mediocre
disappointing defective outdated overpriced wasteful fattening addictive uncomfortable restrictive
inaccurate awkward brittle bloated unsuitable verbose sluggish obsolete polluting
"""
_NEITHER = """
hard heavy
big large small tall short long wide narrow thick thin high low deep hot cold warm dark old young
new early late near far full empty wet dry soft loose tight common rare close hairy tiny huge
great broad dense crazy funny spicy salty sour bitter busy
"""
_IRREGULAR = {
    "better": "good",
    "best": "good",
    "worse": "bad",
    "worst": "bad",
    "further": "far",
    "farther": "far",
    "furthest": "far",
    "farthest": "far",
}
_VOWELS = "aeiou"


def grades(adjective: str) -> tuple[str, str]:
    """The comparative and the superlative of a short adjective."""
    if adjective.endswith("e"):
        stem = adjective[:-1]
    elif adjective.endswith("y") and adjective[-2] not in _VOWELS:
        stem = adjective[:-1] + "i"
    elif len(adjective) <= 4 and adjective[-1] not in "wxy" + _VOWELS:
        doubled = adjective[-2] in _VOWELS and adjective[-3] not in _VOWELS
        stem = adjective + adjective[-1] if doubled else adjective
    else:
        stem = adjective
    return stem + "er", stem + "est"


def _table() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    bases: dict[str, int] = {}
    for words, sign in ((_PRAISING, 1), (_BLAMING, -1), (_NEITHER, 0)):
        for word in words.split():
            bases.setdefault(word, sign)
    comparatives, superlatives = {}, {}
    for word, sign in bases.items():
        if word not in ("good", "bad", "far") and len(word) <= 8:
            comparative, superlative = grades(word)
            comparatives[comparative], superlatives[superlative] = sign, sign
    for form, base in _IRREGULAR.items():
        (superlatives if form.endswith("st") else comparatives)[form] = bases[base]
    return bases, comparatives, superlatives


ADJECTIVES, COMPARATIVES, SUPERLATIVES = _table()
"""The polarity (1 praises, -1 blames, 0 is neutral) of adjectives, their comparatives (`better`),
and their superlatives (`best`)."""
