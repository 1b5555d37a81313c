"""What to ask instead of a question."""

from __future__ import annotations

from pathlib import Path

import pytest

import sicetnon
from sicetnon.app.suggestions import suggest
from support.debates import QUESTION, both_sides
from support.passages import boats


@pytest.fixture(scope="module", params=["forms", "porter-stop"])
def small(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> sicetnon.Index:
    texts = ["Homework tires children.", "Teachers like homework.", "Tenured teachers stay."]
    folder = tmp_path_factory.mktemp("small") / "index"
    return sicetnon.Index.build(texts, folder, analysis=request.param)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Is homewrok good?", "Is homework good?"),
        ("Shuold teachers stay?", "Should teachers stay?"),
        ("Teechers and chidren", "Teachers and children"),
        ("homeworks", None),
        # its stem is that of "homework" or of "tenured", and finds them
        ("Tenure", None),
        ("Do homeworke and tir count?", "Do homework and tir count?"),
        ("Is homework good?", None),
        ("quasars", None),
        ("", None),
        ("??? 12345", None),
    ],
)
def test_words_are_spelt_as_in_the_index(
    small: sicetnon.Index, asked: str, meant: str | None
) -> None:
    found = suggest(small, asked, is_answered=True)
    # "good" is a word that no document holds, and none is like it
    assert found.corrected == meant


def test_unknown_words_are_named(small: sicetnon.Index) -> None:
    assert suggest(small, "Are quasars and teachers alike?", True).unknown == ("quasars", "alike")


def test_deleted_documents_do_no_harm(tmp_path: Path) -> None:
    index = both_sides(tmp_path / "index").delete(["0", "1", "2"])
    assert suggest(index, "Should techers get tenure?", True).corrected == QUESTION


def test_shorter_questions_have_answers(tmp_path: Path) -> None:
    index = boats(tmp_path / "index")
    question = "quasars"
    assert suggest(index, question, False).shorter == ()
    ((shorter, dropped),) = suggest(index, "kayak quasars", False).shorter
    assert (shorter, dropped) == ("kayak", "quasars")
    assert index.search(shorter)


@pytest.mark.parametrize(
    "question",
    [
        "Should we ban cryptocurrency?",
        "Which is better, a lapptopp or a desskktop, for a lake?",
        "Should the monarchy be kept?",
    ],
)
def test_no_suggestion_asks_about_nothing(tmp_path: Path, question: str) -> None:
    for index in (boats(tmp_path / "boats"), both_sides(tmp_path / "sides")):
        assert suggest(index, question, False).shorter == ()


def test_a_shorter_question_is_a_sentence_or_words(tmp_path: Path) -> None:
    index = both_sides(tmp_path / "index")
    shorter = dict(suggest(index, "Should quasarish teachers have tenure?", False).shorter)
    assert shorter == {"Should teachers have tenure?": "quasarish"}
    shorter = dict(suggest(index, "Should teachers have tenure and a quasarium?", False).shorter)
    assert shorter == {"teachers tenure": "quasarium"}


def test_a_slip_that_documents_make_as_well_is_put_right(tmp_path: Path) -> None:
    texts = ["People shoud not do homework.", "Homework shoud stay.", "Whales should be hunted."]
    index = sicetnon.Index.build(texts, tmp_path / "index")
    found = suggest(index, "homwork shoud be abolished", False)
    assert found.corrected == "homework should be abolished"
    # "whales" and "while" are a slip apart
    assert suggest(index, "Should whales be hunted?", True).corrected is None
