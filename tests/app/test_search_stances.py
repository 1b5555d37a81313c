"""The sides that passages take, as `search` shows them to people and to programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from conftest import ROOT
from sicetnon.app.answers import Answer, as_json
from sicetnon.app.index import Index
from sicetnon.cli import main
from sicetnon.terminal.results import show_answers

QUESTION = "Which is better, a kayak or a canoe?"
GROUPS = ["In favour of kayak", "In favour of canoe", "Weighing both", "Taking no side"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passages") / "index"
    source = ROOT / "examples" / "touche-2022-task-2" / "input"
    assert main(["index", "build", str(source), "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index.open(folder) as opened:
        yield opened


def shown(question: str, found: list[Answer], width: int = 80) -> list[str]:
    file = StringIO()
    show_answers(question, found, Console(file=file, width=width, no_color=True))
    return file.getvalue().splitlines()


def titles(lines: list[str]) -> list[str]:
    """The titles of groups, without the numbers of answers behind them."""
    return [re.sub(r" \(\d+\)$", "", line.rstrip("─ ")) for line in lines if line.endswith("─")]


def test_each_side_names_its_object(index: Index) -> None:
    found = index.search(QUESTION, 20)
    assert {answer.stance for answer in found} == {"FIRST", "SECOND", "NEUTRAL", "NO"}
    names = {"FIRST": "kayak", "SECOND": "canoe", "NEUTRAL": None, "NO": None}
    for answer in found:
        assert answer.objects == ("kayak", "canoe")
        assert answer.favours == names[str(answer.stance)]


def test_the_terminal_groups_passages_by_side(index: Index) -> None:
    found = index.search(QUESTION, 20)
    lines = shown(QUESTION, found)
    assert titles(lines) == GROUPS
    assert "a program's guess" in lines[1]
    # each stands below the title of its side, and none is lost
    below: dict[str, str] = {}
    title = ""
    for line in lines:
        title = (titles([line]) or [title])[0]
        below |= {a.id: title for a in found if line.split()[1:] == [a.id]}
    sides = dict(zip(("FIRST", "SECOND", "NEUTRAL", "NO"), GROUPS, strict=True))
    assert below == {answer.id: sides[str(answer.stance)] for answer in found}


@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(index: Index, width: int) -> None:
    long = ("an inflatable kayak for two with a pump, a repair kit and \x1b[31mpaddles", "canoe")
    found = [replace(answer, objects=long) for answer in index.search(QUESTION, 8)]
    lines = shown(QUESTION, found, width)
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)
    assert [title for title in titles(lines) if title.startswith("In favour of")]


def test_programs_get_objects_stances_and_names(index: Index) -> None:
    parsed = as_json(QUESTION, index.search(QUESTION, 20))
    assert parsed["objects"] == ["kayak", "canoe"]
    for answer in parsed["answers"]:
        assert answer["stance"] in ("FIRST", "SECOND", "NEUTRAL", "NO")
        sides = {"FIRST": "kayak", "SECOND": "canoe"}
        assert answer["favours"] == sides.get(answer["stance"])


def test_a_question_that_compares_nothing_has_sides_of_its_own(index: Index) -> None:
    found = index.search("Are canoes safe?", 5)
    assert {(answer.stance, answer.objects, answer.favours) for answer in found} == {
        (None, None, None)
    }
    assert {answer.side for answer in found} <= {"FOR", "AGAINST", "BOTH", "NONE"}
    assert "from its text alone" in shown("Are canoes safe?", found)[1]
    assert "objects" not in as_json("Are canoes safe?", found)


def test_a_question_for_a_fact_has_no_sides(index: Index) -> None:
    found = index.search("What is a canoe made of?", 5)
    assert {(answer.side, answer.side_probability) for answer in found} == {(None, None)}
    assert titles(shown("What is a canoe made of?", found)) == ["Results"]


def test_sides_can_be_left_out(index: Index) -> None:
    found = index.search("Are canoes safe?", 5, sides=False)
    assert {answer.side for answer in found} == {None}


def test_a_system_that_judges_no_sides_shows_none(index: Index) -> None:
    found = index.search(QUESTION, 5, system="bm25")
    assert {answer.stance for answer in found} == {"NO"}
    assert titles(shown(QUESTION, found)) == ["Results"]


def test_the_command_prints_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    asked = ["search", QUESTION, "--index", str(folder), "-k", "20"]
    assert main(asked) == 0
    assert titles(capsys.readouterr().out.splitlines()) == GROUPS
    assert main([*asked, "--json"]) == 0
    favoured = [answer["favours"] for answer in json.loads(capsys.readouterr().out)["answers"]]
    assert {"kayak", "canoe"} < set(favoured)
