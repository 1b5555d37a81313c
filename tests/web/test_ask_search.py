"""Examples to click on the first visit."""

from __future__ import annotations

from pathlib import Path

import sicetnon
from sicetnon.web.pages.ask_search import examples
from support.passages import boats


def test_examples_have_answers(index: Path) -> None:
    sample = sicetnon.Index.open(index)
    found = examples(sample)
    assert len(found) == len(set(found)) == 6
    assert all(sample.search(each, 3, sides=False) for each in found)


def test_passages_give_questions_that_compare(tmp_path: Path) -> None:
    passages = [
        sicetnon.Passage("a___1", "Kayak or canoe? A kayak is faster than a canoe."),
        sicetnon.Passage("a___2", "Why? Is a sled better than a canoe?"),
    ]
    found = examples(sicetnon.Index.build(passages))
    assert sorted(found) == ["Is a sled better than a canoe?", "Kayak or canoe?"]


def test_an_index_may_have_none(tmp_path: Path) -> None:
    assert examples(boats(tmp_path / "boats")) == []
    assert examples(sicetnon.Index.build(["x", "."])) == []
    index = boats(tmp_path / "index").delete([f"page-one___{place}" for place in (1, 2, 3)])
    assert examples(index) == []
