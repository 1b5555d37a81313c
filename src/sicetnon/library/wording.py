"""Words for the ranks of answers and for the probabilities of their sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sicetnon.arguments.side.statements import is_point
from sicetnon.records import claimed, resolution_of

if TYPE_CHECKING:
    # heavy, and the command line prints answers without it
    from sicetnon.library.answers import Answer

REASONS = {
    "on_topic": "on topic",
    "strength": "strong",
    "lexical": "words of the question",
    "repeated": "says nothing new",
}
"""The reasons of `Answer.reasons` in words, in the order in which they are shown."""

_SQUARELY, _REPEATS = 0.8, 0.1


def why(reasons: Mapping[str, float]) -> list[tuple[str, float | None]]:
    """The reasons for an answer's place with their values, in words.

    What decides nothing is left out: a text that repeats next to nothing. An answer that is
    squarely about the question is said to be so; that has no value of its own.
    """
    named: list[tuple[str, float | None]] = [
        (words, reasons[name])
        for name, words in REASONS.items()
        if name in reasons and (name != "repeated" or reasons[name] >= _REPEATS)
    ]
    if reasons.get("on_topic", 0.0) >= _SQUARELY:
        named.insert(1, ("squarely about it", None))
    return named


def guess(answers: Sequence[Answer]) -> str:
    """A notice that the sides are guesses; empty where none is."""
    # all NO is also what a system says that judges no sides
    if any(answer.objects and answer.stance != "NO" for answer in answers):
        return "Which object a passage favours is a program's guess, with its probability."
    if all(answer.side_probability is None for answer in answers):
        return ""
    if any(all(claimed(answer.record)) for answer in answers):
        return "Which side an answer takes is a program's guess, with its probability."
    return "Which side an answer takes is a guess from its text alone, which is often wrong."


def denies(answer: Answer) -> bool:
    """Whether an answer denies the claim that is its heading."""
    claim, stance = claimed(answer.record)
    return bool(claim) and stance == "CON" and not is_point(claim, resolution_of(answer.record))
