from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sicetnon.cli import main
from sicetnon.evaluation.validation import validate
from sicetnon.formats.runs import read_run
from sicetnon.formats.topics import read_topics

ROOT = Path(__file__).parents[1]
TASK = "touche-2020-task-1"


def run_command(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sicetnon", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture(scope="session")
def index(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "index"
    assert main(["index", str(sample / "input"), "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def failing(capsys: pytest.CaptureFixture[str]):
    """Runs a command that must fail with one line; gives status and line."""

    def run(*arguments: object) -> tuple[int, str]:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        error = capsys.readouterr().err
        assert "Traceback" not in error
        assert status in (1, 2)
        *notices, last = error.strip().splitlines()
        assert not [notice for notice in notices if notice.startswith("sicetnon: ") and status == 1]
        return status, last

    return run


class TestHelp:
    def test_help_loads_nothing_heavy(self) -> None:
        code = (
            "import sys; from sicetnon.cli import parser; parser().format_help();"
            "print([m for m in ('numpy', 'numba', 'rich', 'msgspec') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "[]"

    def test_every_command_explains_itself(self) -> None:
        for command in ("search", "index", "run", "evaluate", "validate", "leaderboard"):
            done = run_command(command, "--help")
            assert done.returncode == 0
            assert "usage: sicetnon" in done.stdout

    def test_no_command_is_wrong_usage(self) -> None:
        assert run_command().returncode == 2


class TestSearch:
    def test_answers_from_the_sample_without_an_index(self, capsys) -> None:
        assert main(["search", "Should teachers get tenure?", "-k", "5"]) == 0
        shown = capsys.readouterr().out
        assert "Reasons given for a claim" in shown
        assert "tenure" in shown.lower()

    def test_piped_output_is_plain_and_narrow(self, index: Path) -> None:
        done = run_command("search", "Is homework good for children?", "--index", index)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert max(len(line) for line in done.stdout.splitlines()) <= 80
        assert not [line for line in done.stdout.splitlines() if line != line.rstrip()]

    def test_marks_words_of_the_question_in_a_terminal(self, index: Path) -> None:
        from io import StringIO

        from rich.console import Console

        from sicetnon.index.index import Index
        from sicetnon.search import search
        from sicetnon.terminal import show_answers

        screen = Console(file=StringIO(), force_terminal=True, width=80, color_system="standard")
        with Index.open(index) as opened:
            show_answers("homework", search(opened, "homework", 3), screen)
        marked = re.findall(r"\x1b\[1;33m([^\x1b]+)\x1b", screen.file.getvalue())  # type: ignore[attr-defined]
        assert marked
        assert {word.lower().rstrip("s") for word in marked} == {"homework"}

    def test_json_holds_what_is_shown(self, index: Path, capsys) -> None:
        assert main(["search", "nuclear power", "--index", str(index), "--json", "-k", "4"]) == 0
        parsed = json.loads(capsys.readouterr().out)
        assert parsed["question"] == "nuclear power"
        assert [answer["rank"] for answer in parsed["answers"]] == [1, 2, 3, 4]
        scores = [answer["score"] for answer in parsed["answers"]]
        assert scores == sorted(scores, reverse=True)
        for answer in parsed["answers"]:
            assert answer["stance"] in ("PRO", "CON")
            assert answer["premise"]
            for start, end in answer["marks"]:
                assert answer["snippet"][start:end].strip()

    @pytest.mark.parametrize(
        "question", ["?", "'", "", "🙂", 'a AND (b OR "', "\x00", "x" * 10_000]
    )
    def test_any_text_is_a_question(self, question: str, index: Path, capsys) -> None:
        assert main(["search", question, "--index", str(index)]) == 0
        capsys.readouterr()

    def test_spam_and_thanks_do_not_come_first(self, sample: Path, index: Path, capsys) -> None:
        judged = {
            tuple(line.split()[0:3:2]): int(line.split()[3])
            for line in (sample / "relevance.qrels").read_text().splitlines()
        }
        for topic in read_topics(sample / "input" / "topics.xml"):
            assert main(["search", topic.title, "--index", str(index), "--json", "-k", "1"]) == 0
            first = json.loads(capsys.readouterr().out)["answers"][0]
            assert judged.get((topic.number, first["id"]), 0) > -2, topic.title

    def test_a_pipe_closed_early_is_no_error(self, index: Path) -> None:
        command = f"{sys.executable} -m sicetnon search tax --index {index} | head -1"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True)
        assert b"Traceback" not in done.stderr
        assert b"BrokenPipe" not in done.stderr

    def test_unknown_system_lists_the_systems(self, index: Path, failing) -> None:
        status, line = failing("search", "x", "--index", index, "--system", "magic")
        assert status == 2
        assert "default, dirichlet, bm25, dph, dirichlet-rm3" in line

    def test_no_index_there(self, tmp_path: Path, failing) -> None:
        status, line = failing("search", "x", "--index", tmp_path / "none")
        assert status == 1
        assert str(tmp_path / "none") in line

    def test_general_documents(self, tmp_path: Path, capsys) -> None:
        source = tmp_path / "pages.csv"
        source.write_text("id,title,body\n1,Cats,Cats sleep all day\n2,Dogs,Dogs bark at cats\n")
        folder = str(tmp_path / "index")
        assert main(["index", str(source), "-o", folder]) == 0
        for system in ("default", "dirichlet", "dph", "bm25-rm3"):
            capsys.readouterr()
            assert main(["search", "cats", "--index", folder, "--json", "--system", system]) == 0
            answers = json.loads(capsys.readouterr().out)["answers"]
            assert {answer["id"] for answer in answers} == {"1", "2"}
            assert answers[0]["title"] == "Cats"


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
        assert (tmp_path / "out.index" / "manifest.json").is_file()

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
            (["index", "-o", "out"], 2, "SOURCE"),
            (["index", "a.jsonl", "-o", "out", "--replace"], 1, "a.jsonl"),
            (["index", "a.jsonl", "-o", "out", "--verify"], 2, "--verify"),
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

    def test_an_index_of_something_else_is_left_alone(
        self, sample: Path, tmp_path: Path, capsys
    ) -> None:
        source, folder = tmp_path / "docs.jsonl", tmp_path / "index"
        source.write_text('{"id": "1", "text": "mine"}\n')
        assert main(["index", str(source), "-o", str(folder)]) == 0
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


class TestIndex:
    def test_sums_up(self, index: Path, sample: Path, tmp_path: Path, capsys) -> None:
        assert main(["index", str(sample / "input"), "-o", str(tmp_path / "index")]) == 0
        shown = capsys.readouterr().out
        assert "325 arguments" in shown
        assert "conclusion, premise, title" in shown

    def test_add_replace_delete_verify(self, tmp_path: Path, capsys, failing) -> None:
        folder = str(tmp_path / "index")
        first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        first.write_text('{"id": "1", "text": "apples"}\n{"id": "2", "text": "pears"}\n')
        second.write_text('{"id": "2", "text": "quinces"}\n{"id": "3", "text": "plums"}\n')
        assert main(["index", str(first), "-o", folder]) == 0
        status, line = failing("index", second, "-o", folder, "--add")
        assert status == 1
        assert "'2'" in line
        assert "--replace" in line
        assert main(["index", str(second), "-o", folder, "--add", "--replace"]) == 0
        assert main(["index", "-o", folder, "--delete", "3", "9"]) == 0
        assert "deleted: 1; not in the index: 1" in capsys.readouterr().out
        assert main(["index", "-o", folder, "--verify"]) == 0
        capsys.readouterr()
        for word, found in (("pears", []), ("quinces", ["2"]), ("plums", []), ("apples", ["1"])):
            assert main(["search", word, "--index", folder, "--json"]) == 0
            answers = json.loads(capsys.readouterr().out)["answers"]
            assert [answer["id"] for answer in answers] == found

    def test_skip_invalid_counts_what_is_left_out(self, tmp_path: Path, capsys, failing) -> None:
        source = tmp_path / "a.jsonl"
        source.write_text(
            '{"id": "1", "text": "good"}\n{"text": "no id"}\n{"id": "1", "text": "x"}\n'
        )
        status, line = failing("index", source, "-o", tmp_path / "index")
        assert status == 1
        assert "line 2" in line
        assert not (tmp_path / "index").exists()
        assert main(["index", str(source), "-o", str(tmp_path / "index"), "--skip-invalid"]) == 0
        captured = capsys.readouterr()
        assert re.search(r"left out\s+2", captured.out)
        assert "line 2" in captured.err


class TestHostileText:
    def test_documents_and_questions_cannot_steer_the_terminal(self, tmp_path, capsys, failing):
        source = tmp_path / "docs.jsonl"
        record = {
            "id": "a",
            "title": "\x1b]0;pwned\x07title",
            "text": "\x1b[31mred\x1b[0m \u202eetar",
        }
        source.write_text(json.dumps(record) + "\n")
        folder = str(tmp_path / "index")
        assert main(["index", str(source), "-o", folder]) == 0
        capsys.readouterr()
        assert main(["search", "red \x1b[31m", "--index", folder]) == 0
        shown = capsys.readouterr().out
        assert "red" in shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}
        _, line = failing("search", "x", "--index", folder, "--system", "\x1b[31m")
        assert line.isprintable()


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
        assert "not placed" in capsys.readouterr().out
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


def test_run_leaves_an_index_beside_the_output_alone_too(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, beside = tmp_path / "docs.jsonl", tmp_path / "out.index"
    source.write_text('{"id": "1", "text": "mine"}\n')
    assert main(["index", str(source), "-o", str(beside)]) == 0
    before = (beside / "manifest.json").read_bytes()
    command = ["run", TASK, "-i", str(sample / "input"), "-o", str(tmp_path / "out"), "-k", "3"]
    assert main(command) == 0
    assert "left alone" in capsys.readouterr().err
    assert (beside / "manifest.json").read_bytes() == before


def test_run_makes_its_own_damaged_index_anew(sample: Path, tmp_path: Path) -> None:
    command = ["run", TASK, "-i", str(sample / "input"), "-o", str(tmp_path / "out"), "-k", "3"]
    assert main(command) == 0
    first = (tmp_path / "out" / "run.txt").read_bytes()
    damaged = tmp_path / "out.index" / "segment-000001" / "frequencies"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert main(command) == 0
    assert (tmp_path / "out" / "run.txt").read_bytes() == first
