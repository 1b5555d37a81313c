from __future__ import annotations

import errno
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

from sicetnon import annotating
from sicetnon.arguments.annotators import Comparison, Quality, Stance
from sicetnon.arguments.encoder import SHIPPED
from sicetnon.cli import main
from sicetnon.formats import continued
from sicetnon.formats.continued import ContinuedFile

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "text": "Uniforms hide who is poor.", "topic": "uniforms", "x": {"y": [1, None]}},
    {"text": "", "topic": "", "id": "2"},
    {"topic": "🙂", "text": "🙂 👩‍👩‍👧\u202e\x1b[31m\x00"},
    {"text": "Uniforms are cheap. " * 50, "topic": "We should wear uniforms", "quality": "old"},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", RECORDS)


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text(lines, encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def annotate(*arguments: object) -> int:
    return main(["annotate", *map(str, arguments)])


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sicetnon", "annotate", *map(str, arguments)]


def check_tidy(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.fixture
def failing(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a command that must fail; gives its status and its last line."""

    def run(*arguments: object) -> tuple[int, str]:
        try:
            status = annotate(*arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
        error = capsys.readouterr().err
        assert "Traceback" not in error
        return status, error.strip().splitlines()[-1]

    return run


class TestFields:
    def test_quality(self, source: Path, tmp_path: Path) -> None:
        assert annotate("quality", source, "-o", tmp_path / "out.jsonl") == 0
        found = read(tmp_path / "out.jsonl")
        scores = Quality().score([record["text"] for record in RECORDS])
        for record, expected, score in zip(found, RECORDS, scores, strict=True):
            assert record == expected | {"quality": pytest.approx(float(score), abs=1e-4)}
            assert list(record) == list(expected | {"quality": 0})
        check_tidy(tmp_path, "in.jsonl", "out.jsonl")

    def test_stance(self, source: Path, tmp_path: Path) -> None:
        assert annotate("stance", source, "-o", tmp_path / "out.jsonl") == 0
        texts, topics = ([record[name] for record in RECORDS] for name in ("text", "topic"))
        chances = Stance().probabilities(texts, topics)
        for record, label, row in zip(
            read(tmp_path / "out.jsonl"), Stance().labels(chances), chances, strict=True
        ):
            assert record["stance"] == label
            assert list(record["probabilities"]) == ["PRO", "CON", "NONE"]
            assert list(record["probabilities"].values()) == pytest.approx(row.tolist(), abs=1e-4)

    def test_comparison_by_objects_and_by_question(self, tmp_path: Path) -> None:
        text = "Python is easier to learn than Java."
        source = write(
            tmp_path / "in.jsonl",
            [
                {"text": text, "first": "Python", "second": "Java"},
                {"text": text, "question": "Which is better, Python or Java?"},
                {"text": text, "first": "Java", "second": "Python", "question": "anything"},
            ],
        )
        assert annotate("comparison", source, "-o", tmp_path / "out.jsonl") == 0
        one, two, three = read(tmp_path / "out.jsonl")
        assert one["stance"] == Comparison().classify([text], "Python", "Java")[0]
        assert one["probabilities"] == two["probabilities"]
        assert one["probabilities"]["FIRST"] == three["probabilities"]["SECOND"]

    def test_argumentativeness(self, source: Path, tmp_path: Path) -> None:
        assert annotate("argumentativeness", source, "-o", tmp_path / "out.jsonl") == 0
        assert all(0 <= each["argumentativeness"] <= 1 for each in read(tmp_path / "out.jsonl"))

    def test_other_fields_stay_as_they_are_written(self, tmp_path: Path) -> None:
        source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        kept = r'"a":1.50,"b":123456789012345678901234567890,"c":"\u00e9\/","d":[1, 2],"e":1e400'
        source.write_bytes(b"\xef\xbb\xbf{" + kept.encode() + b',"text":"t"}\r\n\n \n')
        assert annotate("quality", source, "-o", output) == 0
        assert output.read_text().startswith("{" + kept + ',"text":"t","quality":0.')
        assert output.read_text().count("\n") == 1

    def test_half_characters(self, tmp_path: Path) -> None:
        source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text('{"text": "half \\ud83d", "n": 12345678901234567890123}\n')
        assert annotate("quality", source, "-o", output) == 0
        assert read(output)[0]["text"] == "half \ufffd"
        assert read(output)[0]["n"] == 12345678901234567890123


class TestPlaces:
    def test_pipes(self, source: Path) -> None:
        found = subprocess.run(
            command("quality", "-"), input=source.read_bytes(), capture_output=True, check=True
        )
        assert [json.loads(line)["id"] for line in found.stdout.splitlines()[:2]] == [1, "2"]
        assert found.stderr == b""

    def test_from_a_pipe_into_a_file(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stream = io.TextIOWrapper(io.BytesIO(source.read_bytes()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert annotate("quality", "-", "-o", tmp_path / "out.jsonl") == 0
        assert len(read(tmp_path / "out.jsonl")) == len(RECORDS)

    def test_into_a_named_pipe(self, source: Path, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(command("quality", source, "-o", pipe)) as process:
            assert len(pipe.read_bytes().splitlines()) == len(RECORDS)
        assert process.returncode == 0

    def test_a_reader_that_has_seen_enough(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.jsonl", [{"text": f"reason {n}"} for n in range(300)])
        with subprocess.Popen(
            command("quality", source), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_gzip(self, source: Path, tmp_path: Path) -> None:
        zipped, output = tmp_path / "in.gz", tmp_path / "out.jsonl.gz"
        zipped.write_bytes(gzip.compress(source.read_bytes()))
        assert annotate("quality", zipped, "-o", output) == 0
        assert len(gzip.decompress(output.read_bytes()).splitlines()) == len(RECORDS)

    def test_nothing_in_nothing_out(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.jsonl", [])
        for name in ("out.jsonl", "out.jsonl.gz"):
            assert annotate("quality", source, "-o", tmp_path / name) == 0
        assert (tmp_path / "out.jsonl").read_bytes() == b""
        assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == b""

    def test_in_its_own_place_and_through_a_link(self, source: Path, tmp_path: Path) -> None:
        link = tmp_path / "link.jsonl"
        link.symlink_to(source)
        assert annotate("argumentativeness", source, "-o", link) == 0
        assert link.is_symlink()
        assert all("argumentativeness" in record for record in read(source))


class TestBadInput:
    @pytest.mark.parametrize(
        ("task", "line", "found"),
        [
            ("quality", "{}", "found no 'text'"),
            ("quality", '{"text": null}', "'text' is no text"),
            ("quality", '{"text": 3}', "'text' is no text"),
            ("quality", "[1]", "got `array`"),
            ("quality", '{"text": "a"', "truncated"),
            ("quality", '{"text": NaN}', "JSON"),
            ("quality", '{"text": ' + "[" * 100_000, "recursion"),
            ("quality", '{"text": "\udcff"}', "not UTF-8"),
            ("stance", '{"text": "a"}', "found no 'topic'"),
            ("comparison", '{"text": "a", "first": "b"}', "found no 'second'"),
            ("comparison", '{"text": "a", "question": "Why?"}', "names no two objects"),
            ("comparison", '{"text": "a"}', "found no 'first'"),
        ],
    )
    def test_one_line_says_where_and_what(
        self,
        failing: Callable[..., tuple[int, str]],
        tmp_path: Path,
        task: str,
        line: str,
        found: str,
    ) -> None:
        source = tmp_path / "in.jsonl"
        good = json.dumps({"text": "a", "topic": "b", "first": "c", "second": "d"})
        source.write_bytes(f"{good}\n\n{line}\n".encode("utf-8", "surrogateescape"))
        status, error = failing(task, source, "-o", tmp_path / "out.jsonl")
        assert status == 1
        assert error.startswith(f"sicetnon: {source}, line 3: the record cannot be used: ")
        assert found in error
        assert 'expected {"text": "…"' in error
        check_tidy(tmp_path, "in.jsonl")

    def test_files(self, failing: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
        status, error = failing("quality", tmp_path / "none", "-o", tmp_path / "out")
        assert (status, "cannot be read" in error) == (1, True)
        source = write(tmp_path / "in.jsonl", RECORDS)
        for output in (tmp_path, tmp_path / "none" / "out"):
            status, error = failing("quality", source, "-o", output)
            assert (status, "expected the name of a file" in error) == (2, True)
        check_tidy(tmp_path, "in.jsonl")

    def test_usage(self, failing: Callable[..., tuple[int, str]], source: Path) -> None:
        for arguments in (["beauty", source], ["quality"], ["quality", source, "--threads", "0"]):
            assert failing(*arguments)[0] == 2
        status, error = failing("quality", source, "--model", "./none")
        assert (status, "no such folder" in error) == (2, True)

    def test_a_mended_record_is_gone_on_with(
        self, failing: Callable[..., tuple[int, str]], tmp_path: Path
    ) -> None:
        records: list[dict[str, Any]] = [{"text": f"reason {n}"} for n in range(300)]
        output = tmp_path / "out.jsonl"
        source = write(tmp_path / "in.jsonl", [*records[:200], {"txt": ""}])
        assert failing("quality", source, "-o", output)[0] == 1
        write(source, records)
        assert annotate("quality", source, "-o", output) == 0
        assert [each["text"] for each in read(output)] == [each["text"] for each in records]


MANY = [{"text": f"Reason {n}: it helps. " * (n % 7 + 1), "n": n} for n in range(600)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input and its output, made without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    source = write(folder / "in.jsonl", MANY)
    assert annotate("quality", source, "-o", folder / "out.jsonl") == 0
    return folder


@pytest.fixture
def stopped(
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Path:
    """A folder in which the disk was full after two steps."""
    shutil.copy(whole / "in.jsonl", tmp_path)
    steps = []
    append = ContinuedFile.append

    def full(file: ContinuedFile, data: bytes, records: int, checksum: str) -> None:
        if len(steps) == 2:
            file._file.write(data[:100])
            raise OSError(errno.ENOSPC, "No space left on device")
        steps.append(records)
        append(file, data, records, checksum)

    with monkeypatch.context() as patch:
        patch.setattr(ContinuedFile, "append", full)
        assert annotate("quality", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl") == 1
    error = capsys.readouterr().err
    assert "no space left on the disk; free some" in error
    assert "256 records are kept; the same command goes on after them" in error
    check_tidy(tmp_path, "in.jsonl", "out.jsonl.part", "out.jsonl.part-log")
    return tmp_path


class TestGoingOn:
    @pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
    def test_killed(self, whole: Path, tmp_path: Path, name: str) -> None:
        output, log = tmp_path / name, tmp_path / f"{name}.part-log"
        kills = 0
        for wanted in (2, 4):
            with subprocess.Popen(
                command("quality", whole / "in.jsonl", "-o", output, "--threads", 1)
            ) as process:
                deadline = time.monotonic() + 120
                # a line for the work, then one for each step
                while not log.exists() or log.read_bytes().count(b"\n") < wanted + 1:
                    if process.poll() is not None or time.monotonic() > deadline:
                        break
                    time.sleep(0.002)
                process.send_signal(signal.SIGKILL)
            kills += process.returncode == -signal.SIGKILL
            assert output.exists() == (process.returncode == 0)
        assert kills
        finished = subprocess.run(
            command("quality", whole / "in.jsonl", "-o", output), capture_output=True, check=True
        )
        assert b"going on after" in finished.stderr
        found = output.read_bytes()
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
        annotated, calls = annotating._annotated, []

        def interrupted(*arguments: Any) -> bytes:
            calls.append(1)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return annotated(*arguments)

        monkeypatch.setattr(annotating, "_annotated", interrupted)
        arguments = ["quality", whole / "in.jsonl", "-o", tmp_path / "out.jsonl"]
        assert annotate(*arguments) == 130
        assert annotate(*arguments) == 0
        assert (tmp_path / "out.jsonl").read_bytes() == (whole / "out.jsonl").read_bytes()

    def test_other_work_is_not_mixed_in(
        self, stopped: Path, failing: Callable[..., tuple[int, str]], tmp_path: Path
    ) -> None:
        source, output = stopped / "in.jsonl", stopped / "out.jsonl"
        model = stopped / "other"
        shutil.copytree(SHIPPED, model)
        described = json.loads((model / "model.json").read_text()) | {"version": "other"}
        (model / "model.json").write_text(json.dumps(described))
        before = (stopped / "out.jsonl.part").read_bytes()
        status, error = failing("argumentativeness", source, "-o", output)
        assert (status, "found task 'quality', expected 'argumentativeness'" in error) == (1, True)
        status, error = failing("quality", source, "-o", output, "--model", model)
        assert (status, "found model 'debate" in error) == (1, True)
        changed = stopped / "changed.jsonl"
        changed.write_text(source.read_text().replace("Reason 3:", "Reason 4:"))
        short = write(stopped / "short.jsonl", MANY[:100])
        for other in (changed, short):
            status, error = failing("quality", other, "-o", output)
            assert (status, f"are not the first ones of {other}" in error) == (1, True)
            assert "delete it to begin anew" in error
        assert before.startswith((stopped / "out.jsonl.part").read_bytes())

    def test_a_damaged_part(self, stopped: Path, failing: Callable[..., tuple[int, str]]) -> None:
        part = stopped / "out.jsonl.part"
        data = part.read_bytes()
        for damaged in (b"x" + data[1:], data[:50]):
            part.write_bytes(damaged)
            status, error = failing("quality", stopped / "in.jsonl", "-o", stopped / "out.jsonl")
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

    def test_two_at_once(
        self, source: Path, tmp_path: Path, failing: Callable[..., tuple[int, str]]
    ) -> None:
        first = ContinuedFile(tmp_path / "out.jsonl", {})
        status, error = failing("quality", source, "-o", tmp_path / "out.jsonl")
        assert (status, "another process is writing it" in error) == (1, True)
        first.close()
        assert annotate("quality", source, "-o", tmp_path / "out.jsonl") == 0


def test_progress_names_what_is_shown() -> None:
    from rich.console import Console

    from sicetnon import terminal

    screen = Console(file=io.StringIO(), force_terminal=True, width=80)
    with terminal.annotating(screen, 1000, is_shown=True) as show:
        show(128, 500)
        show(256, 1000)
    assert isinstance(screen.file, io.StringIO)
    assert "256 records" in screen.file.getvalue()


def test_parts_are_named_after_the_output() -> None:
    assert (continued.PART, continued.LOG) == (".part", ".part-log")
