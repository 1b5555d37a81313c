"""The sides of answers towards the question, as `search` gives them."""

from __future__ import annotations

import json

import pytest

from sicetnon.cli import main
from sicetnon.library.index import Index

TEXTS = [
    {"id": "b", "text": "They hide who is poor.", "claim": "Uniforms are good", "side": "pro"},
    {"id": "c", "text": "They cost too much.", "claim": "Uniforms are good", "side": "con"},
]
QUESTION = "Should pupils wear school uniforms?"


@pytest.fixture(scope="module")
def small() -> Index:
    return Index.build(TEXTS, stance_field="side", claim_field="claim")


def test_a_tag_is_turned_where_the_conclusion_answers_the_question(small: Index) -> None:
    sides = {answer.id: answer.side for answer in small.search(QUESTION)}
    assert sides["b"] == "FOR"
    assert sides["c"] == "AGAINST"


def test_programs_get_side_and_probability(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", QUESTION, "-k", "4", "--json"]) == 0
    for answer in json.loads(capsys.readouterr().out)["answers"]:
        assert answer["side"] in ("FOR", "AGAINST", "BOTH", "NONE")
        assert 0.25 <= answer["probability"] <= 1
        assert answer["stance"] in ("PRO", "CON")
