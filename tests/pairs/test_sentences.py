"""Sentences: choosing, strength."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.pairs.sentence_strength import is_candidate, is_negated, strength

modestly = settings(max_examples=100, derandomize=True)


ARGUES = [
    "Tenure protects teachers from being fired for political reasons.",
    "Because felons have served their sentence, they deserve to vote again.",
    "According to a study of 2014, uniforms did not raise attendance.",
    "Renewable sources of energy are cheaper than coal in most countries.",
    "Most countries accept refugees without any harm to their economy.",
    "Recycling saves energy (see https://example.org/energy) and spares our rivers.",
]
ARGUES_NOT = {
    "greeting": "Hello everybody, it is great to be here today.",
    "thanks": "I thank my partner for this interesting and timely response.",
    "acceptance": "I accept this challenge and wish everybody well today.",
    "housekeeping": "In the first round we will only say hello to each other.",
    "vote": "Please read everything that I wrote and vote con today.",
    "question to the opponent": "Do you really think that children like to wear uniforms?",
    "fragment": "and therefore the whole of the argument falls apart at once",
    "title": "Tenure of teachers at university",
    "short": "Tenure is bad.",
    "number": "1.",
    "link": "https://www.example.org/a/long/link.html",
    "links": "See www.example.org www.example.com http://example.net and so on",
    "sources": "Sources: The Times, 4 May 2012, page 3.",
    "figures": "12 34 56 78 90 12 34 56 78 90 12 34 56 a b c d",
    "empty": "",
    "wall": "word " * 200,
}


@pytest.mark.parametrize("text", ARGUES)
def test_what_argues_is_kept(text: str) -> None:
    assert is_candidate(text)


@pytest.mark.parametrize("case", ARGUES_NOT)
def test_what_does_not_argue_is_left_out(case: str) -> None:
    assert not is_candidate(ARGUES_NOT[case])


def test_conclusions_may_be_short_but_no_questions() -> None:
    assert is_candidate("Tenure is bad.", True)
    assert not is_candidate("Should felons be allowed to vote?", True)
    assert not is_candidate("Teacher tenure", True)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("Uniforms save money because nobody buys brands.", "Uniforms save money."),
        ("Crime fell by 12% when the law changed.", "Crime fell somewhat when the law changed."),
        ("Uniforms save money for parents.", "They also save money for parents."),
        ("Uniforms save money for parents.", "Do uniforms save money for parents?"),
        ("Uniforms save money for parents.", "I say uniforms save you money."),
        ("Uniforms save parents much money.", "This argument saves parents much money."),
        ("Uniforms save parents much money.", "Uniforms save money: www.example.org."),
    ],
)
def test_strength_has_its_reasons(stronger: str, weaker: str) -> None:
    assert strength(stronger) > strength(weaker)


@modestly
@given(st.text(max_size=200), st.booleans())
def test_any_text_is_legal(text: str, conclusion: bool) -> None:
    assert is_candidate(text, conclusion) in (True, False)
    assert -3 < strength(text) < 3
    assert is_negated(text) in (True, False)


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("It works.", False),
        ("It does not work.", True),
        ("It doesn't work.", True),
        ("It doesn’t work.", True),
        ("It is not without merit.", False),
        ("Nothing works, and nobody knows.", False),
    ],
)
def test_negations_are_counted(text: str, negated: bool) -> None:
    assert is_negated(text) is negated


@pytest.mark.parametrize("part", [".", "a", '"', "/", "www", '."'])
def test_a_run_of_one_letter_takes_linear_time(part: str) -> None:
    # quadratic time would be minutes
    assert is_candidate(f"Tea // is better than {part * 500_000}") == part.isalpha()
