"""Sentences stand in their text, and lose none of its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.text.sentences import sentences

WORDS = ["Tenure", "costs", "e.g.", "Dr.", "U.S.", "money.", "why?", "No!", "benefits.They", "3.5"]
OTHERS = [
    " ",
    "\n",
    "\n\n",
    "\t",
    "\u00a0",
    "\u2028",
    "\x1c",
    '"',
    "”",
    ")",
    "[1]",
    "- ",
    "• ",
    "…",
]
PIECES = st.sampled_from(WORDS + OTHERS)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_words_stay_as_they_are(text: str) -> None:
    found = sentences(text)
    assert "".join(found).replace(" ", "") == "".join(text.split())
    folded = " ".join(text.split())
    assert all(sentence in folded for sentence in found)
    assert all(sentence == sentence.strip() != "" for sentence in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tenure costs money. It helps nobody!", ["Tenure costs money.", "It helps nobody!"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("It brings benefits.They stay.", ["It brings benefits.", "They stay."]),
        ("Dr. Smith of the U.S. agrees. I do not.", ["Dr. Smith of the U.S. agrees.", "I do not."]),
        ("Taxes of 3.5%, e.g. on cars, fall.", ["Taxes of 3.5%, e.g. on cars, fall."]),
        ("Well... it works. Yes.", ["Well... it works.", "Yes."]),
        ("Reasons:\n- It costs\n- It lasts", ["Reasons:", "- It costs", "- It lasts"]),
        ("A line\nthat goes on.\n\nAnother", ["A line that goes on.", "Another"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("unit", ["!", "\n", ' "', ".", "[", "a.", "• ", "\n ", "e.g. ", ")."])
def test_long_texts_end(unit: str) -> None:
    # at quadratic time this takes minutes
    assert "".join(sentences(unit * 200_000)).replace(" ", "") == "".join((unit * 200_000).split())
