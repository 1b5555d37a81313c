"""Snippets: the part of a text that has the words, and marks that stand on them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.text.analysis import ANALYSES
from sicetnon.text.snippets import snippet

modestly = settings(max_examples=150, derandomize=True)

# what parts an ellipsis from the text, so that no line breaks there
BLANK = "\u00a0"
LONG = "Nobody asked. " * 20 + "Teachers need tenure! Does a teacher's pay matter? " + "So. " * 50


def test_a_snippet_is_the_part_that_has_the_words() -> None:
    analyzer = ANALYSES["porter-stop"].analyzer()
    found = snippet(LONG, analyzer.terms_of("teacher tenure"), analyzer.terms_of, 60)
    assert found.text == f"…{BLANK}Nobody asked. Teachers need tenure! Does a teacher's pay{BLANK}…"
    marked = [found.text[begin:end] for begin, end in found.marks]
    assert marked == ["Teachers", "tenure", "teacher's"]


def test_a_short_text_is_its_own_snippet() -> None:
    found = snippet(" Vote \n now ", {"now"}, lambda word: [word.lower()], 50)
    assert (found.text, found.marks) == ("Vote now", ((5, 8),))
    assert snippet("", {"x"}, lambda word: [word], 10).text == ""


def test_a_word_longer_than_the_snippet_is_cut() -> None:
    found = snippet("x" * 100, {"x" * 100}, lambda word: [word], 10)
    assert (found.text, found.marks) == ("x" * 10 + f"{BLANK}…", ())


def test_marks_cover_words_as_the_tokeniser_sees_them() -> None:
    analyzer = ANALYSES["porter-stop"].analyzer()
    text = "Cafe\u0301s, co\u00adope\u00adrate: don't"
    found = snippet(text, analyzer.terms_of("café cooperates"), analyzer.terms_of, 50)
    assert [text[begin:end] for begin, end in found.marks] == [text[:6], text[8:19]]


def test_snippets_of_long_texts_are_quick() -> None:
    text = "b. " * 60_000
    found = snippet(text, {"b"}, lambda word: [word], 100)
    assert len(found.marks) > 20


SENTENCES = st.lists(
    st.sampled_from(
        ["vote", "Votes", "the", "should", "now.", 'so!"', "?!", "x" * 30, "é?", "\n\t"]
    )
    | st.text(st.characters(exclude_characters="…"), max_size=5),
    max_size=60,
).map(" ".join)


@modestly
@given(text=SENTENCES, length=st.integers(1, 80))
def test_marks_stand_on_wanted_words(text: str, length: int) -> None:
    analyzer = ANALYSES["porter-stop"].analyzer()
    wanted = {"vote", "should"}
    found = snippet(text, wanted, analyzer.terms_of, length)
    folded = " ".join(text.split())
    part = found.text.removeprefix(f"…{BLANK}").removesuffix(f"{BLANK}…")
    assert part in folded
    assert len(part) <= length
    last = 0
    for begin, end in found.marks:
        assert last <= begin < end <= len(found.text)
        assert wanted & set(analyzer.terms_of(found.text[begin:end]))
        last = end
    if len(folded) <= length:
        assert found.text == folded
        assert bool(found.marks) == (not wanted.isdisjoint(analyzer.terms_of(folded)))


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("स्कूल में दान दिन", "दान", ["दान"]),
        ("climate\u200bchange", "climate", ["climate"]),
        ("cafe\u0301 au lait", "café", ["cafe\u0301"]),
    ],
)
def test_words_of_any_script_are_marked_whole(text: str, question: str, marked: list[str]) -> None:
    analyzer = ANALYSES["plain"].analyzer()
    found = snippet(text, analyzer.terms_of(question), analyzer.terms_of, 100)
    assert [found.text[start:end] for start, end in found.marks] == marked
