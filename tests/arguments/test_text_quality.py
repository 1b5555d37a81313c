"""The measures of a text's faults in a debate."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.arguments.text_quality import _letters, _phrases, housekeeping, shouting

ARGUMENT = (
    "Tenure protects teachers who speak about unpopular matters. Without it a single angry parent "
    "could end a career, and good people would choose another profession."
)
PHRASES = re.compile(
    r"\b(?:i accept|accepted|acceptance|first round|good luck|look(?:ing)? forward|forfeit\w*"
    r"|extend (?:all )?(?:my )?arguments|thank(?:s| you| my)?|my opponent)\b"
)
PARTS = [
    *("i accept", "accepted", "acceptance", "first round", "good luck", "look forward", "looking"),
    *(" forward", "forfeit", "extend all", "extend", " my arguments", "thank", "thank my", "s"),
    *("thank you", "my opponent", " opponent", " ", "-", "_", "é", "\u0307", "\n", "ed", "i", "ı"),
]
CALM = " ".join(a + b for a in "bcdfghjklmnpqrst" for b in "aeiouyaeiouywx")[:600]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0.0),
        (ARGUMENT, 0.0),
        ("I accept.", 100 * 1 / 52),
        ("I accept. Good luck!", 100 * 2 / 54),
        ("i ACCEPT", 100 / 52),
        ("Thanks! I look forward to this.", 100 * 2 / 56),
        ("My opponent forfeited, so extend all my arguments.", 4.0),
        ("My opponent forfeited the round, and " + "that is that " * 50, 100 * 2 / 206),
        ("thank you " * 100, 4.0),
        ("acceptable thankless forfeiture first grounds", 100 / 55),  # forfeiture alone
    ],
)
def test_housekeeping_of_written_examples(text: str, expected: float) -> None:
    assert housekeeping(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0.0),
        ("12 345 !?", 0.0),
        (ARGUMENT, 0.0),
        ("BAN GUNS", 1.0),
        ("ban ban ban ban", 0.5),
        ("Ban ban BAN bAn", 0.5 + (5 / 12 - 0.3) / 0.7),
        ("BAN " * 100, 1.0 + 0.98),
        ("AB cdefgh", 0.0),
        ("ABCDE fghij", (0.5 - 0.3) / 0.7),
        ("one two one two", 0.0),  # half of the words were said before: that is calm
        ("禁止 銃", 0.0),
        (CALM + "BAN GUNS " * 500, 0.0),  # only the beginning is looked at
    ],
)
def test_shouting_of_written_examples(text: str, expected: float) -> None:
    assert shouting(text) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=200, derandomize=True)
@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_faults_of_any_text_are_in_their_range(text: str) -> None:
    assert 0.0 <= housekeeping(text) <= 4.0
    assert 0.0 <= shouting(text) <= 2.0


@settings(max_examples=500, derandomize=True)
@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_phrases_are_those_that_one_pattern_finds(text: str) -> None:
    assert _phrases(text) == len(PHRASES.findall(text))


@settings(max_examples=200, derandomize=True)
@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("aZ É"), max_size=300))
def test_letters_of_all_alphabets_count(text: str) -> None:
    assert _letters(text) == (sum(map(str.isalpha, text)), sum(map(str.isupper, text)))


@settings(max_examples=50, derandomize=True)
@given(st.lists(st.sampled_from([ARGUMENT, "I accept.", "GUNS KILL", "thanks"]), max_size=5))
def test_capitals_shout_more_than_other_letters(parts: list[str]) -> None:
    text = " ".join(parts)
    assert shouting(text.lower()) <= shouting(text) <= shouting(text.upper())
