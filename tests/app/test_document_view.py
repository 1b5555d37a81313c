"""Documents: their sentences, what stands beside them, replies to them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sicetnon
from sicetnon.app.document_view import neighbours, number_of, paragraphs
from sicetnon.app.reasons import key_sentences
from sicetnon.app.reply import reply_to
from sicetnon.errors import DataError
from support.debates import AGAINST, FOR, QUESTION, both_sides
from support.passages import boats


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("sides") / "index")


def test_paragraphs_are_the_text(tmp_path: Path) -> None:
    text = "Tenure is good, because it protects. It is Monday.\n\nTherefore we must keep it."
    (first, second) = paragraphs(sicetnon.Index.build([{"id": "a", "text": text}]), "a")
    assert [each.text for each in (*first, *second)] == [
        "Tenure is good, because it protects.",
        "It is Monday.",
        "Therefore we must keep it.",
    ]
    assert first[0].is_argument
    assert not first[1].is_argument
    assert all(each.argues is not None and 0 <= each.argues <= 1 for each in (*first, *second))


def test_a_very_long_text_is_shown_whole() -> None:
    text = " ".join(f"Sentence number {place} is here." for place in range(1000))
    (found,) = paragraphs(sicetnon.Index.build([{"id": "a", "text": text}]), "a")
    assert " ".join(each.text for each in found) == text
    assert found[-1].argues is None
    assert not found[-1].is_argument


def test_a_quotation_is_found_in_its_document() -> None:
    text = (
        "1. Tenure is\n good, because it protects. No. [2] It is Monday.\n\nTherefore we keep it."
    )
    (first, second) = paragraphs(sicetnon.Index.build([{"id": "a", "text": text}]), "a")
    every = {each.number: each.text for each in (*first, *second)}
    assert list(every) == list(range(1, len(every) + 1))
    for quoted, part in (
        ("Tenure is good, because it protects.", "because it protects."),
        ("…\u00a0Therefore we keep", "Therefore we keep it."),
        ("It is Monday. Therefore we keep it.", "It is Monday."),
    ):
        number = number_of(quoted, text)
        assert number is not None
        assert part in every[number]
    assert number_of("Tenure is bad.", text) is None
    assert number_of("It is Monday.", "") is None


def test_neighbours_are_of_the_same_page(tmp_path: Path) -> None:
    index = boats(tmp_path / "index")
    assert neighbours(index, "page-one___2") == ["page-one___1", "page-one___3"]
    assert neighbours(index, "page-one___1", most=1) == ["page-one___2"]
    assert neighbours(index.delete(["page-two___2"]), "page-two___3") == ["page-two___1"]
    with pytest.raises(DataError):
        neighbours(index, "none")


def test_neighbours_are_of_the_same_debate(index: Path) -> None:
    sample = sicetnon.Index.open(index)
    name = "S17fc8e3d-A7bd752ed"
    found = neighbours(sample, name)
    assert len(found) == 4
    assert name not in found
    assert all(each.startswith("S17fc8e3d-") for each in found)


def test_other_documents_have_no_neighbours(sides: sicetnon.Index) -> None:
    assert neighbours(sides, "0") == []


def test_key_sentences_stand_in_their_documents(sides: sicetnon.Index) -> None:
    found = sides.search(QUESTION, 8)
    sentences = key_sentences(QUESTION, found)
    assert len(sentences) >= 6
    texts = {answer.id: answer.record.default_text() for answer in found}
    assert all(sentence in texts[name] for name, sentence in sentences.items())
    assert key_sentences(QUESTION, []) == {}


@pytest.mark.parametrize("question", [QUESTION, ""])
@pytest.mark.parametrize("place", [0, 5])
def test_replies_are_of_the_other_side(sides: sicetnon.Index, place: int, question: str) -> None:
    found = reply_to(sides, str(place), question)
    is_for = place < len(FOR)
    assert found.side == ("FOR" if is_for else "AGAINST")
    assert {reply.text for reply in found.replies} <= set(AGAINST if is_for else FOR)
    assert found.replies
    assert found.topic == (question or "Teachers should get tenure")
