"""The shipped model on twenty texts that were written for this test."""

from __future__ import annotations

import numpy as np
import pytest

from sicetnon.arguments.models.classifiers import (
    Argumentativeness,
    Comparison,
    Embedding,
    Quality,
    Stance,
)
from sicetnon.arguments.models.onnx_model import DebateEncoder

UNIFORMS = "We should abandon school uniforms"
TAX = "Should sugary drinks be taxed?"


@pytest.mark.parametrize(
    ("text", "topic", "side"),
    [
        ("Uniforms take away the freedom of children to express who they are.", UNIFORMS, "PRO"),
        ("Uniforms hide who is rich and who is poor, and so prevent bullying.", UNIFORMS, "CON"),
        ("A tax on soda would lower obesity and pay for hospitals.", TAX, "PRO"),
        ("Such a tax hits the poor hardest and does nothing for their health.", TAX, "CON"),
    ],
)
def test_an_argument_takes_its_side(text: str, topic: str, side: str) -> None:
    assert Stance().classify([text], [topic]) == [side]


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        (
            "Guns kill thousands of people every year.",
            ["We should ban guns", "We should not ban guns"],
        ),
        (
            "Homework takes away children's free time.",
            ["Homework should be banned", "Homework should not be banned"],
        ),
        (
            "Zoos keep wild animals locked up in cages for our amusement, which is cruel.",
            ["We should abolish zoos", "We should not abolish zoos"],
        ),
    ],
)
def test_a_negated_topic_turns_the_side_round(text: str, topics: list[str]) -> None:
    assert Stance().classify([text, text], topics) == ["PRO", "CON"]


def test_a_text_on_another_matter_takes_no_side() -> None:
    text = "Nuclear plants produce electricity day and night without burning coal."
    assert Stance().classify([text], ["We should ban cosmetic surgery for minors"]) == ["NONE"]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("In every test the Tolva was much faster than the Brundle.", "FIRST"),
        ("The Tolva is worse than the Brundle in nearly everything.", "SECOND"),
        ("The Brundle is better than the Tolva.", "SECOND"),
        ("The Tolva is not as good as the Brundle.", "SECOND"),
    ],
)
def test_a_comparison_and_its_objects_swapped(text: str, side: str) -> None:
    swapped = {"FIRST": "SECOND", "SECOND": "FIRST"}[side]
    assert Comparison().classify([text], ["Tolva"], ["Brundle"]) == [side]
    assert Comparison().classify([text], ["Brundle"], ["Tolva"]) == [swapped]


def test_a_list_of_both_takes_no_side() -> None:
    found = Comparison().classify(
        ["The shop sells the Tolva, the Brundle and tea."], ["Tolva"], ["Brundle"]
    )
    assert found[0] in ("NEUTRAL", "NO")


def test_a_reason_is_a_better_argument_than_an_insult() -> None:
    reason = (
        "Guide dogs should be allowed in restaurants, because people who cannot see depend on them"
        " and a trained dog disturbs nobody."
    )
    good, poor, shout = Quality().score([reason, "you are just dumb lol", "NO NO NO!!!!"])
    assert good > poor + 0.1
    assert good > shout + 0.1


def test_a_claim_with_a_reason_is_argumentative_and_a_greeting_is_not() -> None:
    texts = [
        "Therefore governments should invest in trains, because they pollute far less than planes.",
        "Hello everybody, my name is Ada and I live in a small town.",
    ]
    argued, greeting = Argumentativeness().score(texts)
    assert argued > 0.5
    assert argued > greeting + 0.3


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "🙂🙃👩‍👩‍👧 🚀" * 20,
        "Die Todesstrafe schreckt nicht ab.",
        "死刑は廃止すべきだ。",
        "[SEP] [unused1] [PAD]",
    ],
)
def test_any_text_gets_finite_answers(text: str) -> None:
    assert 0 <= Quality().score([text])[0] <= 1
    assert 0 <= Argumentativeness().score([text])[0] <= 1
    assert Stance().probabilities([text], [UNIFORMS]).sum() == pytest.approx(1, abs=1e-3)
    assert Comparison().probabilities([text], ["a"], ["b"]).sum() == pytest.approx(1, abs=1e-3)
    assert np.linalg.norm(Embedding().encode([text])[0]) == pytest.approx(1, abs=1e-3)


def test_twenty_thousand_words_are_read_to_their_end() -> None:
    against = "Such a tax hits the poor hardest and does nothing for their health. "
    in_favour = "A tax on soda would lower obesity and pay for hospitals. "
    long = against * 770 + in_favour * 910
    assert len(long.split()) > 20_000
    sides = Stance().probabilities([against * 40, in_favour * 40, long], TAX)
    assert Stance().labels(sides[:2]) == ["CON", "PRO"]
    # half of its words take each side
    assert sides[2] == pytest.approx((sides[0] + sides[1]) / 2, abs=0.05)


def test_the_end_of_a_long_text_changes_its_embedding() -> None:
    text = "Such a tax hits the poor hardest and does nothing for their health. " * 40
    other = text + "A tax on soda would lower obesity and pay for hospitals. " * 40
    first, second = Embedding().encode([text, other])
    assert first @ second < 0.9999


def test_texts_on_one_matter_are_nearer_than_texts_on_two() -> None:
    texts = [
        "Cats make better pets than dogs.",
        "A kitten is a nicer companion than a puppy.",
        "The central bank raised its interest rate.",
    ]
    first, second, third = Embedding().encode(texts)
    assert first @ second > first @ third + 0.2


def test_reading_leaves_the_smallest_numbers_of_the_thread_alone() -> None:
    # a run's last scores may be such numbers, and so may anything that its caller computes
    DebateEncoder(threads=1).answers(["Uniforms are cheap."], outputs=["quality"])
    smallest = np.finfo(np.float32).smallest_subnormal
    assert np.array([smallest]) * np.float32(1) == smallest
