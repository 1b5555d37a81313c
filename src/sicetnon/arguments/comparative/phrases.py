"""Phrases of a question, reduced to the names of objects and aspects."""

from __future__ import annotations

import re

# "The Simpsons" keep their article, "The laptop" does not
_ARTICLE = re.compile(r"^(?!The [A-Z])(?i:an?|the|some|any|either|both|my|your|our)\s+(?=\S)")
# verbs of having and using: their object is the object of the question
_HAVING = re.compile(
    r"^(?:to\s+)?(?:buy|buying|get|getting|use|using|take|taking|choose|choosing|pick|learn|learning"
    r"|prefer|have|having|own|owning|wear|try|select|order|go (?:with|for|to)|opt for|invest in"
    r"|switch to|stick (?:with|to)|start with|play|study|adopt|visit)\s+(?=\S)",
    re.IGNORECASE,
)
_TO = re.compile(r"^to\s+(?=\S)", re.IGNORECASE)
_TAIL = re.compile(
    r"[\s,;]*(?:\b(?:and|or)?\s*\b(?:why|vice versa|how so|where|when)|\bin general|\bnowadays"
    r"|\bthese days|\bright now|\bplease|\bin \d{4}|\boverall|\bmore|\bthe most|\bbetter)\s*$",
    re.IGNORECASE,
)
# the predicate of a question, after the objects: "is A or B better", "A or B is better"
_ASPECT = re.compile(
    r"\s(in terms of|with respect to|with regards? to|when it comes to|regarding|concerning"
    r"|according to|on the basis of|based on|for|at|in|on|to|as|when|if|while|during|after|before"
    r"|because|of|with|by)\s+",
    re.IGNORECASE,
)
_ALWAYS = frozenset(
    ("in terms of", "with respect to", "with regard to", "with regards to", "regarding")
)
# "made of", "written in", "type of": the preposition is part of the name
_BOUND = re.compile(
    r"\b(?:[a-z]{2,}ed|written|given|taken|driven|woven|spoken|chosen|eaten|grown|drawn|made|built|held"
    r"|born|kind|type|form|sort|piece|school|art|life|living|working)$"
)
_KEPT = frozenset(("of", "with", "by", "on"))
_FIELD = r"basketball|football|soccer|baseball|tennis|hockey|volleyball|golf|chess|rugby|cricket"
_MODIFIER = re.compile(
    rf"(?:{_FIELD}|gas|wood|wooden|steel|stone|plastic|metal|glass|paper|cotton|wool|silk|leather|gold"
    r"|silver|copper|iron|aluminum|aluminium|brick|concrete|vinyl|bamboo|rubber|diesel|petrol|wind"
    r"|solar|coal|oil|nuclear|water|morning|afternoon|evening|night|day|summer|winter|spring|autumn"
    r"|real|fake|true|false|hard|soft|hot|cold|warm|wet|dry|new|used|old|big|small|large|little|long"
    r"|short|tall|cheap|expensive|fast|slow|light|dark|black|white|red|green|blue|brown|yellow|raw"
    r"|cooked|fresh|frozen|canned|wired|wireless|online|offline|indoor|outdoor|public|private|male"
    r"|female|open|closed|front|rear|left|right|upper|lower|fixed|variable|static|dynamic|manual"
    r"|hybrid|full|thin|thick|sweet|salty|local|global|home|foreign|single|double|dual|urban|rural"
    r"|first|second|high|low|free|paid|analog|mobile|desktop|cow|goat|almond|soy|oat|whole|skim"
    r"|\w{3,}(?:ic|al|able|ible|ous|ive|ful|less|ish|ized|ised|ated|ern|ese|ary)|\w+-\w+)",
    re.IGNORECASE,
)
_NOT_MODIFIERS = frozenset(
    ("music", "medical", "animal", "hospital", "capital", "mineral", "cereal", "metal", "bottle")
)
_ACRONYM = re.compile(r"[A-Z0-9]{2,5}")


def stripped(phrase: str) -> str:
    """A phrase without quotes and punctuation around it."""
    return phrase.strip(' \t"“”«»`()[]{}.,:;!?…-–—/&')


def has_verb(phrase: str) -> bool:
    """Whether a phrase begins with a verb of having or using."""
    return bool(_HAVING.match(stripped(phrase)))


def object_of(phrase: str, verbs: bool = True) -> str:
    """The name of an object, without articles and "to".

    Args:
        phrase: The words of the question.
        verbs: Whether verbs of having and using are removed as well.
    """
    before = None
    phrase = stripped(phrase)
    while phrase != before:
        before = phrase
        phrase = stripped(_TAIL.sub("", phrase))
        phrase = _TO.sub("", _ARTICLE.sub("", phrase, count=1), count=1)
        phrase = _HAVING.sub("", phrase, count=1) if verbs else phrase
    return phrase


def without_aspect(phrase: str, other: str) -> tuple[str, str | None]:
    """The second of two objects without the aspect after it, and the aspect.

    "Python or R for data analysis" has the objects Python and R and the aspect data analysis. If
    the first object has the same preposition, the preposition belongs to the name.
    """
    for match in _ASPECT.finditer(phrase):
        word = match[1].lower()
        before = phrase[: match.start()]
        always = word in _ALWAYS
        own = word in _KEPT or _BOUND.search(before) or f" {word} " in f" {other.lower()} "
        if stripped(before) and (always or not own):
            return before, object_of(phrase[match.end() :]) or None
    return phrase, None


def with_shared_head(first: str, second: str) -> tuple[str, str]:
    """Both objects, the first with the noun that both share ("red or white wine")."""
    words = second.split()
    if " " in first or len(words) < 2:
        return first, second
    if _ACRONYM.fullmatch(first) and _ACRONYM.fullmatch(words[0]):
        return f"{first} {' '.join(words[1:])}", second
    alike = _MODIFIER.fullmatch(first) and first.lower() not in _NOT_MODIFIERS
    if alike and not first.lower().endswith(words[-1].lower()):
        return f"{first} {' '.join(words[1:])}", second
    return first, second


def is_modifier(word: str) -> bool:
    """Whether a word modifies a noun after it."""
    return bool(_MODIFIER.fullmatch(word)) and word.lower() not in _NOT_MODIFIERS
