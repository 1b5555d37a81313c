"""The sides of answers towards the question, as `search` gives them."""

from __future__ import annotations

import json

import pytest

from sicetnon.cli import main
from sicetnon.library.index import Index

CLAIM = "Pupils should wear school uniforms"
TEXTS = [
    {"id": "b", "text": "Uniforms hide who is poor.", "claim": CLAIM, "side": "pro"},
    {"id": "c", "text": "Uniforms cost parents too much.", "claim": CLAIM, "side": "con"},
]


@pytest.fixture(scope="module")
def small() -> Index:
    return Index.build(TEXTS, stance_field="side", claim_field="claim")


def test_the_stance_towards_the_claim_becomes_a_side_of_the_question(small: Index) -> None:
    found = small.search("Should pupils wear school uniforms?")
    assert {answer.id: answer.side for answer in found} == {"b": "FOR", "c": "AGAINST"}


def test_programs_get_side_and_probability(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "Should teachers get tenure?", "-k", "4", "--json"]) == 0
    for answer in json.loads(capsys.readouterr().out)["answers"]:
        assert answer["side"] in ("FOR", "AGAINST", "BOTH", "NONE")
        assert 0.25 <= answer["probability"] <= 1
        assert answer["stance"] in ("PRO", "CON")
