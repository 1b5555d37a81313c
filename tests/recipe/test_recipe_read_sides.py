"""Short texts whose side a large language model read."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from recipe.examples import Example
from recipe.read_sides import ASKED, READ, digest

FILE = Path(__file__).parents[2] / "recipe/read-sides.tsv"


def _rows() -> list[dict[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_each_context_stands_once_and_each_text_has_one_side() -> None:
    rows = _rows()
    assert len({row["context"] for row in rows}) == len(rows) > 10_000
    for row in rows:
        assert not row["question"] or row["context"] == digest(row["question"])
        named = [each.split(":") for each in row["sides"].split()]
        assert len({name for name, _ in named}) == len(named) > 0
        assert all(len(name) == 12 and letter in "FANfan" for name, letter in named)


def test_the_file_holds_no_text_of_the_data(all_examples: list[Example]) -> None:
    others = [each for each in all_examples if each.dataset not in (READ, ASKED)]
    texts = {text for each in others for text in (each.text, each.context)}
    assert not texts & {row["question"] for row in _rows() if row["question"]}


def test_read_sides_are_learnt_and_on_no_question_that_is_judged(
    all_examples: list[Example],
) -> None:
    found = [each for each in all_examples if each.dataset in (READ, ASKED)]
    kept = sum(len(row["sides"].split()) for row in _rows())
    # all but what nearly is a held-out text
    assert 0.97 * kept < len(found) <= kept
    assert {each.split for each in found} == {"train"}
    assert {each.label for each in found} == {0, 1, 2}
    judged = {
        each.context
        for each in all_examples
        if each.dataset in ("conclusions", "more-conclusions", "reworded")
        or each.split == "held-out"
    }
    assert not judged & {each.context for each in found}
    sure = [max(each.votes) for each in found]
    assert set(sure) == {0.75, 1.0}
    assert sum(sure) / len(sure) == pytest.approx(0.9, abs=0.05)
