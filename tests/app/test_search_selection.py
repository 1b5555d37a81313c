"""What a person is shown: each case once, both sides, reasons, and nothing where nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sicetnon import Argument, Index, Premise
from sicetnon.app.search import balanced_sides
from sicetnon.cli import main
from sicetnon.records import PremiseStance

QUESTION = "Should pupils wear school uniforms?"
CLAIM = "Pupils should wear school uniforms"
CASE = (
    "School uniforms hide who is poor and who is rich, so nobody is bullied for their clothes. "
    "A study of 40 schools found that pupils with uniforms were late less often than others."
)
AGAINST = (
    "School uniforms cost parents money twice a year, and pupils outgrow them within months. "
    "Research in 12 schools found no effect of uniforms on grades or on bullying."
)
FILLERS = ("Milk is healthy", "Chess is a sport", "Zoos are cruel")


def argument(identifier: str, claim: str, text: str, stance: PremiseStance) -> Argument:
    return Argument(identifier, claim, (Premise(text, stance),), {})


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    arguments = [
        argument("case", CLAIM, CASE, "PRO"),
        argument("again", f"{CLAIM} again", f"In this debate I say it once more. {CASE}", "PRO"),
        argument("against", CLAIM, AGAINST, "CON"),
    ]
    arguments += [
        argument(f"{place}-{n}", claim, f"{claim}, because of reason {n}.", "PRO")
        for place, claim in enumerate(FILLERS)
        for n in range(5)
    ]
    with Index.build(arguments) as built:
        yield built


def test_a_case_that_was_posted_twice_is_shown_once(index: Index) -> None:
    answers = index.search(QUESTION)
    shown = {answer.id: answer for answer in answers}
    assert len(shown.keys() & {"case", "again"}) == 1
    (first,) = shown.keys() & {"case", "again"}
    assert {first, *shown[first].similar} == {"case", "again"}
    assert [answer.rank for answer in answers] == list(range(1, len(answers) + 1))


SPAM = "UNIFORMS UNIFORMS UNIFORMS!!! CHEAP CHEAP UNIFORMS CHEAP >>> http://a.example/u <<<"
NONE_AT_ALL = (
    SPAM,
    "My opponent has forfeited this round. Extend all arguments.",
    "See my arguments in round 1.",
    "Nice try, con. I rest my case.",
    "I accept the challenge. Good luck! Vote con.",
)
SOME = (
    "Nobody should accept school uniforms: they cost parents money twice a year.",
    "I accept. School uniforms cost parents money twice a year, and pupils outgrow them.",
    "WHO BUYS SCHOOL UNIFORMS? MY PARENTS, AND THEY HAVE NO MONEY TO SPARE FOR THAT.",
    "School uniforms are cheap: buy them for 8 dollars (http://a.example/u), not for 80.",
)


def test_spam_and_housekeeping_are_not_shown() -> None:
    texts = [*NONE_AT_ALL, *SOME]
    given = [argument(str(n), CLAIM, text, "CON") for n, text in enumerate(texts)]
    with Index.build(given) as built:
        shown = {answer.id for answer in built.search(QUESTION, 9)}
        ranked = {answer.id for answer in built.search(QUESTION, 9, system="default")}
    assert shown == {str(n) for n, text in enumerate(texts) if text in SOME}
    assert ranked == {str(n) for n in range(len(texts))}


def test_a_named_system_shows_its_results_as_they_are(index: Index) -> None:
    answers = index.search(QUESTION, system="default")
    assert {"case", "again", "against"} <= {answer.id for answer in answers}
    assert all(answer.reasons is None and not answer.similar for answer in answers)


def test_answers_say_why_they_stand_where_they_stand(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = index.search(QUESTION)[0].reasons
    assert reasons is not None
    assert set(reasons) == {"on_topic", "strength", "lexical", "repeated"}
    assert all(0 <= value <= 1 for value in reasons.values())
    command = ["search", QUESTION, "--index", str(index.folder)]
    assert main([*command, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["answers"][0]
    assert first["reasons"] == reasons
    assert main([*command, "--explain"]) == 0
    printed = capsys.readouterr().out
    assert "on topic" in printed
    assert "1 more like this" in printed
    assert main(command) == 0
    assert "on topic" not in capsys.readouterr().out


def test_snippets_are_left_out_where_nobody_wants_them(index: Index) -> None:
    for system in (None, "bm25"):
        with_them, without = (
            index.search(QUESTION, system=system, snippets=snippets) for snippets in (True, False)
        )
        assert all(answer.snippet.marks for answer in with_them)
        assert not any(answer.snippet.text for answer in without)
        assert [answer.id for answer in with_them] == [answer.id for answer in without]


def test_sides_are_left_out_where_nobody_wants_them(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["search", QUESTION, "--index", str(index.folder), "--json"]
    sides = []
    for more in ([], ["--no-sides"]):
        assert main([*command, *more]) == 0
        found = json.loads(capsys.readouterr().out)["answers"]
        sides.append({answer["side"] for answer in found})
    assert None not in sides[0]
    assert sides[1] == {None}


@pytest.mark.parametrize("question", ["Is knitting better than crochet?", "Should tulips be red?"])
def test_nothing_is_said_where_nothing_is(
    index: Index, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # the words "better" and "sport" alone make no answer
    asked = f"{question} reason healthy sport"
    assert index.search(asked) == []
    assert set(index.nearest_topics(asked)) <= {*FILLERS, CLAIM, f"{CLAIM} again"}
    command = ["search", asked, "--index", str(index.folder)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "no argument about this in this index" in printed
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answers"] == []
    assert found["nearest"] == index.nearest_topics(asked)


def test_a_question_is_spelt_as_in_the_index(
    index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    misspelt = "Should puplis wear scohol unifroms?"
    assert main(["search", misspelt, "--index", str(index.folder)]) == 0
    printed = capsys.readouterr().out
    assert f"Did you mean: {QUESTION}" in printed
    assert "As it is spelt" in printed
    assert main(["search", misspelt, "--index", str(index.folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["corrected"] == QUESTION
    assert main(["search", "qqqqq zzzzz", "--index", str(index.folder)]) == 0
    printed = capsys.readouterr().out
    assert "Did you mean" not in printed
    assert "Only what is surely about" not in printed


def test_more_is_offered_only_where_there_is_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "own")
    Index.build(["Tenure protects teachers.", "Uniforms are cheap.", "Tests measure."], place)
    assert main(["search", "Should teachers get tenure?", "--index", place]) == 0
    assert "Only what is surely about" not in capsys.readouterr().out
    assert main(["search", "Should school uniforms be mandatory?"]) == 0
    assert "For more: --system answers" in capsys.readouterr().out


def test_a_third_is_of_the_weaker_side(index: Index) -> None:
    answer = index.search(QUESTION)[0]
    sides = ["FOR"] * 7 + ["NONE"] + ["AGAINST"] * 4
    answers = [
        replace(answer, rank=rank, id=str(rank), side=side)  # type: ignore[arg-type]
        for rank, side in enumerate(sides, start=1)
    ]
    shown = balanced_sides(answers, 6)
    assert [each.id for each in shown] == ["1", "2", "3", "4", "9", "10"]
    assert [each.rank for each in shown] == [1, 2, 3, 4, 5, 6]
    assert balanced_sides(answers[:3], 6) == answers[:3]
    assert [each.id for each in balanced_sides(answers[:9], 6)] == ["1", "2", "3", "4", "5", "9"]


def test_own_texts_are_folded_too() -> None:
    with Index.build([CASE, f"{CASE} That is all.", AGAINST]) as index:
        answers = index.search("school uniforms")
    assert sorted(len(answer.similar) for answer in answers) == [0, 1]
