"""SIGTERM ends a command as Ctrl-C does: nothing half-written, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sicetnon.cli import main
from support.command_line import TASK
from support.patience import HANGS

RECORDS = '{"id": "1", "text": "Tea is cheap."}\n{"id": "2", "text": "Coffee wakes."}\n'


@pytest.fixture(autouse=True)
def _survives() -> None:
    """Without a handler, the signal would end the tests themselves."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        pytest.skip("somebody else handles SIGTERM")


def _terminate(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text(RECORDS)
    return path


def test_build_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("sicetnon.terminal.console.ProgressBar.indexing", _terminate)
    assert main(["index", "build", str(source), "-o", str(tmp_path / "new" / "index")]) == 143
    assert capsys.readouterr().err == "sicetnon: terminated\n"
    assert not (tmp_path / "new" / "index").exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_add_leaves_the_index_as_it_was(
    small: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    monkeypatch.setattr("sicetnon.terminal.console.ProgressBar.indexing", _terminate)
    assert main(["index", "add", str(source), "-o", str(small)]) == 143
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before


def test_run_leaves_no_temporary_folder(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "out.index").mkdir()
    (tmp_path / "out.index" / "manifest.json").write_text("of something else")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr("sicetnon.terminal.console.ProgressBar.indexing", _terminate)
    out = tmp_path / "out"
    assert main(["run", TASK, "-i", str(sample / "input"), "-o", str(out)]) == 143
    assert not list((tmp_path / "temporary").iterdir())
    assert not out.exists()


def test_annotate_keeps_what_is_done(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    output = tmp_path / "out.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr("sicetnon.terminal.console.ProgressBar.records", _terminate)
        assert main(["annotate", "quality", str(source), "-o", str(output)]) == 143
    told = capsys.readouterr().err.splitlines()
    assert "2 records are kept; the same command resumes" in told[0]
    assert told[1:] == ["sicetnon: terminated"]
    assert not output.exists()
    assert main(["annotate", "quality", str(source), "-o", str(output)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["documents.jsonl", "out.jsonl"]


def test_annotating_an_index_is_resumed(
    small: Path, monkeypatch: pytest.MonkeyPatch, failing, capsys
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("sicetnon.terminal.console.ProgressBar.annotating", _terminate)
        assert main(["index", "annotate", str(small), "--with", "quality"]) == 143
    assert "the same command resumes" in capsys.readouterr().err
    assert main(["index", "annotate", str(small), "--with", "quality"]) == 0
    assert main(["index", "verify", str(small)]) == 0


def test_a_process_that_waits_for_its_input_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "sicetnon", "annotate", "quality", "pipe", "-o", "out.jsonl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    # opening waits until the process has opened the pipe, too
    with (tmp_path / "pipe").open("w"):
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=HANGS)
    assert (process.returncode, told) == (143, "sicetnon: terminated\n")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
