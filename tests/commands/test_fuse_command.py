"""The command `fuse`."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.validation import validate


class TestCommand:
    @pytest.fixture
    def runs(self, tmp_path: Path) -> list[Path]:
        first, second = tmp_path / "first.txt", tmp_path / "second.txt.gz"
        first.write_text("2 FIRST a 1 9 one\n2 NO b 2 9 one\n3 Q0 a 1 1 one\n")
        # ranks out of order, a tag with spaces, tabs: as participants' files are
        text = "2\tSECOND\tb\t2\t1\ttwo words\n2 SECOND c 1 2 two words\n"
        second.write_bytes(gzip.compress(text.encode()))
        return [first, second]

    def fuse(self, *arguments: object) -> int:
        return main(["fuse", *map(str, arguments)])

    def test_writes_a_strict_run(self, runs: list[Path], tmp_path: Path, capsys) -> None:
        output = tmp_path / "run.txt"
        assert self.fuse(*runs, "-o", output, "--tag", "both") == 0
        rows = [line.split(" ") for line in output.read_text().splitlines()]
        assert [row[:4] for row in rows] == [
            ["2", "NO", "b", "1"],
            ["2", "FIRST", "a", "2"],
            ["2", "SECOND", "c", "3"],
            ["3", "Q0", "a", "1"],
        ]
        assert {row[5] for row in rows} == {"both"}
        assert validate(output, "touche-2022-task-2", ["2", "3"]).ok
        said = capsys.readouterr().err
        assert "4 results for 2 topics from 2 runs" in said
        assert "second.txt.gz: leaves out 1 of 2 topics" in said

    def test_zips_by_the_name(self, runs: list[Path], tmp_path: Path) -> None:
        plain_file, zipped = tmp_path / "run.txt", tmp_path / "run.txt.gz"
        assert self.fuse(*runs, "-o", plain_file) == self.fuse(*runs, "-o", zipped) == 0
        assert gzip.decompress(zipped.read_bytes()) == plain_file.read_bytes()

    def test_weights_methods_and_depth(self, runs: list[Path], tmp_path: Path, capsys) -> None:
        output = tmp_path / "run.txt"
        options = ["--method", "sum", "--normalise", "rank", "--weights", "0.1,1", "-k", "2"]
        assert self.fuse(*runs, "-o", output, *options) == 0
        assert [line.split()[2] for line in output.read_text().splitlines()] == ["c", "b", "a"]
        assert self.fuse(*runs, "-o", output, "--method", "mnz") == 0
        assert "ranks stand in for scores in 2 of 2 topics" in capsys.readouterr().err

    def test_the_output_may_be_one_of_the_runs(self, runs: list[Path], tmp_path: Path) -> None:
        assert self.fuse(*runs, "-o", tmp_path / "other.txt") == 0
        assert self.fuse(*runs, "-o", runs[0]) == 0
        assert runs[0].read_text() == (tmp_path / "other.txt").read_text()

    def test_lines_that_repeat_a_document_are_told_of(self, tmp_path: Path, capsys) -> None:
        run_file = tmp_path / "r.txt"
        run_file.write_text("2 Q0 a 1 2 t\n2 Q0 a 2 1 t\n")
        assert self.fuse(run_file, "-o", tmp_path / "run.txt", "--task", "touche-2022-task-2") == 0
        said = capsys.readouterr().err
        assert "1 line repeats a document" in said
        assert "warning" in said  # the topics that are missing, by the task's rules

    def test_what_breaks_a_rule_of_the_task_is_not_written(
        self, runs: list[Path], tmp_path: Path, capsys
    ) -> None:
        output = tmp_path / "run.txt"
        output.write_text("as it was")
        assert self.fuse(*runs, "-o", output, "--task", "touche-2021-task-1") == 1
        assert output.read_text() == "as it was"
        *_, last = capsys.readouterr().err.strip().splitlines()
        assert "was not written" in last
        assert "touche-2021-task-1" in last

    @pytest.mark.parametrize(
        ("options", "status", "message"),
        [
            (["--weights", "1"], 2, "1 weight for 2 runs"),
            (["--weights", "0,0"], 2, "no weight above 0"),
            (["--normalise", "sum"], 2, "--method sum and mnz"),
            (["--tag", "two words"], 2, "white space"),
            (["--task", "touche-1999"], 2, "touche-1999"),
            (["-o", "no/such/folder/run.txt"], 1, "there is no such folder"),
        ],
    )
    def test_wrong_usage_is_one_line(
        self, runs: list[Path], tmp_path: Path, capsys, options, status: int, message: str
    ) -> None:
        output = tmp_path / "run.txt"
        assert self.fuse(*runs, "-o", output, *options) == status
        assert message in capsys.readouterr().err.strip().splitlines()[-1]
        assert not output.exists()

    @pytest.mark.parametrize("weights", ["1;2", "a,b", ","])
    def test_weights_are_numbers(self, runs: list[Path], capsys, weights: str) -> None:
        with pytest.raises(SystemExit) as stop:
            self.fuse(*runs, "-o", "run.txt", "--weights", weights)
        assert stop.value.code == 2
        assert "with commas between them" in capsys.readouterr().err

    def test_a_broken_run_is_named(self, runs: list[Path], tmp_path: Path, capsys) -> None:
        runs[1].write_bytes(runs[1].read_bytes()[:-12])
        assert self.fuse(*runs, "-o", tmp_path / "run.txt") == 1
        assert "second.txt.gz" in capsys.readouterr().err
        assert not (tmp_path / "run.txt").exists()
