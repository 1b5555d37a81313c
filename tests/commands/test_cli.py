"""The command line: help, answers, indexes; text that would steer the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.formats.topics import read_topics
from support.command_line import run_command


class TestSearch:
    def test_answers_from_the_sample_without_an_index(self, capsys) -> None:
        assert main(["search", "Should teachers get tenure?", "-k", "5"]) == 0
        shown = capsys.readouterr().out
        assert re.search(r"\nAgainst \(\d\) ──", shown)
        assert "a program's guess" in shown
        assert "tenure" in shown.lower()

    def test_what_is_left_out_is_told(self, capsys) -> None:
        question = ["search", "Should teachers get tenure?", "--no-sides"]
        for words, is_told in (([], True), (["--quiet"], False), (["--system", "answers"], False)):
            assert main([*question, *words]) == 0
            shown = capsys.readouterr().out
            assert ("For more: --system answers" in " ".join(shown.split())) == is_told

    def test_piped_output_is_plain_and_narrow(self, index: Path) -> None:
        done = run_command("search", "Is homework good for children?", "--index", index)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        lines = done.stdout.splitlines()
        # an address stands whole, on a line of its own where it does not fit
        assert all(len(line) <= 80 or re.fullmatch(r" *https?://\S+", line) for line in lines)
        assert not [line for line in lines if line != line.rstrip()]

    def test_marks_words_of_the_question_in_a_terminal(self, index: Path) -> None:
        from io import StringIO

        from rich.console import Console

        from sicetnon.app.index import Index
        from sicetnon.terminal.results import show_answers

        screen = Console(file=StringIO(), force_terminal=True, width=80, color_system="standard")
        with Index.open(index) as opened:
            show_answers("homework", opened.search("homework", 3), screen)
        marked = re.findall(r"\x1b\[1;4m([^\x1b]+)\x1b", screen.file.getvalue())  # type: ignore[attr-defined]
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

    @pytest.mark.parametrize("source", ["records.jsonl", "-"])
    def test_a_closed_standard_input_matters_only_where_it_is_read(
        self, tmp_path: Path, source: str
    ) -> None:
        (tmp_path / "records.jsonl").write_text('{"text": "Trees cool a street."}\n')
        command = f"{sys.executable} -m sicetnon annotate quality {source} <&-"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        if source == "-":
            assert done.returncode == 1
            assert done.stderr.count("\n") == 1
            assert "standard input is closed" in done.stderr
        else:
            assert (done.returncode, done.stderr) == (0, "")
            assert "quality" in json.loads(done.stdout)

    def test_unknown_system_lists_the_systems(self, index: Path, failing) -> None:
        status, line = failing("search", "x", "--index", index, "--system", "magic")
        assert status == 2
        assert "default, answers, dirichlet, bm25, dph, dirichlet-rm3" in line

    def test_no_index_there(self, tmp_path: Path, failing) -> None:
        status, line = failing("search", "x", "--index", tmp_path / "none")
        assert status == 1
        assert str(tmp_path / "none") in line

    def test_general_documents(self, tmp_path: Path, capsys) -> None:
        source = tmp_path / "pages.csv"
        source.write_text("id,title,body\n1,Cats,Cats sleep all day\n2,Dogs,Dogs bark at cats\n")
        folder = str(tmp_path / "index")
        assert main(["index", "build", str(source), "-o", folder]) == 0
        for system in ("default", "dirichlet", "dph", "bm25-rm3"):
            capsys.readouterr()
            assert main(["search", "cats", "--index", folder, "--json", "--system", system]) == 0
            answers = json.loads(capsys.readouterr().out)["answers"]
            assert {answer["id"] for answer in answers} == {"1", "2"}
            assert answers[0]["fields"]["title"] == "Cats"


class TestIndex:
    def test_sums_up(self, index: Path, sample: Path, tmp_path: Path, capsys) -> None:
        assert main(["index", "build", str(sample / "input"), "-o", str(tmp_path / "index")]) == 0
        shown = capsys.readouterr().out
        assert "325 arguments" in shown
        assert "conclusion, premise, title" in shown

    def test_add_replace_delete_verify(self, tmp_path: Path, capsys, failing) -> None:
        folder = str(tmp_path / "index")
        first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        first.write_text('{"id": "1", "text": "apples"}\n{"id": "2", "text": "pears"}\n')
        second.write_text('{"id": "2", "text": "quinces"}\n{"id": "3", "text": "plums"}\n')
        assert main(["index", "build", str(first), "-o", folder]) == 0
        status, line = failing("index", "add", second, "-o", folder)
        assert status == 1
        assert "'2'" in line
        assert "--replace" in line
        assert main(["index", "add", str(second), "-o", folder, "--replace"]) == 0
        assert main(["index", "delete", "3", "9", "-o", folder]) == 0
        assert "deleted: 1; not in the index: 1" in capsys.readouterr().out
        assert main(["index", "verify", folder]) == 0
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
        status, line = failing("index", "build", source, "-o", tmp_path / "index")
        assert status == 1
        assert "line 2" in line
        assert not (tmp_path / "index").exists()
        assert (
            main(["index", "build", str(source), "-o", str(tmp_path / "index"), "--skip-invalid"])
            == 0
        )
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
        assert main(["index", "build", str(source), "-o", folder]) == 0
        capsys.readouterr()
        assert main(["search", "red \x1b[31m", "--index", folder]) == 0
        shown = capsys.readouterr().out
        assert "red" in shown
        assert not set(shown) & {"\x1b", "\x07", "\u202e"}
        _, line = failing("search", "x", "--index", folder, "--system", "\x1b[31m")
        assert line.isprintable()
