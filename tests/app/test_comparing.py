"""Comparisons: counts, aspects, and the sentences behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.app.comparing import ComparedPassages, compared
from sicetnon.arguments.comparative.comparer import aspects_in
from support.debates import both_sides
from support.passages import QUESTION, boats


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> ComparedPassages:
    found = compared(boats(tmp_path_factory.mktemp("boats") / "index").search(QUESTION, 12))
    assert found
    return found


def test_passages_are_counted_by_what_they_favour(comparison: ComparedPassages) -> None:
    assert comparison.objects == ("kayak", "canoe")
    assert comparison.counts() == {"FIRST": 2, "SECOND": 1, "NEUTRAL": 1, "NO": 2}


def test_an_aspect_narrows_it(comparison: ComparedPassages) -> None:
    about = [each.aspects for each in comparison.passages]
    assert sum("price" in each for each in about) == sum("speed" in each for each in about) == 2
    assert comparison.about("price").counts() == {"FIRST": 1, "SECOND": 1}
    assert comparison.about("nothing").counts() == {}


def test_each_sentence_stands_in_its_passage(comparison: ComparedPassages) -> None:
    for each in comparison.passages:
        text = each.answer.record.default_text()
        assert each.sentences
        assert all(sentence in text for sentence in each.sentences)
        assert each.names_one == ("kayak" in text.lower() or "canoe" in text.lower())


def test_answers_about_no_objects_are_no_comparison(tmp_path: Path) -> None:
    assert compared(both_sides(tmp_path / "index").search("Should teachers get tenure?")) is None
    assert compared([]) is None


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("It is cheaper and faster.", ["price", "speed"]),
        ("Its PRICE is lower.", ["price"]),
        ("The noisiest of all, and the heaviest.", ["noise", "weight"]),
        ("It stands in the hall.", []),
        ("It leaks a little all the time, many times a second, in a small kitchen.", []),
        ("It works on when the power fails, out of the cold.", []),
        ("It boils in half the time.", ["speed"]),
        ("It takes five minutes.", ["speed"]),
        ("", []),
    ],
)
def test_aspects_of_a_text(text: str, aspects: list[str]) -> None:
    assert aspects_in(text) == aspects
