"""A reply is one sentence against the claim of a text, from a source."""

from __future__ import annotations

import json

import pytest

import sicetnon
from sicetnon.errors import UsageError
from support.debates import AGAINST, FOR, both_sides

CLAIM = "I believe that teachers should get tenure."


@pytest.fixture(scope="module")
def index() -> sicetnon.Index:
    return both_sides()


@pytest.mark.parametrize(
    ("text", "expected"),
    [(CLAIM, AGAINST), ("Teachers should not get tenure.", FOR)],
)
def test_replies_are_against_the_claim(
    index: sicetnon.Index, text: str, expected: list[str]
) -> None:
    found = sicetnon.reply(index, text)
    assert 1 <= len(found) <= 3
    assert {each.text for each in found} <= set(expected)
    assert len({each.text for each in found}) == len(found)


def test_replies_are_short_and_quoted(index: sicetnon.Index) -> None:
    for each in sicetnon.reply(index, CLAIM, k=4):
        said = each.as_json()
        assert said["words"] == len(each.text.split()) <= 60
        assert each.text in index.records([said["id"]])[0].default_text()
        assert json.loads(json.dumps(said)) == said


def test_no_reply_where_nothing_fits(index: sicetnon.Index) -> None:
    assert sicetnon.reply(index, "Bananas are blue.") == []


@pytest.mark.parametrize("text", ["", "  \n", "?!", 3, None])
def test_a_text_without_words_is_refused(index: sicetnon.Index, text: object) -> None:
    with pytest.raises(UsageError, match="expected a text"):
        sicetnon.reply(index, text)  # type: ignore[arg-type]
