"""The side of a conclusion towards a question, by rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.arguments.side.lexicon import AGREES, DISAGREES, UNKNOWN, agreement

modestly = settings(max_examples=60, derandomize=True)


@pytest.mark.parametrize(
    ("question", "conclusion", "side"),
    [
        ("Should zoos be allowed?", "Zoos should be allowed", AGREES),
        ("Should zoos be allowed?", "Zoos", AGREES),
        ("Should zoos be allowed?", "Zoos should be banned", DISAGREES),
        ("Should zoos be allowed?", "Zoos shouldn't be banned", AGREES),
        ("Should zoos be allowed?", "We should abolish zoos now", DISAGREES),
        ("Should zoos be allowed?", "The circus should be allowed", UNKNOWN),
        ("Should zoos be allowed?", "", UNKNOWN),
        ("Should zoos be banned?", "Ban zoos", AGREES),
        ("Should zoos be banned?", "Zoos are good for children", DISAGREES),
        ("Is chess a sport?", "Chess is not a sport", DISAGREES),
        ("Are night trains better?", "Planes are better than night trains", DISAGREES),
        ("Are night trains better?", "Night trains are better than planes", AGREES),
        ("Should tea or coffee be taxed?", "Coffee should be taxed", AGREES),
        ("Should illegal immigrants get a vote?", "Immigrants should vote", AGREES),
        ("Are zoos worth it?", "The cost of zoos outweighs the benefits", DISAGREES),
        ("Are zoos worth it?", "The benefits of zoos outweigh the cost", AGREES),
        ("", "Zoos", UNKNOWN),
    ],
)
def test_sides_of_conclusions(question: str, conclusion: str, side: int) -> None:
    assert agreement(question, conclusion) == side


@modestly
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_have_a_side(question: str, conclusion: str) -> None:
    assert agreement(question, conclusion) in (AGREES, DISAGREES, UNKNOWN)
