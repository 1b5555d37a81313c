"""Parse questions: whether a question compares, which objects, in which aspects.

Each rule covers one form of comparative question in English: it takes a question on one line,
without punctuation at its end, and returns the two phrases of its objects, or None. The rules are
tried in order of their precision, and the first that finds two names wins. Every text is legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from sicetnon.argument_checks import check_text
from sicetnon.formats.json_records import valid_text
from sicetnon.records import Question, Topic

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


_MOST_WORDS_OF_ALTERNATIVES = 20


@dataclass(frozen=True)
class Phrases:
    """The two phrases that a rule finds."""

    first: str
    second: str
    predicate: str = ""
    aspects: tuple[str, ...] = ()


_ORDER_ADVERB = (
    r"(?:really|actually|still|always|generally|usually|much|any|even|truly|ever|often|so|far|way"
    r"|significantly|considered|considerably|a lot|lot|typically|necessarily|just|now|better off)"
)
_LINK = (
    r"(?:is|are|was|were|be|being|been|become|seems?|looks?|tastes?|performs?|runs?|works?|lasts?"
    r"|costs?|has|have|had|offers?|makes?|provides?|gets?|feels?|sounds?|does|do|did|can|will|a|an"
    r"|the|so|it)"
)
_TRAIL = re.compile(rf"(?:\s+|^)(?:{_ORDER_ADVERB}|{_LINK})$", re.IGNORECASE)
AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|isn't|aren't|doesn't"
    r"|don't|wasn't|must|might|may)"
)
_FRAME = re.compile(
    rf"^(?:(?:why|when|how|where|if|whether|what makes|what made|in what (?:ways?|respects?)"
    rf"|(?:by )?how much|to what extent|under what circumstances)\s+)*(?P<aux>{AUXILIARY}\s+)?",
    re.IGNORECASE,
)
_DOING = ("do", "does", "did", "can", "could", "will", "would")
_OR = re.compile(r"\s+(?:or|vs)\s+|\s*/\s*", re.IGNORECASE)
STRONG = re.compile(r"\s*[:;?!]\s*|\s+[-–—]+\s+|\.\s+")


def _degree(words: list[str], place: int) -> bool:
    """Whether a comparative or superlative begins at a place."""
    word = words[place].lower().strip(",")
    if word in COMPARATIVES or word in SUPERLATIVES:
        return True
    return word in ("more", "less", "fewer", "most", "least") and place + 1 < len(words)


def _between(text: str) -> Phrases | None:
    """The difference between A and B."""
    match = re.search(
        r"\b(differen\w+|similarit\w+|distinction|distinguish|comparison|compare|choice|choose|choosing"
        r"|decide|deciding|differentiate|tell|fight|match|battle|race)\b"
        r"(?: (?:in|of) (.+?))? (?:between|among) (.+)",
        text,
        re.IGNORECASE,
    )
    if not match:
        match = re.match(r"()()between (.+?)(?:,| which\b| what\b| who\b)", text, re.IGNORECASE)
    if not match:
        return None
    found = _listed(STRONG.split(match[3])[0], match[1].lower())
    return found and _with_aspect(found, match[2])


def _listed(text: str, predicate: str) -> Phrases | None:
    """The first two of "A and B", "A vs B", "A, B, and C"."""
    parts = re.split(r"\s+vs\s+|\s*,\s*(?:and|or)\s+|\s*,\s+|\s+&\s+", text)
    if len(parts) == 1:
        parts = re.split(r"\s+and\s+", text, maxsplit=1)
    if len(parts) == 1:
        parts = _OR.split(text, maxsplit=1)
    return Phrases(parts[0], parts[1], predicate) if len(parts) > 1 else None


def _with_aspect(found: Phrases, aspect: str | None) -> Phrases:
    aspects = (*found.aspects, object_of(aspect)) if aspect else found.aspects
    return Phrases(found.first, found.second, found.predicate, aspects)


_WEIGHED = re.compile(
    r"\b(pros and cons|pros & cons|pros (?:and|or) cons|advantages (?:and|or|&) disadvantages"
    r"|(?:dis)?advantages?|benefits?|drawbacks?|merits|strengths and weaknesses|comparison"
    r"|similarities|differences?|upsides?|downsides?)\s+(?:of|to|in|with)\s+(.+?)\s+"
    r"(over|compared (?:to|with)|instead of|rather than|against|vs|and|or)\s+(.+)",
    re.IGNORECASE,
)


def _weighed(text: str) -> Phrases | None:
    """The pros and cons of A and B; the advantages of A over B."""
    match = _WEIGHED.search(text)
    if not match:
        return None
    return Phrases(match[2], STRONG.split(match[4])[0], match[1].lower())


def _versus(text: str) -> Phrases | None:
    """A vs B, with anything before or after it."""
    piece = next((piece for piece in _pieces(text) if " vs " in piece), None)
    if piece is None:
        return None
    first, second = re.split(r"\s+vs\s+", piece)[:2]
    frame = re.match(
        r"^(?:which|what|who)\b.*?\b(?:is|are|was|performs?|has)\s+(?P<p>.+)\s(?=\S+$)", first, re.I
    )
    if frame:
        first = first[frame.end() :]
    predicate = predicate_in(text.replace(piece, " ")) or (frame["p"] if frame else "")
    return Phrases(first, second, predicate, aspects_of(text, piece))


_DIFFER = (
    rf"how (?:much |exactly )?{AUXILIARY} (.+?) (different|differ|distinct|compared?)"
    r" (?:from|to|than|with|against) (.+)",
    rf"how {AUXILIARY} (.+) and (?:()(.+)) (?:differ|compare|different)\b.*",
    r"(?:.*\b)?compar(?:e|ing) (.+?) (?:()with|()to|()against|()and|()vs) (.+)",
    r"(.+?),? (?:when |if |as )?(compared) (?:to|with|against) (.+)",
    r"(?:.*\b)?which (?:one )?of (.+?) (?:and|or) (.+?) (?:is|are|has|does|should) (.+)",
)


def _differing(text: str) -> Phrases | None:
    """Questions such as "How does A differ from B?", "Compare A with B", "A compared to B"."""
    for number, pattern in enumerate(_DIFFER):
        match = re.match(pattern, text, re.IGNORECASE)
        if not match:
            continue
        groups = [group for group in match.groups() if group]
        if number == 4:
            return Phrases(groups[0], groups[1], predicate_in(groups[2]) or "")
        first = _FRAME.sub("", re.sub(r"^what (?:is|are) ", "", groups[0]), count=1)
        predicate = groups[1].lower() if len(groups) > 2 else "compare"
        return Phrases(first, groups[-1], predicate)
    return None


def _it_is(text: str) -> Phrases | None:
    """Is it better to do A than to do B; is it worse to A or B."""
    match = re.match(
        r"(?:why |when )?(?:is|was|would) it (?:be )?(.+?) (?:to|for \w+ to) (.+?) (?:than|or|over)"
        r" (?:to )?(.+)",
        text,
        re.IGNORECASE,
    )
    if not match or not _degree(match[1].split(), 0):
        return None
    return Phrases(match[2], match[3], match[1])


_NO_OBJECT = re.compile(
    r"^(?:\d|ever|before|usual|expected|necessary|others?\b|once|one\b(?! of)|average|needed|half"
    r"|ten|five|two|three|men(?:t|d)|people think|we think|you think|that$|just\b|good$|harm)",
    re.IGNORECASE,
)


def _than(text: str) -> Phrases | None:
    """Is A better than B; why does A last longer than B."""
    piece = next((piece for piece in STRONG.split(text) if " than " in piece), "")
    before, than, after = piece.partition(" than ")
    if not than or _NO_OBJECT.match(after) or re.search(r"\b(?:other|rather)$", before):
        return None
    # the word after it stands in, so that a bare "more" counts
    words = [*before.split(", ")[-1].split(), than.strip()]
    reach = range(len(words) - 2, max(-1, len(words) - 6), -1)
    places = [place for place in reach if _degree(words, place)]
    if not places:
        return None
    start = places[0]
    if start and words[start - 1].lower() in ("more", "less") and start - 1 in places:
        start -= 1
    if len(places) > 1 and words[places[-1]].lower() in ("more", "less", "fewer"):
        start = places[-1]
    subject, aspects = _subject(" ".join(words[:start]))
    own = re.match(r"(?:that|those|the one|the ones) (?:of|in|at|from|by) ", after, re.IGNORECASE)
    if own:
        noun = re.match(r"(.+?) (?:of|in|at|from|by) (.+)", subject)
        if noun:
            subject, aspects = noun[2], (noun[1],)
        after = after[own.end() :]
    return Phrases(subject, after, " ".join(words[start:-1]), aspects)


def _subject(text: str) -> tuple[str, tuple[str, ...]]:
    """The words before a comparative, without question words and verbs."""
    frame = _FRAME.match(text)
    rest = text[frame.end() :] if frame else text
    acts = bool(frame and frame["aux"] and frame["aux"].strip().lower() in _DOING)
    before = None
    while rest != before:
        before, rest = rest, _TRAIL.sub("", rest)
    words = rest.split()
    if acts and len(words) > 1 and rest == text[frame.end() :].strip():  # type: ignore[union-attr]
        words = words[:-1]
    return " ".join(words), ()


_VERB = r"(?:prefer|choose|pick|buy|use|take|favou?r|select|recommend|get|like|learn|want|eat)"
_OVER = (
    r"(?:.*?\b)?(prefer|choose|favou?r|select)\w* (.+?) (?:over|instead of|rather than|to) (.+)",
    rf"(?:.*?\b)?({_VERB})\w* (.+?) (?:instead of|rather than|over) (.+)",
    r"(?:.*?\b)?()switch from (.+?) to (.+)",
    rf"(?:(?:why|how|when) )?{AUXILIARY} (.+?) "
    r"((?:equal|similar|superior|inferior|comparable|preferable|identical|equivalent) (?:to|with)"
    r"|the same as|as \w+ as) (.+)",
    rf"(?!{AUXILIARY}\b)()(.+?) (?:over|instead of|rather than) (.+)",
)


def _over(text: str) -> Phrases | None:
    """Should I prefer A over B; is A equal to B; A instead of B."""
    for number, pattern in enumerate(_OVER):
        match = re.match(pattern, text, re.IGNORECASE)
        if not match or re.search(r"\bor\b", match[2]):
            continue
        second = STRONG.split(match[3])[0]
        if number == 3:
            predicate = re.sub(r" (?:to|with|as)$", "", match[2])
            return Phrases(match[1], second, predicate)
        return Phrases(match[2], second, match[1].lower() or "over")
    return None


_CHOOSER = (
    r"(?:i|we|you|one|he|she|they|my \w+|our \w+|someone|(?:a |an )?\w+ (?=(?:buy|learn|choose|pick"
    r"|prefer|get) ))"
)
_CHOICE = re.compile(
    rf"^(?!(?:which|what)\b.*, )(?:(?:which|what|where|when|why|if)\s+)?"
    rf"(?:should|would|shall|do|does|did|can|could|must)\s+{_CHOOSER}\s*(?:rather|ever|better|first)?"
    rf"\s*(?P<verb>(?:prefer|like|love|enjoy|want|hate|need|recommend|suggest)\s+)?(?P<rest>.+?)$",
    re.IGNORECASE,
)


def _choice(text: str) -> Phrases | None:
    """Should I buy A or B; do you prefer A or B; would you rather A or B."""
    for piece in STRONG.split(text):
        match = _CHOICE.match(piece)
        parts = _OR.split(re.split(r",\s+(?!.*\bor\b)", match["rest"])[0]) if match else []
        if match and len(parts) > 1 and not re.match(r"not\b", parts[1], re.IGNORECASE):
            first = parts[0].split(", ")
            second = first[1] if len(first) > 1 else parts[1]
            verb = match["verb"] or re.split(r"\s", stripped(first[0]) + " ")[0]
            return Phrases(first[0], second, verb.strip().lower(), aspects_of(text, piece))
    return None


def _graded(text: str) -> Phrases | None:
    """Is A or B better for X; do A or B last longer."""
    match = re.match(
        rf"^(?:(?:why|when|if|whether)\s+)?({AUXILIARY})\s+(.+?)\s+or\s+(.+)$", text, re.I
    )
    if not match:
        return None
    words = match[3].split()
    place = next((place for place in range(1, len(words)) if _degree(words, place)), None)
    if place is None:
        return None
    second, rest = words[:place], words[place:]
    while len(second) > 1 and _TRAIL.fullmatch(second[-1]):
        second.pop()
    if match[1].lower() in _DOING and len(second) > 1:
        second = second[:-1] if len(second) == place else second
    until = next(
        (n for n, word in enumerate(rest) if word.lower() in ("for", "at", "in", "to")), 99
    )
    aspect = object_of(" ".join(rest[until + 1 :]))
    first = match[2]
    if match[1].lower() in ("are", "were") and second[-1].endswith("s") and first.isalpha():
        # the verb says many, the first word says one, so it lacks its noun
        first = first if first.endswith("s") else " ".join([first, *second[1:]])
    return Phrases(first, " ".join(second), " ".join(rest[:until]), (aspect,) if aspect else ())


_ASKING = re.compile(r"(?:and\s+)?(?:which|what|who|whose|where|how|why|when)\b", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\b(?:in terms of|with respect to|when it comes to|regarding|for|at|to|per|in|as|on)\s+(.+)$",
    re.IGNORECASE,
)
_WEIGHING = re.compile(
    r"\b(differen\w+|prefer|pros and cons|choice|choose|pick|recommend|win|wins|winner)\b", re.I
)
_ENDING = """
in at for to of on per or than is are was as and with when if between among by from
"""
_ENDS = frozenset(_ENDING.split())


def _pieces(text: str) -> list[str]:
    return [piece for part in STRONG.split(text) for piece in part.split(", ") if piece]


def predicate_in(text: str) -> str:
    """The words that compare, in a part of a question; empty where none do."""
    words = text.split()
    for place in range(len(words)):
        if _degree(words, place):
            end = place + 1
            while end < min(len(words), place + 3) and words[end].lower() not in _ENDS:
                end += 1
            return " ".join(words[place:end]).strip(",")
    match = _WEIGHING.search(text)
    return match[1].lower() if match else ""


def aspects_of(text: str, objects: str) -> tuple[str, ...]:
    """The aspects of the comparison, outside the piece that names the objects."""
    found = []
    for piece in _pieces(text):
        if piece == objects or piece in objects or _OR.search(piece):
            continue
        predicate = predicate_in(piece)
        after = piece.partition(predicate)[2] if predicate else piece
        match = _PREPOSITION.search(after) if predicate else _PREPOSITION.match(piece)
        if match:
            found.append(object_of(match[1]))
    return tuple(filter(None, found))


def _alternatives(text: str) -> Phrases | None:
    """Which is better, A or B; A or B, which is better; A or B."""
    pieces = [piece for piece in STRONG.split(text) if piece]
    for number, piece in enumerate(pieces):
        if not _OR.search(piece) or re.match(rf"{AUXILIARY}\b", piece, re.IGNORECASE):
            continue
        parts = piece.split(", ")
        names = [part for part in parts if _OR.search(part) or not _PREPOSITION.match(part)]
        names = [part for part in names if not _ASKING.match(part)]
        items = [item for name in names for item in _OR.split(f" {name}") if stripped(item)]
        outside = " ; ".join(
            [
                *pieces[:number],
                *pieces[number + 1 :],
                *(part for part in parts if part not in names),
            ]
        )
        if len(items) < 2:
            inline = _inline(piece)
            if inline:
                return inline
            continue
        if len(text.split()) > _MOST_WORDS_OF_ALTERNATIVES and not predicate_in(outside):
            continue
        items = _with_head(items, pieces[number - 1] if number else "")
        aspects = aspects_of(outside.replace(" ; ", ": "), "\0")
        return Phrases(items[0], items[1], predicate_in(outside), aspects)
    return None


def _with_head(items: list[str], heading: str) -> list[str]:
    """Modifiers with the noun that stands before a colon ("Suitcases: hard or soft?")."""
    if len(heading.split()) != 1 or not all(map(is_modifier, map(str.strip, items))):
        return items
    return [f"{item.strip()} {heading.lower()}" for item in items]


def _inline(piece: str) -> Phrases | None:
    """Which is better a laptop or a desktop, without a comma."""
    before, second = _OR.split(piece, maxsplit=1)
    predicate = predicate_in(before)
    if not predicate:
        return None
    words = before.split()
    # in any case: some predicates are in lower case, and the question may not be
    start = min(len(before.lower().partition(predicate.lower())[0].split()) + 1, len(words))
    articles = [n for n in range(start, len(words)) if words[n].lower() in ("a", "an", "the")]
    cut, _ = without_aspect(object_of(second), "")
    place = articles[-1] if articles else max(start, len(words) - len(cut.split()))
    aspect = _PREPOSITION.search(" ".join(words[start:place]))
    aspects = (object_of(aspect[1]),) if aspect else ()
    return Phrases(" ".join(words[place:]), second, words[start - 1], aspects)


RULES: tuple[Callable[[str], Phrases | None], ...] = (
    _between,
    _weighed,
    _differing,
    _versus,
    _it_is,
    _than,
    _over,
    _choice,
    _graded,
    _alternatives,
)
"""All rules, the most certain first."""


_LONGEST = 400
_MOST_WORDS_OF_A_NAME = 10
# "Is tea healthier than coffee?" compares two objects, and is answered by yes or no
_CHOOSES = re.compile(r"\b(?:or|vs|versus)\b", re.IGNORECASE)
# whoever is for the first object of "Which is worse, war or tyranny?" is against it
_TURNED = frozenset({"worse", "worst"})


def parse_question(text: str) -> Question:
    """The kind, objects, aspects and predicate of a question.

    Args:
        text: Any text; its first 400 characters are read.

    Raises:
        UsageError: It is no text.
    """
    check_text(text, "the question")
    folded = _prepared(text)
    for rule in RULES:
        found = rule(folded)
        question = found and _finished(found)
        if question:
            return _debated(folded, question)
    return _superlative(folded) or Question("controversial")


def understood(topic: Topic) -> Topic:
    """The topic with its parsed question; objects that the topic gives take precedence."""
    if topic.question is not None:
        return topic
    question = parse_question(topic.title)
    if len(topic.objects) >= 2:
        first, second = map(valid_text, topic.objects[:2])
        question = replace(question, kind="comparative", first=first, second=second)
    return replace(topic, question=question)


def objects_of(topic: Topic) -> tuple[str, str] | None:
    """The two objects of a topic: as it gives them, else as its title names them."""
    question = understood(topic).question
    if question is None or question.first is None or question.second is None:
        return None
    return question.first, question.second


_LEADS = re.compile(
    r"^(?:(?:so|well|ok|okay|hi|hello|hey|please|and|but|honestly|anyone know)\b[\s,]*"
    r"|(?:do you|do people|does anyone|don't you|would you) (?:think|believe|say|know)\b(?: that)?"
    r"|i(?:'m| am| was)? (?:wonder(?:ing)?|want to know|would like to know|not sure)\b"
    r"(?: if)?|(?:can|could) (?:you|someone|anyone) (?:please )?(?:tell me|explain)\b"
    r"|(?:please )?(?:tell|show) me|is it true that)[\s,]*",
    re.IGNORECASE,
)


_AFTERTHOUGHT = re.compile(r"[,\s]+(?:and|or) (?:why|vice versa|how|where)(?: not)?(?=[\s?.!]*$)")


def choice_in(question: str) -> tuple[str, str] | None:
    """The two objects that a question wants one chosen of; None for other questions.

    An argument that is FOR such a question favours the first object, one that is AGAINST it the
    second. "Zoos: education or prison?" is about zoos, and "Is tea better than coffee?" can be
    answered by yes.
    """
    parsed = parse_question(question)
    if parsed.first is None or parsed.second is None or parsed.predicate in _TURNED:
        return None
    before, colon, after = question.partition(":")
    # "What is better: a laptop or a desktop?" chooses
    is_about_another = colon and not parse_question(before).predicate
    if not _CHOOSES.search(after if colon else before) or is_about_another:
        return None
    return parsed.first, parsed.second


def _prepared(text: str) -> str:
    """One line, plain quotes, without greetings before and closing marks after."""
    folded = " ".join(valid_text(text[:_LONGEST]).replace("’", "'").replace("‘", "'").split())
    folded = re.sub(r"\bvs\.|\bversus\b|\bv\.s\.?|\bv/s\b|\bVS\b|\bv\.(?=\s)", "vs", folded)
    before = None
    while folded != before:
        before, folded = folded, _LEADS.sub("", folded, count=1)
    folded = _AFTERTHOUGHT.sub("", folded)
    return folded.strip(" ?!.…,;:")


_PRONOUNS = """
it this that these those them they he she him her i me you we us not no none others both nothing
something anything one other more less fewer most least if when why how so
"""
_NAMELESS = frozenset(_PRONOUNS.split())


def _finished(found: Phrases) -> Question | None:
    """The question with two phrases as its objects, or None if they are no names."""
    first = object_of(found.first.split(", ")[-1])
    verbs = has_verb(found.first) or " " in first
    after = STRONG.split(found.second.strip(), maxsplit=1)[0].split(", ")[0]
    second, aspect = without_aspect(object_of(after, verbs), first)
    second = object_of(second, verbs)
    first, second = with_shared_head(first, second)
    if not (_is_name(first) and _is_name(second)) or first.lower() == second.lower():
        return None
    aspects = (*found.aspects, *((aspect,) if aspect else ()))
    unique = tuple(dict.fromkeys(name for name in map(stripped, aspects) if name))
    predicate = stripped(found.predicate)
    return Question("comparative", first, second, unique, predicate or None)


def _is_name(phrase: str) -> bool:
    words = phrase.lower().split()
    nameless = len(words) == 1 and (words[0] in _NAMELESS or words[0] in COMPARATIVES)
    return (
        0 < len(words) <= _MOST_WORDS_OF_A_NAME and any(map(str.isalnum, phrase)) and not nameless
    )


def _debated(text: str, question: Question) -> Question:
    """Yes-no questions on two beliefs ("-ism") are controversial, not comparative."""
    names = f"{question.first} {question.second}"
    if re.match(rf"{AUXILIARY}\b", text, re.IGNORECASE) and re.search(r"\w{3}ism\b", names):
        return replace(question, kind="controversial")
    return question


_OF_ALL = re.compile(
    r"^(?:what|which|who|whose|where|when|how(?! much| many| long))\b"
    r"|^(?:the )?(?:best|top|most)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(r"(?:what|which|who|where) .*?\b(good|top|ideal|recommended)\b", re.IGNORECASE)


def _superlative(text: str) -> Question | None:
    """A comparison without named objects, such as "What are the best rice cookers?"."""
    if not _OF_ALL.match(text):
        return None
    predicate = predicate_in(text)
    good = _GOOD.match(text)
    if not predicate and not good:
        return None
    found = predicate or (good[1].lower() if good else "")
    return Question("comparative", aspects=aspects_of(text, "\0"), predicate=found)
