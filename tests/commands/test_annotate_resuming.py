"""`sicetnon annotate` that was stopped goes on where it was, or says why it cannot."""

from __future__ import annotations

import errno
import gzip
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime")

from sicetnon.arguments.models.classifiers import Quality
from sicetnon.formats.files import ResumableOutput
from support.annotate_commands import RECORDS, annotate, check_tidy, write
from support.shipped_model import described, with_file

# short texts, because the model is not what is tested; a step is 128 records
MANY = [{"text": f"Reason {n}: " * (n % 3), "n": n} for n in range(300)]
DIE_AT_A_STEP = """
import os, signal, sys
from sicetnon.cli import main
from sicetnon.formats.files import ResumableOutput

write_step, steps = ResumableOutput.write, []

def die(file, data, records, checksum):
    steps.append(records)
    if len(steps) == 2:
        file.file.write(data[:100])
        file.file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    write_step(file, data, records, checksum)

ResumableOutput.write = die
main(["annotate", *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input and its output, made without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    source = write(folder / "in.jsonl", MANY)
    assert annotate("quality", source, "-o", folder / "out.jsonl") == 0
    return folder


@pytest.fixture(scope="module")
def stopped_once(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the disk was full after two steps."""
    folder = tmp_path_factory.mktemp("stopped")
    shutil.copy(whole / "in.jsonl", folder)
    steps = []
    write_step = ResumableOutput.write

    def full(file: ResumableOutput, data: bytes, records: int, checksum: str) -> None:
        if len(steps) == 2:
            file.file.write(data[:100])
            raise OSError(errno.ENOSPC, "No space left on device")
        steps.append(records)
        write_step(file, data, records, checksum)

    with pytest.MonkeyPatch.context() as patch, StringIO() as said:
        patch.setattr(ResumableOutput, "write", full)
        patch.setattr(sys, "stderr", said)
        assert annotate("quality", folder / "in.jsonl", "-o", folder / "out.jsonl") == 1
        error = said.getvalue()
    assert "no space left on the disk; free some" in error
    assert "256 records are kept; the same command resumes there" in error
    check_tidy(folder, "in.jsonl", "out.jsonl.part", "out.jsonl.part-log")
    return folder


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for one test."""
    return shutil.copytree(stopped_once, tmp_path, dirs_exist_ok=True)


class TestGoingOn:
    @pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
    def test_killed(
        self, whole: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        work = ["quality", whole / "in.jsonl", "-o", tmp_path / name]
        for _ in range(2):
            killed = subprocess.run([sys.executable, "-c", DIE_AT_A_STEP, *work])
            assert killed.returncode == -signal.SIGKILL
            check_tidy(tmp_path, f"{name}.part", f"{name}.part-log")
        assert annotate(*work) == 0
        assert "resuming after 256 records" in capsys.readouterr().err
        found = (tmp_path / name).read_bytes()
        found = gzip.decompress(found) if name.endswith(".gz") else found
        assert found == (whole / "out.jsonl").read_bytes()
        check_tidy(tmp_path, name)

    def test_full_disk(self, whole: Path, stopped: Path) -> None:
        assert annotate("quality", stopped / "in.jsonl", "-o", stopped / "out.jsonl") == 0
        assert (stopped / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
        check_tidy(stopped, "in.jsonl", "out.jsonl")

    def test_interrupted(
        self, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        score, calls = Quality.score, []

        def interrupted(annotator: Quality, texts: Sequence[str]) -> Any:
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return score(annotator, texts)

        monkeypatch.setattr(Quality, "score", interrupted)
        arguments = ["quality", whole / "in.jsonl", "-o", tmp_path / "out.jsonl"]
        assert annotate(*arguments) == 130
        assert annotate(*arguments) == 0
        assert (tmp_path / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()

    def test_other_work_is_not_mixed_in(
        self, stopped: Path, failing: Callable[..., tuple[int, str]], tmp_path: Path
    ) -> None:
        source, output = stopped / "in.jsonl", stopped / "out.jsonl"
        model = with_file(stopped / "other", "model.json", described(version="other"))
        before = (stopped / "out.jsonl.part").read_bytes()
        status, error = failing("annotate", "argumentativeness", source, "-o", output)
        assert (status, "found task 'quality', expected 'argumentativeness'" in error) == (1, True)
        status, error = failing("annotate", "quality", source, "-o", output, "--model", model)
        assert (status, "found model 'debate" in error) == (1, True)
        changed = stopped / "changed.jsonl"
        changed.write_text(source.read_text().replace("Reason 4:", "Reason 5:"))
        short = write(stopped / "short.jsonl", MANY[:100])
        for other in (changed, short):
            status, error = failing("annotate", "quality", other, "-o", output)
            assert (status, f"records of {other}; " in error) == (1, True)
            assert "delete it to begin anew" in error
        assert before.startswith((stopped / "out.jsonl.part").read_bytes())

    def test_a_damaged_part(self, stopped: Path, failing: Callable[..., tuple[int, str]]) -> None:
        part = stopped / "out.jsonl.part"
        data = part.read_bytes()
        for damaged in (b"x" + data[1:], data[:50]):
            part.write_bytes(damaged)
            status, error = failing(
                "annotate", "quality", stopped / "in.jsonl", "-o", stopped / "out.jsonl"
            )
            assert (status, "is damaged; delete it" in error) == (1, True)
        part.unlink()
        assert annotate("quality", stopped / "in.jsonl", "-o", stopped / "out.jsonl") == 0

    def test_a_torn_log(self, whole: Path, stopped: Path) -> None:
        log = stopped / "out.jsonl.part-log"
        for torn in (log.read_bytes()[:-5], b"", b"\x00" * 100 + b"\n"):
            log.write_bytes(torn)
            assert annotate("quality", stopped / "in.jsonl", "-o", stopped / "out.jsonl") == 0
            assert (stopped / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()
            (stopped / "out.jsonl").rename(stopped / "out.jsonl.part")

    def test_two_at_once(self, tmp_path: Path, failing: Callable[..., tuple[int, str]]) -> None:
        source = write(tmp_path / "in.jsonl", RECORDS)
        first = ResumableOutput(tmp_path / "out.jsonl", {})
        status, error = failing("annotate", "quality", source, "-o", tmp_path / "out.jsonl")
        assert (status, "another process is writing it" in error) == (1, True)
        first.close()
        assert annotate("quality", source, "-o", tmp_path / "out.jsonl") == 0
