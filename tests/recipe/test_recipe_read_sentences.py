"""Sentences whose side, subject and reason a large language model read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from recipe.read_sentences import (
    FILE,
    SIDES,
    ReadSentence,
    Texts,
    as_question,
    read_sentences,
    texts_of_data,
)
from recipe.read_sides import digest
from recipe.sources import rows

LABELS = 53_826
NAME = re.compile(r"(?:[0-9a-f]{12}|\S+@\d+\+\d+):(?:[FABfab][012]|[NOno])")


@pytest.fixture(scope="module")
def texts(data: Path) -> Texts:
    return texts_of_data()


@pytest.fixture(scope="module")
def found(texts: Texts) -> list[ReadSentence]:
    return list(read_sentences(texts))


def test_each_question_stands_once_and_each_text_has_one_label() -> None:
    contexts, labels = set(), 0
    for row in rows(FILE, "\t", quoted=False):
        contexts.add(tuple(row[name] for name in ("context", "form", "question", "first")))
        assert bool(row["question"]) != bool(row["context"])
        assert bool(row["first"]) == bool(row["second"]) <= bool(row["question"])
        assert row["form"] in ("", "asked")
        named = row["labels"].split()
        assert all(map(NAME.fullmatch, named))
        assert len({each.rsplit(":", 1)[0] for each in named}) == len(named) > 0
        labels += len(named)
    assert len(contexts) == 5_536
    assert labels == LABELS


def test_every_text_that_is_named_is_found(
    found: list[ReadSentence], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        sides = Counter(SIDES[each.side.index(max(each.side))] for each in found)
        print(f"{len(found)} of {LABELS} labelled texts found: {dict(sides)}")  # noqa: T201
    assert len(found) == LABELS


def test_labels_are_shares(found: list[ReadSentence]) -> None:
    for each in found:
        for shares, count in ((each.side, 4), (each.about, 3), (each.carries, 3)):
            assert len(shares) == count
            assert sum(shares) == pytest.approx(1.0)
        assert (max(each.side) == 1.0) == each.sure
        if each.carries[2]:
            assert each.about[2] == 1.0


def test_the_file_holds_no_text_of_the_data(texts: Texts) -> None:
    own = {row["question"] for row in rows(FILE, "\t", quoted=False)} - {""}
    assert not {digest(each) for each in own} & set(texts.pieces)


def test_a_claim_is_turned_into_a_question() -> None:
    assert as_question("The moon should be painted.") == "Should the moon be painted?"
    assert as_question("UN troops are not needed") == "Are UN troops not needed?"
    assert as_question("Painting the moon") == "Painting the moon"
