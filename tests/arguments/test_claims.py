"""The claim of a text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.arguments.claims import claim_of


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Homework should be abolished.", "Homework should be abolished."),
        ("I think that homework should be abolished.", "homework should be abolished."),
        ("Children need sleep. In my opinion, homework is harmful.", "homework is harmful."),
        ("Zoos are cruel. They cost a lot. Therefore they should close.", "they should close."),
        ("Zoos are cruel. Animals need space.", "Zoos are cruel."),
        ("I believe so.", "I believe so."),
        ("Yes. Zoos are cruel.", "Zoos are cruel."),
        ("Yes.", "Yes."),
        ("", ""),
    ],
)
def test_claim_of_a_short_text(text: str, claim: str) -> None:
    assert claim_of(text) == claim


def test_claim_of_a_long_text_is_like_the_whole() -> None:
    text = (
        "Let me define my terms. " + "Zoos keep animals in small cages. " * 4 + "Zoos are cruel. "
    )
    claim = claim_of(text + "Animals in zoos suffer. Good luck to my opponent. Thank you all.")
    assert "zoos" in claim.lower()


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_a_claim_stands_in_its_text(text: str) -> None:
    assert claim_of(text) in " ".join(text.split())
