"""The command `run`: the contract of the tasks, and whose index it takes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sicetnon.cli import main
from sicetnon.formats.runs import read_run
from sicetnon.validation import validate
from support.command_line import ROOT, TASK, run_command


class TestRun:
    def test_writes_a_run_that_validates(self, sample: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        done = run_command("run", TASK, "-i", sample / "input", "-o", out, "--tag", "mine")
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in out.iterdir()) == ["ir-metadata.yml", "run.txt"]
        report = validate(out / "run.txt", TASK, sample / "input" / "topics.xml")
        assert report.ok, str(report)
        assert not report.warnings, str(report)
        assert {line.tag for line in read_run(out / "run.txt")} == {"mine"}
        metadata = yaml.safe_load((out / "ir-metadata.yml").read_text())
        assert metadata["tag"] == "mine"
        assert metadata["data"]["test collection"]["name"] == TASK
        assert metadata["method"]["automatic"] is True
        # what tira's check `run-with-metadata` demands
        assert isinstance(metadata["actor"]["team"], str)
        assert isinstance(metadata["implementation"]["source"]["repository"], str)
        assert metadata["method"]["name"] == "sicetnon default"
        assert metadata["method"]["description"]
        command = shlex.split(metadata["implementation"]["executable"]["cmd"])
        assert command[:3] == ["sicetnon", "run", TASK]
        steps = metadata["method"]["retrieval"]
        assert "DirichletLM(mu=3000" in steps[0]["parameters"]
        shutil.move(out, tmp_path / "before")
        assert main(command[1:]) == 0
        assert (out / "run.txt").read_bytes() == (tmp_path / "before" / "run.txt").read_bytes()
        assert (tmp_path / "out.index" / "manifest.json").is_file()

    @pytest.mark.parametrize(
        "names", [("TIRA_INPUT_DATASET", "TIRA_OUTPUT_DIR"), ("inputDataset", "outputDir")]
    )
    @pytest.mark.parametrize("words", [[], ["run", TASK]])
    def test_the_environment_names_the_directories(
        self, sample: Path, tmp_path: Path, monkeypatch, names: tuple[str, str], words: list[str]
    ) -> None:
        out = tmp_path / "out"
        for name, value in zip(names, (sample / "input", out), strict=True):
            monkeypatch.setenv(name, str(value))
        assert main(words) == 0
        assert (out / "run.txt").stat().st_size

    def test_directories_that_nobody_names_are_asked_for(
        self, tmp_path: Path, capsys, monkeypatch
    ) -> None:
        monkeypatch.setenv("TIRA_INPUT_DATASET", str(tmp_path))
        for words, option in ((["run", TASK], "-o"), (["run", TASK, "-o", "out"], "-i")):
            assert main(words) == 2
            assert f"expected {option} DIR" in capsys.readouterr().err
            monkeypatch.delenv("TIRA_INPUT_DATASET", raising=False)

    def test_uses_its_index_again_until_the_input_changes(
        self, sample: Path, tmp_path: Path, capsys
    ) -> None:
        source, out = tmp_path / "input", tmp_path / "out"
        shutil.copytree(sample / "input", source)
        arguments = ["run", TASK, "-i", str(source), "-o", str(out), "-k", "5"]
        assert main(arguments) == 0
        manifest = tmp_path / "out.index" / "manifest.json"
        first, built = (out / "run.txt").read_text(), manifest.stat().st_mtime_ns
        assert main(arguments) == 0
        assert manifest.stat().st_mtime_ns == built
        assert (out / "run.txt").read_text() == first
        (source / "idebate.json").write_text('{"arguments": []}')
        capsys.readouterr()
        assert main(arguments) == 0
        assert manifest.stat().st_mtime_ns != built

    @pytest.mark.parametrize("is_damaged", [False, True])
    def test_a_change_that_keeps_size_and_time_is_noticed(
        self, sample: Path, tmp_path: Path, is_damaged: bool
    ) -> None:
        source, kept, new = (tmp_path / name for name in ("input", "kept", "new"))
        shutil.copytree(sample / "input", source)
        assert main(["run", TASK, "-i", str(source), "-o", str(kept)]) == 0
        first, changed = (kept / "run.txt").read_text(), source / "debateorg.json"
        before = changed.stat()
        changed.write_text(changed.read_text().replace("teachers", "teechers"))
        os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert changed.stat().st_size == before.st_size
        if is_damaged:  # an index of something else is searched before that is known
            (postings,) = (tmp_path / "kept.index").glob("*/patterns")
            postings.write_bytes(bytes(postings.stat().st_size))
        for out in (kept, new):
            assert main(["run", TASK, "-i", str(source), "-o", str(out)]) == 0
        assert (kept / "run.txt").read_text() == (new / "run.txt").read_text() != first

    def test_every_system_gives_its_own_run(
        self, sample: Path, index: Path, tmp_path: Path
    ) -> None:
        runs = set()
        for system in ("default", "dirichlet", "bm25", "dph", "dirichlet-rm3"):
            out = tmp_path / system
            command = ["run", TASK, "-i", str(sample / "input"), "-o", str(out), "-k", "20"]
            assert main([*command, "--system", system, "--index", str(index)]) == 0
            lines = [line.document for line in read_run(out / "run.txt")]
            assert len(lines) <= 20 * 14
            runs.add(tuple(lines))
        assert len(runs) == 5

    def test_an_automatic_run_reads_no_description(self, sample: Path, tmp_path: Path) -> None:
        source = tmp_path / "input"
        shutil.copytree(sample / "input", source)
        out, bare = tmp_path / "out", tmp_path / "bare"
        assert main(["run", TASK, "-i", str(source), "-o", str(out)]) == 0
        topics = (source / "topics.xml").read_text()
        topics = re.sub("<(description|narrative)>.*?</\\1>", "", topics, flags=re.DOTALL)
        (source / "topics.xml").write_text(topics)
        assert main(["run", TASK, "-i", str(source), "-o", str(bare)]) == 0
        assert (out / "run.txt").read_bytes() == (bare / "run.txt").read_bytes()

    def test_the_script_for_tira(self, sample: Path, tmp_path: Path) -> None:
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            [
                "bash",
                str(ROOT / "run.sh"),
                "-i",
                str(sample / "input"),
                "-o",
                str(tmp_path / "out"),
            ],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out" / "run.txt").is_file()

    def test_errors_leave_the_old_run(self, sample: Path, tmp_path: Path, failing) -> None:
        source, out = tmp_path / "input", tmp_path / "out"
        shutil.copytree(sample / "input", source)
        arguments = ("run", TASK, "-i", source, "-o", out)
        assert main([str(argument) for argument in arguments]) == 0
        before = {path: path.read_bytes() for path in out.iterdir()}
        text = (source / "debateorg.json").read_text()
        faults = {
            "debateorg.json": text[: len(text) // 2],
            "debatepedia.json": '{"arguments": [{"id": "a", "conclusion": "c", "premises": []}]}',
            "debatewise.json": text,
            "topics.xml": "<topics><topic><title>no number</title></topic></topics>",
            "parliamentary.json": None,
        }
        for name, fault in faults.items():
            good = (source / name).read_text()
            if fault is None:
                (source / name).unlink()
            else:
                (source / name).write_text(fault)
            status, line = failing(*arguments)
            assert status == 1
            assert name in line
            assert {path: path.read_bytes() for path in out.iterdir()} == before
            (source / name).write_text(good)

    @pytest.mark.parametrize(
        ("arguments", "status", "word"),
        [
            (["run", "touche-1999", "-i", ".", "-o", "out"], 2, "touche-2020-task-1"),
            (["run", TASK, "-i", "nowhere", "-o", "out"], 1, "nowhere"),
            (["run", TASK, "-i", ".", "-o", "out", "--tag", "two words"], 2, "one word"),
            (["run", TASK, "-i", ".", "-o", "out", "--system", "magic"], 2, "default"),
            (["run", TASK, "-i", ".", "-o", "out", "-k", "1001"], 2, "1000"),
            (["run", TASK, "-i", ".", "-o", "out", "-k", "0"], 2, "above 0"),
            (["run", TASK, "-o", "out"], 2, "-i"),
            (["index", "build", "-o", "out"], 2, "SOURCE"),
            (["index", "build", "a.jsonl", "-o", "out"], 1, "a.jsonl"),
            (["index", "build", "a.jsonl", "-o", "out", "--replace"], 2, "--replace"),
            (["index", "verify", "out", "a.jsonl"], 2, "a.jsonl"),
            (["index"], 2, "VERB"),
        ],
    )
    def test_wrong_usage(self, arguments, status, word, tmp_path, monkeypatch, failing) -> None:
        monkeypatch.chdir(tmp_path)
        found, line = failing(*arguments)
        assert (found, word in line) == (status, True), line
        assert not (tmp_path / "out").exists()

    def test_an_output_that_cannot_be_made(self, sample: Path, tmp_path: Path, failing) -> None:
        (tmp_path / "file").write_text("in the way")
        status, line = failing("run", TASK, "-i", sample / "input", "-o", tmp_path / "file" / "out")
        assert status == 1
        assert "file" in line
        assert (tmp_path / "file").read_text() == "in the way"

    def test_a_full_disk_is_left_without_an_empty_folder(
        self, sample: Path, small_disk: Path, tmp_path: Path, failing
    ) -> None:
        own = ["--index", str(tmp_path / "index")]
        run = ["run", TASK, "-i", str(sample / "input"), *own, "-o"]
        assert main([*run, str(tmp_path / "out")]) == 0
        assert failing(*run, tmp_path / "index")[0] == 2
        filler = small_disk / "filler"
        filler.write_bytes(bytes((1 << 20) - (3 << 12)))
        for more in ([], own):
            out = small_disk / "some" / "out"
            status, told = failing("run", TASK, "-i", sample / "input", "-o", out, *more)
            assert (status, "No space left" in told) == (1, True)
            assert [path.name for path in small_disk.iterdir()] == ["filler"]

    def test_an_index_of_something_else_is_left_alone(
        self, sample: Path, tmp_path: Path, capsys
    ) -> None:
        source, folder = tmp_path / "docs.jsonl", tmp_path / "index"
        source.write_text('{"id": "1", "text": "mine"}\n')
        assert main(["index", "build", str(source), "-o", str(folder)]) == 0
        before = (folder / "manifest.json").read_bytes()
        out = tmp_path / "out"
        command = ["run", TASK, "-i", str(sample / "input"), "-o", str(out)]
        assert main([*command, "--index", str(folder)]) == 0
        assert "left alone" in capsys.readouterr().err
        assert (folder / "manifest.json").read_bytes() == before
        assert (tmp_path / "out.index" / "manifest.json").is_file()
        assert validate(out / "run.txt", TASK, sample / "input" / "topics.xml").ok

    def test_an_index_made_by_hand_of_the_same_input_is_used(
        self, sample: Path, index: Path, tmp_path: Path
    ) -> None:
        before = (index / "manifest.json").stat().st_mtime_ns
        out = tmp_path / "out"
        command = ["run", TASK, "-i", str(sample / "input"), "-o", str(out)]
        assert main([*command, "--index", str(index)]) == 0
        assert (index / "manifest.json").stat().st_mtime_ns == before
        assert not (tmp_path / "out.index").exists()


def test_run_leaves_an_index_beside_the_output_alone_too(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, beside = tmp_path / "docs.jsonl", tmp_path / "out.index"
    source.write_text('{"id": "1", "text": "mine"}\n')
    assert main(["index", "build", str(source), "-o", str(beside)]) == 0
    before = (beside / "manifest.json").read_bytes()
    command = ["run", TASK, "-i", str(sample / "input"), "-o", str(tmp_path / "out"), "-k", "3"]
    assert main(command) == 0
    assert "left alone" in capsys.readouterr().err
    assert (beside / "manifest.json").read_bytes() == before


def test_run_makes_its_own_damaged_index_anew(sample: Path, tmp_path: Path) -> None:
    command = ["run", TASK, "-i", str(sample / "input"), "-o", str(tmp_path / "out"), "-k", "3"]
    assert main(command) == 0
    first = (tmp_path / "out" / "run.txt").read_bytes()
    damaged = tmp_path / "out.index" / "segment-000001" / "postings"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert main(command) == 0
    assert (tmp_path / "out" / "run.txt").read_bytes() == first
