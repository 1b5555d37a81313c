"""The command `index`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sicetnon import cli
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.entries import EntryFields
from sicetnon.formats.files import Reading
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.records import Entry
from sicetnon.text.analysis import ANALYSES
from support.index_cases import content_of, counted, entries, files_of, write_lines


def test_the_command_builds_adds_deletes_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write_lines(tmp_path / "one.jsonl", {"id": "a", "text": "x"}, {"id": "b", "text": "y"})
    two = write_lines(tmp_path / "two.jsonl", {"id": "b", "text": "z"}, {"id": "c", "text": "z"})
    index = str(tmp_path / "ix")
    assert (
        cli.main(["index", "build", str(one), "-o", index, "--memory", "1", "--analysis", "forms"])
        == 0
    )
    shown = capsys.readouterr().out
    assert "documents  2 entries" in shown
    assert "analysis   forms" in shown
    assert cli.main(["index", "add", str(two), "-o", index]) == 1
    assert "two.jsonl: the id 'b' is already in the index" in capsys.readouterr().err
    assert cli.main(["index", "add", str(two), "-o", index, "--analysis", "plain"]) == 2
    assert "was made with the analysis 'forms'" in capsys.readouterr().err
    assert cli.main(["index", "add", str(two), "-o", index, "--skip-invalid"]) == 0
    shown, told = capsys.readouterr()
    assert "documents  3 entries" in shown
    assert "left out   1" in shown
    assert "left out: " in told
    assert content_of(Path(index)).records["b"] == Entry("b", {"text": "y"})
    assert cli.main(["index", "add", str(two), "-o", index, "--replace"]) == 0
    assert "documents  3 entries" in capsys.readouterr().out
    assert content_of(Path(index)).records["b"] == Entry("b", {"text": "z"})
    assert cli.main(["index", "delete", "a", "nobody", "-o", index]) == 0
    assert capsys.readouterr().out == "deleted: 1; not in the index: 1\n"
    assert cli.main(["index", "delete", "b", "c", "-o", index]) == 2
    assert cli.main(["index", "verify", index]) == 0
    assert capsys.readouterr().out == f"{index}: all files are as they were written\n"


def test_the_command_refuses_what_makes_no_sense(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(write_lines(tmp_path / "one.jsonl", {"id": "z", "text": "x"}))
    before = files_of(small)
    for arguments in (
        ["build", source, "-o", source],
        ["build", source, "-o", str(small), "--analysis", "nobody's"],
        ["annotate", str(small), "--with", "beauty"],
        ["info", source],
    ):
        assert cli.main(["index", *arguments]) == 2
        shown, told = capsys.readouterr()
        assert (shown, told.count("\n")) == ("", 1)
    assert files_of(small) == before


def test_the_command_indexes_files_of_each_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argument = {"id": "S1", "conclusion": "c", "premises": [{"text": "t", "stance": "PRO"}]}
    (tmp_path / "arguments.json").write_text(json.dumps({"arguments": [argument]}))
    (tmp_path / "processed.csv").write_text(
        "id,conclusion,premises,context,sentences\nS1,c,\"[{'text': 't'}]\",{},[]\n"
    )
    write_lines(tmp_path / "passages.jsonl", {"id": "p", "contents": "t", "chatNoirUrl": "u"})
    write_lines(tmp_path / "entries.jsonl", {"id": "e", "text": "t", "year": 3})
    nouns = ("argument", "processed argument", "passage", "entry")
    for name, noun in zip(("arguments", "processed", "passages", "entries"), nouns, strict=True):
        (source,) = tmp_path.glob(f"{name}.*")
        extra = ["--fields", "text"] if name == "entries" else []
        assert cli.main(["index", "build", str(source), "-o", str(tmp_path / name), *extra]) == 0
        assert f"documents  1 {noun}\n" in capsys.readouterr().out
        corpus = open_corpus([source], EntryFields(tuple(extra[1:])))
        with IndexReader.open(tmp_path / name) as index:
            assert index.records_at([0]) == list(corpus.read(source, Reading()))
            assert index.manifest.source["files"] == [source.name]
            assert index.manifest.source["sha256"] == corpus.checksum()


def test_every_analysis_builds(tmp_path: Path) -> None:
    found = {"a": ("Teachers' unions of 2020",), "b": ("Ein Test",)}
    for name, analysis in ANALYSES.items():
        build_index(entries(found), tmp_path / name, BuildOptions(analysis))
        assert content_of(tmp_path / name) == counted(found, analysis)
        with IndexReader.open(tmp_path / name) as index:
            assert index.analysis == analysis


def test_nothing_is_written_into_the_folder_of_an_index(
    small: Path, tmp_path: Path, failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lines(tmp_path / "one.jsonl", {"id": "z", "text": "x"})
    before = files_of(small)
    for place in (small / "inner", small / "some" / "index.ciff"):
        for verb, given in (("build", source), ("merge", small), ("export", small)):
            status, told = failing("index", verb, given, "-o", place)
            assert (status, told.split(";")[0]) == (
                2,
                f"sicetnon: {place}: lies in the index {small}",
            )
    monkeypatch.chdir(small)
    assert failing("index", "build", source, "-o", "inner")[0] == 2
    assert files_of(small) == before
    assert cli.main(["index", "build", str(source), "-o", str(small), "--shards", "1"]) == 0
