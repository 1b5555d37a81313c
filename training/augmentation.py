"""Examples made from examples: questions and negations of topics, and topics of others.

Topics of the data sets are demands ("We should ban X"). People ask questions, and say no; both
must be understood.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from training.examples import Example

_WE = re.compile(r"^We should (not )?(.+)$", re.IGNORECASE)
_MODAL = re.compile(r"^(.+?) (should|is|are|must|will|can) (not )?(.+)$")
_HARM = re.compile(r"^(.+?) (brings?|does|do) more harm than good$", re.IGNORECASE)
_CAPITAL = re.compile(r"^[A-Z][a-z]")


def question_of(statement: str) -> str | None:
    """A statement as a question; None where the form is not known."""
    statement = statement.rstrip(". ")
    if demand := _WE.match(statement):
        return f"Should we {demand[1] or ''}{demand[2]}?"
    if harm := _HARM.match(statement):
        return f"Do {_small(harm[1])} bring more harm than good?"
    if modal := _MODAL.match(statement):
        return f"{modal[2].capitalize()} {_small(modal[1])} {modal[3] or ''}{modal[4]}?"
    return None


def negation_of(statement: str) -> str | None:
    """What says the opposite of a statement; None where the form is not known."""
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
    """An example of stance as it is, or one made of it.

    Args:
        example: The example.
        contexts: Topics to draw from for an example without a side.
        rng: What draws.
    """
    drawn = rng.random()
    if drawn < 0.05:
        other = rng.choice(contexts)
        if not _share_words(other, example.context):
            return replace(example, context=_asked(other, rng), label=2)
    context, label = example.context, int(example.label)
    if drawn > 0.80 and (negated := negation_of(context)):
        context, label = negated, 1 - label
    return replace(example, context=_asked(context, rng), label=label)


def _asked(context: str, rng: random.Random) -> str:
    return (question_of(context) if rng.random() < 0.25 else None) or context


def _share_words(first: str, second: str) -> bool:
    words = [
        {w for w in re.findall(r"\w{4,}", text.lower()) if w != "should"}
        for text in (first, second)
    ]
    return bool(words[0] & words[1])
