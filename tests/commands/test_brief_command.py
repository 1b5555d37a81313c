"""The command `brief`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sicetnon.cli import main
from support.debates import QUESTION, both_sides


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("brief") / "index"
    both_sides(folder).close()
    return str(folder)


@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "# Should"), ("a.html", "<!DOCTYPE html>"), ("a.json", "{")]
)
def test_the_ending_names_the_format(
    name: str, start: str, index: str, tmp_path: Path, capsys
) -> None:
    assert main(["brief", QUESTION, "--index", index, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert f"wrote {tmp_path / name}" in capsys.readouterr().err


def test_an_ending_of_no_format_is_refused(
    index: str, tmp_path: Path, failing: Callable[..., tuple[int, str]]
) -> None:
    page = tmp_path / "a.pdf"
    status, line = failing("brief", QUESTION, "--index", index, "-o", page)
    assert (status, page.exists()) == (2, False)
    assert "expected .md, .html or .json, or --format" in line
    assert main(["brief", QUESTION, "--index", index, "-o", str(page), "--format", "html"]) == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_prints_markdown_or_what_is_asked_for(index: str, capsys) -> None:
    assert main(["brief", *QUESTION.split(), "--index", index]) == 0
    assert f"# {QUESTION}\n" in capsys.readouterr().out
    assert main(["brief", QUESTION, "--format", "json", "--index", index, "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["question"] == QUESTION


def test_an_index_that_is_not_there_is_one_line(tmp_path: Path, capsys) -> None:
    assert main(["brief", QUESTION, "--index", str(tmp_path / "none")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_who_asks_for_reasons_where_there_are_none_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.jsonl").write_text('{"id": "1", "text": "Tenure protects teachers."}\n')
    place = str(tmp_path / "index")
    assert main(["index", "build", str(tmp_path / "texts.jsonl"), "-o", place]) == 0
    assert main(["search", "tenure", "--index", place, "--explain"]) == 0
    assert "no reasons: only the system `answers`" in capsys.readouterr().err
