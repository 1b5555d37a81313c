"""Texts and names of strangers: shown without steering a terminal, and escaped in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sicetnon
from sicetnon.cli import main
from sicetnon.records import Passage

# ESC, OSC, C1 and DEL steer; bidirectional marks reorder; zero-width letters and tags hide
STEERING = "\x1b[31m\x1b]0;t\x07\x9b1m\x7f\u061c\u2028\u2029\ufeff\u200b\u202e\u2066\U000e0041"
NAME = f"name{STEERING}[/red].txt".replace("/", "")
RUN = "1 Q0 d1 1 0.5 tag\n"


def hidden(text: str) -> str:
    """The characters of an output that steer a terminal, or that nobody sees."""
    return ascii("".join(set(text.replace("\n", "")) - set(filter(str.isprintable, text))))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """An index, in a folder with a hostile name, of a document with a hostile text."""
    record = {"id": "d1", "title": f"Tea {STEERING}", "text": f"Tea is cheap. {STEERING} Coffee."}
    source = tmp_path / "documents.jsonl"
    source.write_text(json.dumps(record) + "\n")
    folder = tmp_path / f"index{STEERING}\nsicetnon: no fault"
    assert main(["index", "build", str(source), "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A run and judgments with hostile names."""
    run, qrels = tmp_path / NAME, tmp_path / f"{NAME}.qrels"
    run.write_text(RUN)
    qrels.write_text("1 0 d1 2\n")
    return str(run), str(qrels)


class TestTerminal:
    def test_indexes(self, documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["index", "info", str(documents)]) == 0
        assert main(["search", f"tea {STEERING}", "--index", str(documents)]) == 0
        (documents / "segment-000001" / "records").write_bytes(b"damaged")
        assert main(["index", "verify", str(documents)]) == 1
        shown, told = capsys.readouterr()
        assert hidden(shown + told) == "''"
        assert "Tea is cheap." in shown
        assert not [line for line in told.splitlines() if line == "sicetnon: no fault"]

    def test_runs(
        self, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run, qrels = files
        report = tmp_path / f"report{STEERING}"
        assert main(["evaluate", run, "--qrels", qrels, "--report", str(report)]) == 0
        assert main(["evaluate", run, f"{run}.", "--qrels", qrels]) == 1
        assert main(["fuse", run, run, "-o", f"{run}.fused"]) == 0
        assert main(["validate", run, "--task", "touche-2020-task-1"]) == 0
        shown, told = capsys.readouterr()
        assert hidden(shown + told) == "''"
        assert hidden((report / "index.html").read_text(encoding="utf-8")) == "''"

    def test_pools(self, tmp_path: Path, failing) -> None:
        run, pool = tmp_path / "run.txt", tmp_path / f"pool{STEERING}"
        topics = tmp_path / "topics.xml"
        topics.write_text("<topics><topic><number>1</number><title>Tea?</title></topic></topics>")
        run.write_text(RUN.replace("d1", "d\x1b[31m\u202e"))
        make = ["judge", "pool", run, "--topics", topics, "-o", pool]
        status, told = failing(*make)
        assert (status, hidden(told)) == (1, "''")
        assert "holds characters that do not print" in told
        run.write_text(RUN)
        assert main(list(map(str, make))) == 0
        named = failing("judge", "undo", pool, "--assessor", f"anna{STEERING}")
        assert (named[0], hidden(named[1])) == (2, "''")

    def test_log(self, documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["search", "tea", "--index", str(documents), "--verbose", "--verbose"]) == 0
        told = capsys.readouterr().err
        assert "opened" in told
        assert hidden(told) == "''"

    @pytest.mark.parametrize(
        "words", [[f"--x{STEERING}"], [STEERING], ["search", "tea", f"-k{STEERING}"]]
    )
    def test_wrong_arguments(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            main(["leaderboard", "touche-2020-task-1", *words] if words[0][:1] == "-" else words)
        assert stop.value.code == 2
        assert hidden(capsys.readouterr().err) == "''"

    def test_names_are_no_markup(
        self, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        report = tmp_path / "rep[" / "red]x[bold]"
        assert main(["evaluate", files[0], "--qrels", files[1], "--report", str(report)]) == 0
        assert f"report: {report}/index.html" in capsys.readouterr().err


class TestJson:
    def test_search(self, documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
        capsys.readouterr()
        question = f"tea {STEERING}\udcff"
        assert main(["search", question, "--index", str(documents), "--json"]) == 0
        shown = capsys.readouterr().out
        assert hidden(shown) == "''"
        found = json.loads(shown)
        # a byte that is no UTF-8 is no JSON (RFC 8259, 8.2)
        assert found["question"] == question.replace("\udcff", "\ufffd")
        assert STEERING in found["answers"][0]["fields"]["text"]

    def test_evaluate(self, files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["evaluate", files[0], "--qrels", files[1], "--json"]) == 0
        shown = capsys.readouterr().out
        assert hidden(shown) == "''"
        assert json.loads(shown)[0]["run"] == files[0]

    def test_parse(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["parse", f"Which is better, tea\u200e or coffee{STEERING}?"]) == 0
        shown = capsys.readouterr().out
        assert hidden(shown) == "''"
        assert json.loads(shown)["first"] == "tea\u200e"

    def test_annotate(self, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
        record = {"text": f"Tea is cheap. {STEERING}", STEERING: ["\u00e9", {"\t": STEERING}]}
        source = tmp_path / "in.jsonl"
        source.write_text(json.dumps(record, ensure_ascii=False, indent=None) + "\n")
        assert main(["annotate", "quality", str(source)]) == 0
        shown = capsysbinary.readouterr().out.decode()
        assert hidden(shown) == "''"
        assert "\u00e9" in shown
        found = json.loads(shown)
        assert {key: found[key] for key in record} == record


class TestInput:
    def test_half_characters_are_legal_in_a_question(self) -> None:
        index = sicetnon.Index.build(
            [Passage("1", "Python is better than Java."), Passage("2", "Tea")]
        )
        question = "Which is better, \udcffPython or Java\ud800?"
        assert [answer.id for answer in index.search(question)] == ["1"]

    @pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
    def test_nan_is_no_json(self, number: str, tmp_path: Path, failing) -> None:
        source = tmp_path / "documents.jsonl"
        source.write_text(
            f'{{"id": "1", "text": "tea"}}\n{{"id": "2", "text": "a", "n": {number}}}\n'
        )
        status, line = failing("index", "build", source, "-o", tmp_path / "index")
        assert status == 1
        assert f"{source}, line 2" in line

    def test_a_long_value_is_cut_and_the_advice_stays(self, tmp_path: Path, failing) -> None:
        run, qrels = tmp_path / "run.txt", tmp_path / "qrels"
        run.write_text(f"1 Q0 d1 {'9' * 1_000_000} 0.5 tag\n")
        qrels.write_text("1 0 d1 2\n")
        status, line = failing("evaluate", run, "--qrels", qrels)
        assert status == 1
        assert len(line) < 1100
        assert line.startswith(f"sicetnon: {run}, line 1: found rank '999")
        assert line.endswith("expected a whole number and a number")
        status, line = failing("search", "tea", "--system", "x" * 100_000)
        assert (status, len(line) < 1100) == (2, True)
        assert line.endswith("hybrid, uva")
