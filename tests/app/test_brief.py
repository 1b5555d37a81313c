"""A brief quotes: each of its sentences stands in its source, and its page shows them safely."""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser

import pytest

import sicetnon
from sicetnon.app.brief import Brief
from sicetnon.app.index import sample_index
from support.debates import AGAINST, FOR, NOISE, QUESTION, argument, both_sides, indexed
from support.report_cases import HOSTILE


@pytest.fixture(scope="module")
def index() -> sicetnon.Index:
    return both_sides()


@pytest.fixture(scope="module")
def made(index: sicetnon.Index) -> Brief:
    return sicetnon.brief(index, QUESTION)


def quoted(brief: Brief) -> list[sicetnon.app.reasons.Reason]:
    points = [reason for point in brief.contested for reason in (point.supporting, point.opposing)]
    return [*brief.supporting, *brief.opposing, *points]


def folded(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("seed", range(6))
def test_every_sentence_stands_in_its_source(seed: int) -> None:
    draw = random.Random(seed)
    documents = []
    for place in range(12):
        parts = draw.sample(FOR + AGAINST + NOISE, 5)
        blanks = draw.choices([" ", "\n", "  ", "\t", "\n\n", ""], k=5)
        text = "".join(part + blank for part, blank in zip(parts, blanks, strict=True))
        documents.append(argument(place, text, draw.choice(["PRO", "CON", None])))
    index = indexed(documents)
    brief = sicetnon.brief(index, QUESTION)
    assert quoted(brief)
    for reason in quoted(brief):
        record = index.records([reason.answer.id])[0]
        assert reason.sentence in folded(record.default_text())


def test_reasons_stand_on_their_side(made: Brief) -> None:
    assert len(made.supporting) == len(made.opposing) == 3
    assert {reason.sentence for reason in made.supporting} <= set(FOR)
    assert {reason.sentence for reason in made.opposing} <= set(AGAINST)
    sentences = [reason.sentence for reason in quoted(made)]
    assert len(sentences) == len(set(sentences))


def test_points_pair_the_sides(made: Brief) -> None:
    for point in made.contested:
        assert (point.supporting.side, point.opposing.side) == ("FOR", "AGAINST")
        assert point.words


def test_nothing_is_said_twice() -> None:
    twice = [argument(place, FOR[0], "PRO") for place in range(3)]
    brief = sicetnon.brief(indexed([*twice, argument(3, AGAINST[0], "CON")]), QUESTION)
    assert [reason.sentence for reason in brief.supporting] == FOR[:1]
    assert "No more reasons were found" in brief.as_markdown()
    assert "No more reasons were found" in brief.as_html()


def test_nothing_found_is_said(index: sicetnon.Index) -> None:
    brief = sicetnon.brief(index, "qwertyuiop")
    assert not quoted(brief)
    for text in (brief.as_markdown(), brief.as_html()):
        assert "There is no argument about this in this index." in text


def test_a_question_for_a_fact_has_no_sides(index: sicetnon.Index) -> None:
    brief = sicetnon.brief(index, "What is tenure?")
    assert not quoted(brief)
    assert not brief.has_sides
    assert "asks for a fact" in brief.as_markdown()


def test_json_says_what_the_page_says(made: Brief) -> None:
    found = json.loads(json.dumps(made.as_json()))
    assert found["question"] == QUESTION
    for key, reasons in (("for", made.supporting), ("against", made.opposing)):
        assert [each["sentence"] for each in found[key]] == [each.sentence for each in reasons]
        assert all(each["id"] for each in found[key])
    markdown, html = made.as_markdown(), Page(made.as_html()).text
    for each in [*found["for"], *found["against"]]:
        assert each["sentence"] in html
        assert each["sentence"] in markdown


def test_links_are_those_of_the_corpus() -> None:
    with sample_index() as index:
        brief = sicetnon.brief(index, QUESTION)
    links = [reason.link for reason in quoted(brief) if reason.link]
    assert links
    assert set(Page(brief.as_html()).links) == set(links)
    assert all(f"]({link})" in brief.as_markdown() for link in links)


class Page(HTMLParser):
    """The texts and links of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_texts_stay_texts() -> None:
    hostile = f"{HOSTILE} Tenure costs money because [it](javascript:alert(1)) is <b>bad</b>."
    document = argument(0, hostile, "CON") | {"url": 'https://example.org/"><script>(a b)'}
    index = indexed([document, argument(1, FOR[0], "PRO")])
    brief = sicetnon.brief(index, f"Should {HOSTILE} get tenure?")
    html = brief.as_html()
    page = Page(html)
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "default-src 'none'" in html
    assert not re.search("[\x00-\x08\x1b\u202e]", html + brief.as_markdown())
    assert "](javascript" not in brief.as_markdown()
    assert "<" not in re.sub(r"\\<", "", brief.as_markdown())
