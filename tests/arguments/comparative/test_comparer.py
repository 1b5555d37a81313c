"""Stance towards two objects: examples of our own, symmetry, any text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.arguments.comparative.comparer import Comparer
from sicetnon.arguments.comparative.mentions import Mentions, words_of

SWAPPED = {"FIRST": "SECOND", "SECOND": "FIRST", "NEUTRAL": "NEUTRAL", "NO": "NO"}
EXAMPLES = """
F The kayak is faster than the canoe.
F Kayaks are much easier to steer than canoes.
F A kayak is more stable than a canoe.
F A kayak has better tracking than any canoe.
F In my experience kayaks, being low in the water, are simply safer than canoes.
S The kayak is slower than the canoe.
S The kayak is more expensive than the canoe.
S A kayak is less comfortable than a canoe.
F A kayak is less dangerous than a canoe.
S Kayaks are worse than canoes in every respect.
S A kayak is not better than a canoe.
F A kayak is not slower than a canoe.
S I don't think a kayak is faster than a canoe.
F Compared to a canoe, a kayak is quicker.
F Kayaks are quicker compared to canoes.
F Unlike a canoe, a kayak is easy to carry.
F The kayak, unlike the canoe, is very reliable.
S The kayak, unlike the canoe, is expensive.
F I prefer the kayak over the canoe.
F I prefer a kayak to a canoe.
F We would choose kayaks over canoes any day.
F I recommend a kayak instead of a canoe.
S I switched from a kayak to a canoe.
F The kayak beats the canoe.
F Kayaks outperform canoes on rivers.
F A kayak is superior to a canoe.
S A kayak is inferior to a canoe.
S The kayak is no match for the canoe.
S A kayak is not as good as a canoe.
S A kayak isn't as safe as a canoe.
F It is easier to learn a kayak than a canoe.
F You will be happier with a kayak than with a canoe.
F It is far better than a canoe.
S It is slower than the canoe? No. It is more reliable than any kayak.
F The kayak is great, but the canoe is awful.
S The kayak is ugly, while the canoe is elegant.
S Although the kayak is cheap, I would go with the canoe, which is better.
F The advantages of a kayak: cheap, light, and easy to store.
S The main disadvantage of a kayak is that it is uncomfortable.
F I love my kayak. It is reliable. I recommend a kayak to everybody.
S Avoid the kayak. Kayaks are terrible.
F The kayak is the best boat that I ever had.
S There is a lot to like about a canoe, and canoes are the safest choice.
N Kayaks and canoes differ in how you sit.
F Water runs out of a kayak in half the time that a canoe needs.
S A kayak costs twice as much as a canoe.
N What is the difference between a kayak and a canoe? Both float.
N The kayak is faster than the canoe. The canoe is cheaper than the kayak.
N Compare a kayak with a canoe before you buy.
N Kayak vs canoe: it depends on the lake.
N A kayak is better for rivers, whereas a canoe is better for families.
N Both kayaks and canoes are great.
O Boats have been built for thousands of years.
O The weather was fine and we had a good time.
O A kayak is a boat with a closed deck.
O The canoe was seen on the lake on Monday.
O Bread is better than cake.
O
"""
GOLD = {"F": "FIRST", "S": "SECOND", "N": "NEUTRAL", "O": "NO"}


@pytest.mark.parametrize("line", [line for line in EXAMPLES.splitlines() if line])
def test_examples(line: str) -> None:
    expected, _, text = line.partition(" ")
    found = Comparer("kayak", "canoe").stance(text)
    assert found == GOLD[expected]
    assert Comparer("canoe", "kayak").stance(text) == SWAPPED[found]


@pytest.mark.parametrize(
    ("first", "second", "text", "expected"),
    [
        ("Chinese medicine", "Western medicine", "Chinese medicine beats Western one.", "FIRST"),
        ("steel knives", "ceramic knives", "Steel is more durable than ceramic.", "FIRST"),
        ("Internet Explorer", "Firefox", "IE is slower than Firefox.", "SECOND"),
        ("Joe Frazier", "Muhammad Ali", "Frazier was stronger than Ali.", "FIRST"),
        ("Python", "R", "R is easier than Python.", "SECOND"),
        ("Python", "R", "Python is easier than r.", "NO"),
        ("C++", "C", "C++ is safer than C.", "FIRST"),
        ("cow milk", "goat milk", "Goat's milk is healthier than cow's milk.", "SECOND"),
        ("random forests", "decision trees", "A random forest is better than a tree.", "FIRST"),
        ("quicksort", "merge sort", "Merge sort is slower than quicksort.", "FIRST"),
        ("PC", "Mac", "PCs are cheaper than Macs.", "FIRST"),
    ],
)
def test_names_of_objects(first: str, second: str, text: str, expected: str) -> None:
    assert Comparer(first, second).stance(text) == expected
    assert Comparer(second, first).stance(text) == SWAPPED[expected]


def test_marks() -> None:
    marks = Mentions("gas stove", "electric stove")
    words = words_of("Gas stoves and electric ones; a stove.")
    assert marks.marked(words) == ["A", "and", "B", "ones", ";", "a", "stove", "."]


def test_a_negation_alone_names_nothing() -> None:
    words = words_of("No one takes tea with no sugar; sugar is not bad.")
    found = Mentions("sugar", "no sugar").marked(words)
    assert found == ["no", "one", "takes", "tea", "with", "B", ";", "A", "is", "not", "bad", "."]


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("3D", "2D", "3D costs more than 2d."),
        ("5G", "Wi-Fi", "5g needs a mast, wi-fi a box."),
        ("7up", "Sprite", "A 7up, not a sprite."),
        ("css", "html", "CSS comes after HTML."),
        ("CSS", "HTML", "css comes after html."),
        ("bus", "tram", "THE BUS STOPS, THE TRAM DOES NOT."),
        ("PC", "Mac", "PCs outsell Macs."),
        ("TV", "radio", "Old TVs and radios."),
        ("SUV", "van", "SUVs and vans. An SUV's wheels."),
        ("İX", "İS", "An İX beats an İS."),  # longer in lower case
    ],
)
def test_names_are_found_in_their_ways_of_writing(first: str, second: str, text: str) -> None:
    found = Mentions(first, second).marked(words_of(text))
    assert {"A", "B"} <= set(found)


def test_same_objects_have_no_stance() -> None:
    assert Comparer("kayak", "Kayaks").stance("A kayak is better than a kayak.") == "NO"


def test_thresholds_are_parameters() -> None:
    text = "The kayak is faster than the canoe."
    assert Comparer("kayak", "canoe", least=5.0).stance(text) == "NEUTRAL"


WORDS = (
    "kayak canoe better worse than not is more expensive , unlike prefer over . but great ? to and"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=40).map(" ".join))
def test_swapping_objects_swaps_the_stance(text: str) -> None:
    one, other = Comparer("kayak", "canoe"), Comparer("canoe", "kayak")
    assert one.evidence(text).balance == pytest.approx(-other.evidence(text).balance)
    assert one.evidence(text).amount == pytest.approx(other.evidence(text).amount)
    assert SWAPPED[one.stance(text)] == other.stance(text)


@given(st.text(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_legal(text: str, first: str, second: str) -> None:
    assert SWAPPED[Comparer(first, second).stance(text)] == Comparer(second, first).stance(text)


def test_long_text_is_no_trouble() -> None:
    assert Comparer("kayak", "canoe").stance("kayak better " * 20_000) == "FIRST"


def test_better_than_no_rules_on_real_sentences(data: Path) -> None:
    """Macro-F1 well above the 0.28 that always one answer gives."""
    from benchmarks.effectiveness import comparison

    pairs = [
        (gold, Comparer(first, second).stance(text))
        for _, text, first, second, gold in comparison.sentences()
    ]
    folded = [(g, f if f in ("FIRST", "SECOND") else "NONE") for g, f in pairs]
    assert comparison.macro_f1(folded) > 0.6
