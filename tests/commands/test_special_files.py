"""Links, pipes and devices where a file or a folder is expected: one line, and nobody waits."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.command_line import TASK
from support.quality_files import webis

RECORDS = '{"id": "1", "text": "Tea is cheap."}\n{"id": "2", "text": "Coffee wakes."}\n'


@pytest.fixture(autouse=True)
def _nobody_waits() -> Iterator[None]:
    """Fail where a pipe is opened that has no reader or writer, which would wait without end."""

    def fail(*_: object) -> None:
        pytest.fail("waits for another program")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text(RECORDS)
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("1 Q0 d1 1 0.5 tag\n")
    return paths


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize(("occupy", "found"), [(os.mkfifo, "a pipe"), (_link, "a link")])
class TestOwnFiles:
    def test_lock_of_an_index(
        self, occupy: Callable[[Path], None], found: str, source: Path, tmp_path: Path, failing
    ) -> None:
        folder = tmp_path / "index"
        folder.mkdir()
        occupy(folder / "lock")
        status, line = failing("index", "build", source, "-o", folder)
        assert status == 1
        assert line.startswith(f"sicetnon: {folder}/lock: found {found}; expected a plain file")
        assert not (folder / "elsewhere").exists()

    @pytest.mark.parametrize("suffix", [".part", ".part-log"])
    def test_parts_of_an_output(
        self,
        occupy: Callable[[Path], None],
        found: str,
        suffix: str,
        source: Path,
        tmp_path: Path,
        failing,
    ) -> None:
        occupy(tmp_path / f"out.jsonl{suffix}")
        _, line = failing("annotate", "quality", source, "-o", tmp_path / "out.jsonl")
        assert f"out.jsonl{suffix}: found {found}; expected a plain file" in line


def test_a_pipe_is_no_manifest(small: Path, failing) -> None:
    (small / "manifest.json").unlink()
    os.mkfifo(small / "manifest.json")
    for verb in ("info", "verify"):
        _, line = failing("index", verb, small)
        assert "manifest.json: is no regular file" in line


def test_a_pipe_is_no_index_of_another_engine(index: Path, tmp_path: Path, failing) -> None:
    os.mkfifo(tmp_path / "x.ciff")
    _, line = failing("index", "build", tmp_path / "x.ciff", "-o", tmp_path / "index")
    assert "x.ciff: is no regular file; expected a CIFF file" in line
    _, line = failing("index", "export", index, "-o", tmp_path / "x.ciff")
    assert "x.ciff: is a pipe or a device; expected a file, or none" in line
    assert stat.S_ISFIFO((tmp_path / "x.ciff").stat().st_mode)
    _, line = failing("index", "export", index, "-o", tmp_path / "none" / "x.ciff")
    assert line == f"sicetnon: {tmp_path / 'none'}: there is no such folder"
    _, line = failing("index", "export", index, "-o", tmp_path)
    assert line == f"sicetnon: {tmp_path}: is a directory; expected a file"


@pytest.mark.parametrize("name", ["pipe.html", "pipe.warc", "pipe.jsonl"])
def test_a_pipe_is_no_corpus(name: str, tmp_path: Path, failing) -> None:
    os.mkfifo(tmp_path / name)
    status, line = failing("index", "build", tmp_path / name, "-o", tmp_path / "index")
    assert status == 2
    assert f"{name}: is no regular file, but it is read twice; save it first" in line


def test_a_pipe_is_no_training_data(tmp_path: Path, failing) -> None:
    webis(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    _, line = failing("train", "uva-quality", tmp_path / "pipe.csv", "-o", tmp_path)
    assert "pipe.csv: is no regular file" in line


def test_a_report_reads_runs_twice(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing
) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    report = ("--qrels", tmp_path / "qrels", "--report", tmp_path / "report")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(runs[0].read_bytes())))
    _, line = failing("evaluate", "-", *report)
    assert "-: is no regular file, but it is read twice; save it first" in line


def test_an_output_takes_the_place_of_files_alone(
    runs: list[Path], tmp_path: Path, failing
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    status, line = failing("fuse", *runs, "-o", pipe)
    assert status == 1
    assert line == f"sicetnon: {pipe}: is a pipe or a device; expected a file, or none"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    device = tmp_path / "null"
    device.symlink_to(os.devnull)
    _, line = failing("fuse", *runs, "-o", device)
    assert "is a pipe or a device" in line
    assert device.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt", "pipe", "null"}


@pytest.mark.parametrize("occupy", [Path.touch, os.mkfifo])
@pytest.mark.parametrize(
    "command", [["run", TASK, "-i", "INPUT", "-o"], ["index", "build", "INPUT", "-o"]]
)
def test_a_folder_is_no_file(
    command: list[str], occupy: Callable[[Path], None], sample: Path, tmp_path: Path, failing
) -> None:
    occupy(tmp_path / "place")
    words = [str(sample / "input") if word == "INPUT" else word for word in command]
    status, line = failing(*words, tmp_path / "place")
    assert status == 2
    assert "expected a folder" in line
