"""The task of the guide is a command once its file is in its place and its id in the registry."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from conftest import SAMPLE
from sicetnon.cli import main
from sicetnon.tasks import registry
from support.documentation import blocks, run_python

GUIDE = "docs/how-to/add-a-task.md"


def test_the_task_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = types.ModuleType("sicetnon.tasks.my_task")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "TASKS", (*registry.TASKS, "my-task"))
    run_python(next(each for each in blocks(GUIDE) if each.language == "python"), module, tmp_path)
    target = tmp_path / "mine"
    assert main(["run", "my-task", "-i", str(SAMPLE / "input"), "-o", str(target)]) == 0
    first = (target / "run.txt").read_text().splitlines()[0].split()
    assert (first[0], first[1], first[3]) == ("1", "Q0", "1")
    assert (target / "ir-metadata.yml").is_file()
    # it has no rules that a run could be checked by
    capsys.readouterr()
    assert main(["validate", str(target / "run.txt"), "--task", "my-task"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
