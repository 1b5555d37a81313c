"""A fault of the program itself: one line for the user, the stack for a report."""

from __future__ import annotations

import pytest

from sicetnon.arguments.comparative import question_parser
from sicetnon.cli import FAULT, main


@pytest.fixture(autouse=True)
def _faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyError("\x1b[31mred")

    monkeypatch.setattr(question_parser, "_superlative", fails)


def test_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "Why?"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sicetnon: {FAULT}: KeyError in test_faults_of_ours.py, line ")
    assert line.endswith("please report it with the command (--verbose shows the stack)")
    assert "\x1b" not in line


def test_verbose_shows_the_stack(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "Why?", "--verbose"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "_superlative" in error
    assert "\x1b" not in error
