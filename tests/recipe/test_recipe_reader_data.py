"""What was written for the reader: questions in other words, and sentences whose side is known."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from recipe.read_sides import digest
from recipe.reader_data import Pair, in_other_words, written, written_on_two
from recipe.sources import rows

FOLDER = Path(__file__).parents[2] / "recipe"
KINDS = {"for", "against", "title", "neither", "good 1", "good 2", "bad 1", "bad 2"}
FOR, AGAINST = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)


def test_each_question_has_two_same_and_three_opposite_variants() -> None:
    table = rows(FOLDER / "question-variants.tsv", "\t", quoted=False)
    digests = [row["question"] for row in table]
    assert len(digests) == len(set(digests)) == 3_304
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in digests)
    assert all(len(set(row.values())) == 6 and all(row.values()) for row in table)


def test_opposite_variants_turn_the_side(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [Pair("given", split, "Tea?", "It wakes.", FOR) for split in ("train", "held-out")]
    columns = ("same", "same2", "opposite", "opposite2", "opposite3")
    row = {"question": digest("Tea?")} | {name: f"Is tea {name}?" for name in columns}
    monkeypatch.setattr("recipe.reader_data.rows", lambda *_, **__: [row])
    found = {each.context: each.side for each in in_other_words(own)}
    assert found == {
        f"Is tea {name}?": AGAINST if name.startswith("opposite") else FOR for name in columns
    }


def test_written_sentences_take_the_side_of_their_kind() -> None:
    sides = {(each.context, each.text): each.side for each in written()}
    kinds: dict[str, dict[str, list[str]]] = {}
    for row in rows(FOLDER / "written-sentences.tsv", "\t", quoted=False):
        kinds.setdefault(row["subject"], {}).setdefault(row["kind"], []).append(row["text"])
    subjects = {name: texts for name, texts in kinds.items() if "for" in texts}
    assert len(subjects) == 182
    assert len(kinds) - len(subjects) == 100
    for texts in subjects.values():
        assert set(texts) == KINDS
        for good in (*texts["good 1"], *texts["good 2"]):
            assert sides[texts["for"][0], good] == FOR
            assert sides[texts["against"][0], good] == AGAINST


def test_the_other_order_of_two_objects_turns_the_side() -> None:
    found = list(written_on_two())
    counts = Counter((each.side, each.split) for each in found)
    assert counts[FOR, "train"] == counts[AGAINST, "train"] > 500
    assert counts[FOR, "held-out"] == counts[AGAINST, "held-out"] > 50
    assert sum(each.carries == (1.0, 0.0, 0.0) for each in found) == len(found) / 5
