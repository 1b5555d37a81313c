"""Parse questions: whether a question compares, which objects, in which aspects.

Each rule covers one form of comparative question in English. The rules are tried in order of their
precision, and the first that finds two names wins. Every text is legal.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from sicetnon.argument_checks import check_text
from sicetnon.arguments.comparative import phrases
from sicetnon.arguments.comparative.adjectives import COMPARATIVES
from sicetnon.arguments.comparative.question_forms import (
    AUXILIARY,
    RULES,
    STRONG,
    Phrases,
    aspects_of,
    predicate_in,
)
from sicetnon.formats.json_records import valid_text
from sicetnon.records import Question, Topic

_LONGEST = 400
_MOST_WORDS = 10
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
    first = phrases.object_of(found.first.split(", ")[-1])
    verbs = phrases.has_verb(found.first) or " " in first
    piece = STRONG.split(found.second.strip(), maxsplit=1)[0].split(", ")[0]
    second, aspect = phrases.without_aspect(phrases.object_of(piece, verbs), first)
    second = phrases.object_of(second, verbs)
    first, second = phrases.with_shared_head(first, second)
    if not (_is_name(first) and _is_name(second)) or first.lower() == second.lower():
        return None
    aspects = (*found.aspects, *((aspect,) if aspect else ()))
    unique = tuple(dict.fromkeys(name for name in map(phrases.stripped, aspects) if name))
    predicate = phrases.stripped(found.predicate)
    return Question("comparative", first, second, unique, predicate or None)


def _is_name(phrase: str) -> bool:
    words = phrase.lower().split()
    nameless = len(words) == 1 and (words[0] in _NAMELESS or words[0] in COMPARATIVES)
    return 0 < len(words) <= _MOST_WORDS and any(map(str.isalnum, phrase)) and not nameless


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
