"""Replace the objects in a text by marks, as the model reads a comparison."""

from __future__ import annotations

from sicetnon.arguments.comparative.mentions import FIRST, SECOND, Mentions, words_of

MARKS = ("[unused1]", "[unused2]")
"""The marks of the first and the second object: unused tokens of BERT."""


def unmarked(text: str) -> str:
    """A text without brackets, so that nothing in it is a mark or a special token."""
    return text.replace("[", "( ").replace("]", " )") if "[" in text else text


def marked_text(text: str, first: str, second: str) -> str:
    """A text with every mention of an object replaced by its mark, in lower case."""
    found = Mentions(first, second).marked(words_of(unmarked(text)))
    # in lower case no other word is one capital letter
    marks = {FIRST: MARKS[0], SECOND: MARKS[1]}
    return " ".join(marks.get(word, word) for word in found)


def marked_objects(first: str, second: str) -> str:
    """The names of the objects, each after its mark."""
    return f"{MARKS[0]} {unmarked(first)} {MARKS[1]} {unmarked(second)}"
