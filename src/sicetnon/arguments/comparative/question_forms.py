"""Forms of comparative questions in English, one rule each.

A rule takes a question on one line, without punctuation at its end, and returns the two phrases
that it finds, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sicetnon.arguments.comparative import phrases
from sicetnon.arguments.comparative.adjectives import COMPARATIVES, SUPERLATIVES

_MOST_WORDS = 20


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
    aspects = (*found.aspects, phrases.object_of(aspect)) if aspect else found.aspects
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
    # the word after them stands in, so that a bare "more" counts
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
            verb = match["verb"] or re.split(r"\s", phrases.stripped(first[0]) + " ")[0]
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
    aspect = phrases.object_of(" ".join(rest[until + 1 :]))
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
            found.append(phrases.object_of(match[1]))
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
        items = [item for name in names for item in _OR.split(f" {name}") if phrases.stripped(item)]
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
        if len(text.split()) > _MOST_WORDS and not predicate_in(outside):
            continue
        items = _with_head(items, pieces[number - 1] if number else "")
        aspects = aspects_of(outside.replace(" ; ", ": "), "\0")
        return Phrases(items[0], items[1], predicate_in(outside), aspects)
    return None


def _with_head(items: list[str], heading: str) -> list[str]:
    """Modifiers with the noun that stands before a colon ("Suitcases: hard or soft?")."""
    if len(heading.split()) != 1 or not all(map(phrases.is_modifier, map(str.strip, items))):
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
    cut, _ = phrases.without_aspect(phrases.object_of(second), "")
    place = articles[-1] if articles else max(start, len(words) - len(cut.split()))
    aspect = _PREPOSITION.search(" ".join(words[start:place]))
    aspects = (phrases.object_of(aspect[1]),) if aspect else ()
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
