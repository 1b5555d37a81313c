"""The command `reply`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from sicetnon.cli import main
from support.debates import both_sides

CLAIM = "Teachers should get tenure."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("reply") / "index"
    both_sides(folder).close()
    return str(folder)


@pytest.fixture
def from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(CLAIM.encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)


def test_text_file_and_standard_input_say_the_same(
    index: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], from_stdin: None
) -> None:
    path = tmp_path / "text.txt"
    path.write_text(CLAIM, "utf-8")
    said = []
    for words in (CLAIM.split(), ["--file", str(path)], ["-"]):
        assert main(["reply", *words, "--json", "--index", index]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1] == said[2]
    assert said[0]["claim"] == CLAIM
    assert said[0]["replies"]
    assert all(each["words"] <= 60 for each in said[0]["replies"])


def test_a_closed_standard_input_is_one_line(monkeypatch: pytest.MonkeyPatch, failing) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert failing("reply", "-") == (1, "sicetnon: -: cannot be read: standard input is closed")
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    status, line = failing("mcp")
    assert status == 2
    assert line.startswith("sicetnon: standard input is closed; ")


def test_an_endless_standard_input_is_one_line(monkeypatch: pytest.MonkeyPatch, failing) -> None:
    monkeypatch.setenv("SICETNON_MAX_RECORD_BYTES", "1000")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 10_000)))
    status, line = failing("reply", "-")
    assert status == 1
    assert line.startswith("sicetnon: -: the file holds more than 1,000 bytes")


def test_prints_replies(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reply", CLAIM, "-k", "1", "--index", index]) == 0
    assert f"Against: {CLAIM}" in capsys.readouterr().out
    assert main(["reply", "Bananas are blue.", "--index", index]) == 0
    assert "The index holds no sentence against this" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["?"], [CLAIM, "--file", "x"]])
def test_wrong_usage_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reply", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reply", "--file", str(tmp_path / "none")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
