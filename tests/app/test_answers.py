"""The sides of answers towards the question, as `search` gives them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sicetnon.app.answers import with_sides
from sicetnon.app.index import Index
from sicetnon.app.labels import denies
from sicetnon.cli import main
from sicetnon.records import Argument, Entry, Premise

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


DEBATE = "This house would close all zoos"
POINT = "Zoos are needed for education"
REFUTED = (
    "My cousin learnt more about animals from films than any zoo could show him. What you see in a "
    "zoo is an animal that sleeps, so you do not learn much about how it lives."
)
URL = "https://{}/debates/close-all-zoos"


@pytest.mark.parametrize(
    ("host", "side"), [("debatewise.org", "AGAINST"), ("portal.example", "FOR"), ("", "FOR")]
)
def test_a_stance_is_towards_the_title_on_one_portal_alone(host: str, side: str) -> None:
    context = {"discussionTitle": DEBATE} | ({"sourceUrl": URL.format(host)} if host else {})
    record = Argument("z", POINT, (Premise(REFUTED, "CON"),), context)
    with Index.build([record]) as index:
        (answer,) = index.search("Should zoos be closed?", system="bm25")
    assert answer.side == side
    assert denies(answer) == (host != "debatewise.org")


def test_a_document_without_text_takes_no_guessed_side() -> None:
    title = {"id": "a", "title": "Uniforms", "text": ""}
    with Index.build([title], fields=["title", "text"]) as index:
        (answer,) = index.search("Should pupils wear uniforms?", sides=False)
        bare = replace(answer, record=Entry("a", {"text": ""}))
        known = with_sides("Should pupils wear uniforms?", [bare, answer])
    assert (known[0].side, known[0].side_probability) == (None, None)
    assert known[1].side is not None


def test_other_results_of_a_debate_tell_what_its_stances_stand_for() -> None:
    question, heading = "Should plastic bags be banned?", "Plastic bags, yes or no"
    polite = (
        "I look forward to this debate about the bags we carry home, and thank everyone who reads "
        "it to the end."
    )
    texts = [
        ("Plastic bags choke turtles. They should be banned at once.", "CON"),
        ("A ban on plastic bags works: rivers are clean where they are banned.", "CON"),
        ("Bags of plastic are the cleanest way to carry food. Do not ban them.", "PRO"),
    ]
    others = [
        Argument(f"o{place}", heading, (Premise(text, stance),), {})
        for place, (text, stance) in enumerate(texts)
    ]
    answer = replace(
        Index.build(TEXTS).search("uniforms", sides=False)[0],
        record=Argument("a", heading, (Premise(polite, "PRO"),), {}),
    )
    (alone,), (told,) = (with_sides(question, [answer], each) for each in ([], others))
    assert told.side == "AGAINST"
    assert told.side_probability > (alone.side_probability if alone.side == "AGAINST" else 0) + 0.1
