"""Augment examples of stance: topics as questions, negated topics, topics of other texts.

Topics of the data sets are demands ("We should ban X"), but people also ask questions and negate.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recipe.examples import Example, turned_round

_WE = re.compile(r"^We should (not )?(.+)$", re.IGNORECASE)
_MODAL = re.compile(r"^(.+?) (should|is|are|must|will|can) (not )?(.+)$")
_HARM = re.compile(r"^(.+?) (brings?|does|do) more harm than good$", re.IGNORECASE)
_CAPITAL = re.compile(r"^[A-Z][a-z]")


def question_of(statement: str) -> str | None:
    """A statement as a question; None where its form is unknown."""
    statement = statement.rstrip(". ")
    if demand := _WE.match(statement):
        return f"Should we {demand[1] or ''}{demand[2]}?"
    if harm := _HARM.match(statement):
        return f"Do {_small(harm[1])} bring more harm than good?"
    if modal := _MODAL.match(statement):
        return f"{modal[2].capitalize()} {_small(modal[1])} {modal[3] or ''}{modal[4]}?"
    return None


def negation_of(statement: str) -> str | None:
    """The negation of a statement; None where its form is unknown."""
    statement = statement.rstrip(". ")
    if demand := _WE.match(statement):
        return f"We should {'' if demand[1] else 'not '}{demand[2]}"
    if harm := _HARM.match(statement):
        return f"{harm[1]} brings more good than harm"
    if modal := _MODAL.match(statement):
        return f"{modal[1]} {modal[2]} {'' if modal[3] else 'not '}{modal[4]}"
    return None


def _small(text: str) -> str:
    return text[0].lower() + text[1:] if _CAPITAL.match(text) else text


def augmented(example: Example, contexts: Sequence[str], rng: random.Random) -> Example:
    """An example of stance, unchanged or augmented.

    Args:
        example: The example.
        contexts: Topics to draw from for an example without a side.
        rng: The random generator.
    """
    drawn = rng.random()
    if drawn < 0.05:
        other = rng.choice(contexts)
        if not _share_words(other, example.context):
            return replace(example, context=_asked(other, rng), label=2, votes=())
    if drawn > 0.80 and (negated := negation_of(example.context)):
        example = replace(turned_round(example), context=negated)
    return replace(example, context=_asked(example.context, rng))


def facing(found: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    """Pairs of texts on one topic: PRO if they are on the same side, otherwise CON.

    Each text is in at most one pair as the text.

    Args:
        found: Examples of stance, of one data set.
        rng: The random generator.
    """
    sides: dict[str, dict[int, list[Example]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        if each.label in (0, 1):
            sides[each.group][int(each.label)].append(each)
    for each in found:
        own = int(each.label)
        same = rng.random() < 0.5
        others = sides[each.group][own if same else 1 - own]
        other = rng.choice(others) if others else each
        if other.text != each.text:
            made = replace(each, dataset=f"facing-{each.dataset}", context=other.text, votes=())
            yield replace(made, label=0 if same else 1)


def _asked(context: str, rng: random.Random) -> str:
    return (question_of(context) if rng.random() < 0.25 else None) or context


def _share_words(first: str, second: str) -> bool:
    words = [
        {w for w in re.findall(r"\w{4,}", text.lower()) if w != "should"}
        for text in (first, second)
    ]
    return bool(words[0] & words[1])
