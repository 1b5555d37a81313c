"""The commands `evaluate`, `validate` and `leaderboard`."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from sicetnon.cli import main
from support.command_line import TASK, run_command


class TestJudging:
    def test_evaluate_prints_a_table_and_json(
        self, sample: Path, index: Path, tmp_path, capsys
    ) -> None:
        out = tmp_path / "out"
        command = ["run", TASK, "-i", str(sample / "input"), "-o", str(out), "--index", str(index)]
        assert main(command) == 0
        assert main([*command[:-3], str(tmp_path / "bm25"), *command[-2:], "--system", "bm25"]) == 0
        runs = [str(out / "run.txt"), str(tmp_path / "bm25" / "run.txt")]
        qrels = ["--qrels", str(sample / "relevance.qrels"), str(sample / "quality.qrels")]
        capsys.readouterr()
        assert main(["evaluate", *runs, *qrels, "--baseline", runs[1]]) == 0
        shown = capsys.readouterr().out
        assert "nDCG@5, relevance" in shown
        assert "nDCG@5, quality" in shown
        assert "win/tie/loss" in shown
        assert main(["evaluate", *runs, *qrels, "--json", "--measure", "P@10", "AP"]) == 0
        rows = json.loads(capsys.readouterr().out)
        keys = {"run", "tag", "qrels", "rule", "measure", "mean", "low", "high", "topics", "judged"}
        assert len(rows) == 8
        assert all(keys <= set(row) for row in rows)

    def test_standard_input_and_gzip(self, sample: Path, tmp_path: Path) -> None:
        line = (sample / "relevance.qrels").read_text().split()
        run = f"{line[0]} Q0 {line[2]} 1 1.0 tag\n"
        (tmp_path / "run.txt.gz").write_bytes(gzip.compress(run.encode()))
        qrels = ("--qrels", sample / "relevance.qrels", "--json")
        piped = run_command("evaluate", "-", *qrels, input=run)
        zipped = run_command("evaluate", tmp_path / "run.txt.gz", *qrels)
        assert piped.returncode == zipped.returncode == 0, piped.stderr + zipped.stderr
        means = [json.loads(done.stdout)[0]["mean"] for done in (piped, zipped)]
        assert means[0] == means[1]

    def test_validate_ends_with_status_1_only_for_errors(
        self, sample, index, tmp_path, capsys
    ) -> None:
        out = tmp_path / "out"
        command = ["run", TASK, "-i", str(sample / "input"), "-o", str(out), "--index", str(index)]
        assert main(command) == 0
        topics = ["--topics", str(sample / "input" / "topics.xml")]
        check = ["validate", str(out / "run.txt"), "--task", TASK, *topics, "--index", str(index)]
        assert main(check) == 0
        text = (out / "run.txt").read_text()
        (out / "run.txt").write_text(text.replace(" Q0 S", " Q0 T", 1))
        capsys.readouterr()
        assert main(check) == 1
        captured = capsys.readouterr()
        assert "line 1" in captured.out
        assert captured.err == ""
        assert main([*check, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["ok"] is False

    def test_leaderboard(self, sample: Path, tmp_path: Path, capsys, failing) -> None:
        assert main(["leaderboard", TASK]) == 0
        assert "Dread Pirate Roberts" in capsys.readouterr().out
        (tmp_path / "run.txt").write_text("1 Q0 x 1 1.0 tag\n")
        qrels = str(sample / "relevance.qrels")
        assert main(["leaderboard", TASK, str(tmp_path / "run.txt"), "--qrels", qrels]) == 0
        assert "not placed" in " ".join(capsys.readouterr().out.split())
        status, _ = failing("leaderboard", TASK, tmp_path / "run.txt")
        assert status == 2

    def test_a_corpus_that_was_not_judged(self, index: Path, sample, tmp_path, capsys) -> None:
        (tmp_path / "run.txt").write_text("1 Q0 x 1 1.0 tag\n")
        (tmp_path / "q.qrels").write_text("1 0 x 1\n1 0 y 0\n")
        command = ["evaluate", str(tmp_path / "run.txt"), "--index", str(index)]
        assert main([*command, "--qrels", str(tmp_path / "q.qrels")]) == 0
        assert "version of the corpus" in capsys.readouterr().err
        assert main([*command, "--qrels", str(sample / "relevance.qrels")]) == 0
        assert "version of the corpus" not in capsys.readouterr().err

    def test_bad_files(self, sample: Path, tmp_path: Path, failing) -> None:
        (tmp_path / "run.txt").write_text("1 Q0 x one 1.0 tag\n")
        status, line = failing(
            "evaluate", tmp_path / "run.txt", "--qrels", sample / "relevance.qrels"
        )
        assert status == 1
        assert "run.txt, line 1" in line
        status, line = failing(
            "evaluate", tmp_path / "no.txt", "--qrels", sample / "relevance.qrels"
        )
        assert status == 1
        assert "no.txt" in line

    def test_report(self, sample: Path, index: Path, tmp_path: Path, capsys) -> None:
        out = tmp_path / "out"
        source = str(sample / "input")
        assert main(["run", TASK, "-i", source, "-o", str(out), "--index", str(index)]) == 0
        command = ["evaluate", str(out / "run.txt"), "--qrels", str(sample / "relevance.qrels")]
        command += ["--index", str(index), "--topics", str(sample / "input" / "topics.xml")]
        assert main([*command, "--report", str(tmp_path / "report")]) == 0
        page = (tmp_path / "report" / "index.html").read_text()
        assert "Should teachers get tenure?" in page
        assert not re.search(r'(?:src|href)="(?!#)', page)
