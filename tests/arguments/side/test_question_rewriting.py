"""Claims and questions in plain words, and the sides that follow from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon import Side
from sicetnon.arguments.side.question_rewriting import Plain, has_sides, plain


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Isn't homework a waste of time?", "Is homework a waste of time?"),
        ("isnt homework a waste of time", "Is homework a waste of time"),
        ("Isn’t it cruel to keep animals in zoos?", "Is it cruel to keep animals in zoos?"),
        ("Is it not cruel to keep animals in zoos?", "Is it cruel to keep animals in zoos?"),
        ("Can't we just ban cars?", "Can we just ban cars?"),
        ("Won't robots take our jobs?", "Will robots take our jobs?"),
        ("Don't you think that zoos are cruel?", "Zoos are cruel"),
        ("Do you believe God exists?", "God exists"),
        ("Isn't it obvious that taxes are theft?", "Taxes are theft"),
        ("Homework is a waste of time, isn't it?", "Homework is a waste of time"),
        ("Homework is a waste of time, right?", "Homework is a waste of time"),
        ("Homework isn't useful, is it?", "Homework isn't useful"),
        ("Whether or not prisons should be abolished", "Prisons should be abolished"),
        ("Smoking shouldnt be banned", "Smoking shouldn't be banned"),
        ("Why should zoos be closed?", "Should zoos be closed?"),
        ("Why shouldn't zoos be closed?", "Should zoos be closed?"),
        ("Why not ban cars?", "Should we ban cars?"),
        ("Why don't we ban cars?", "Should we ban cars?"),
    ],
)
def test_what_expects_a_yes_asks_for_no_denial(said: str, meant: str) -> None:
    assert plain(said) == Plain(meant)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("It is a myth that zoos teach anything.", "Zoos teach anything."),
        ("Is it a myth that vaccines cause autism?", "Vaccines cause autism"),
        ("I don't think we should ban cars.", "We should ban cars."),
        ("It is not true that guns kill", "Guns kill"),
        ("I think that it is wrong to say that taxes are theft", "Taxes are theft"),
    ],
)
def test_what_denies_the_rest_is_turned(said: str, meant: str) -> None:
    assert plain(said) == Plain(meant, turned=True)


@pytest.mark.parametrize(
    "said",
    [
        "Should students have to wear school uniforms?",
        "Do you believe in God?",
        "Do you agree with tenure?",
        "Should people say sorry more?",
        "Should we say yes to nuclear power?",
        "Is it right to eat meat?",
        "Is it right?",
        "Isn't it?",
        "Don't ban cars",
        "Doesn't work",
        "We should not ban cars",
        "Should students not be allowed phones?",
        "Tea or coffee?",
        "Why is the sky blue?",
        "Why not?",
        "  gun   control ",
        "",
    ],
)
def test_other_statements_stay_as_they_are(said: str) -> None:
    assert plain(said) == Plain(said)


@given(st.text(max_size=80))
def test_every_text_is_read(said: str) -> None:
    assert isinstance(plain(said).text, str)


CONCLUSIONS = ["Zoos should be closed", "Zoos are good for animals", "Zoos are cruel prisons"]
TEXT = "Animals suffer in zoos, and nobody learns anything from their misery. " * 8


@pytest.mark.parametrize(
    "question",
    [
        "Isn't it cruel to keep animals in zoos?",
        "Don't you think that it is cruel to keep animals in zoos?",
        "It is cruel to keep animals in zoos, isn't it?",
    ],
)
def test_loaded_questions_have_the_sides_of_the_plain_one(question: str) -> None:
    found = Side(threads=1).classify([TEXT] * 3, question, CONCLUSIONS, ["PRO"] * 3)
    assert [each.side for each in found] == ["FOR", "AGAINST", "FOR"]


@pytest.mark.parametrize(
    ("question", "sided"),
    [
        ("Why should zoos be closed?", True),
        ("Why shouldn't we close zoos?", True),
        ("Why are there zoos?", False),
        ("Isn't it cruel to keep animals in zoos?", True),
    ],
)
def test_why_something_should_be_has_sides(question: str, sided: bool) -> None:
    assert has_sides(question) is sided


def test_a_denied_claim_has_the_other_sides() -> None:
    judge = Side(threads=1)
    claim = judge.probabilities(CONCLUSIONS, "Zoos are cruel prisons for animals")
    myth = judge.probabilities(CONCLUSIONS, "It is a myth that zoos are cruel prisons for animals")
    np.testing.assert_allclose(myth, claim[:, [1, 0, 2, 3]])
