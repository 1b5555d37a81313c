"""Texts are split into sentences."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from recipe.sentences import split_sentences

PROSE = st.text(alphabet="abc ABC.!?…\"')(\n1,", max_size=80)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One.", ["One."]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Who came. He left.", ["Dr. Who came.", "He left."]),
        ("It costs 3.5 million. That is much.", ["It costs 3.5 million.", "That is much."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("J. S. Mill wrote it.", ["J. S. Mill wrote it."]),
        ("The U.S. Senate met.", ["The U.S. Senate met."]),
        ("no capitals. none at all", ["no capitals. none at all"]),
        ("A heading\n\nA text.", ["A heading", "A text."]),
        ("Folded\nline.\n(In brackets.)", ["Folded line.", "(In brackets.)"]),
    ],
)
def test_texts_are_split(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@settings(max_examples=100, derandomize=True)
@given(PROSE)
def test_splitting_loses_nothing(text: str) -> None:
    found = split_sentences(text)
    assert " ".join(found).split() == text.split()
    assert all(sentence and sentence == " ".join(sentence.split()) for sentence in found)
