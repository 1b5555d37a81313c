"""Notices of commands: `--quiet`, `--verbose`, and paths of the wrong kind."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sicetnon.cli import main
from support.command_line import TASK


@pytest.fixture
def quality(sample: Path) -> list[str]:
    return ["--qrels", str(sample / "quality.qrels")]


def test_quiet_leaves_only_the_output(
    sample: Path,
    index: Path,
    tmp_path: Path,
    quality: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = str(tmp_path / "out")
    command = ["run", TASK, "-i", str(sample / "input"), "-o", out, "--index", str(index)]
    run = f"{out}/run.txt"
    capsys.readouterr()
    for line, is_printed in (
        ([*command, "-k", "3"], False),
        (["fuse", run, run, "-o", str(tmp_path / "fused.txt")], False),
        (["evaluate", run, *quality], True),
        (["search", "tenure", "--index", str(index)], True),
    ):
        assert main([*line, "--quiet"]) == 0
        shown, told = capsys.readouterr()
        assert (bool(shown), told) == (is_printed, "")


def test_quiet_may_stand_before_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": "a", "text": "tea"}\n')
    folder = str(tmp_path / "index")
    assert main(["--quiet", "index", "build", str(source), "-o", folder]) == 0
    assert main(["--quiet", "search", "--index", folder, "tea", "--", "milk"]) == 0
    shown, told = capsys.readouterr()
    assert "tea" in shown
    assert told == ""
    assert main(["index", "verify", folder]) == 0
    assert "as they were written" in capsys.readouterr().out
    assert main(["--quiet", "index", "verify", folder]) == 0
    assert capsys.readouterr() == ("", "")


def test_an_unknown_option_before_the_command_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--quick", "parse", "tea"])
    assert stopped.value.code == 2
    assert "unrecognized arguments: --quick\n" in capsys.readouterr().err


def test_an_option_is_not_known_by_its_first_letters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["index", "build", "texts.jsonl", "-o", "index", "--field", "title"])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert "unrecognized arguments: --field title; did you mean --fields?\n" in told


def test_quiet_sums_nothing_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, source, more = str(tmp_path / "ix"), tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_text('{"id": "a", "text": "tea"}\n{"id": "b", "text": "milk"}\n')
    more.write_text('{"id": "c", "text": "tea"}\n')
    for words in (
        ["build", str(source), "-o", folder],
        ["build", str(source), "-o", folder],
        ["add", str(more), "-o", folder],
        ["delete", "a", "nobody", "-o", folder],
        ["verify", folder],
    ):
        assert main(["index", *words, "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")
    assert main(["index", "info", folder, "--quiet"]) == 0
    assert "documents  2 entries" in capsys.readouterr().out


def test_quiet_leaves_the_findings_on_a_run(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "mine.txt"
    run.write_text("1 Q0 a 1 2.0 tag\n1 Q0 b 2 2.0 tag\n")
    command = ["validate", str(run), "--task", TASK, "--quiet"]
    assert main(command) == 0
    shown, told = capsys.readouterr()
    assert [line.partition(":")[0] for line in shown.splitlines()] == ["warning", "warning"]
    assert told == ""


def test_quiet_still_tells_errors(failing, tmp_path: Path) -> None:
    status, line = failing("search", "x", "--index", tmp_path / "none", "--quiet")
    assert (status, str(tmp_path / "none") in line) == (1, True)


def test_verbose_shows_the_log(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["search", "tenure", "--index", str(index), "--verbose", "--verbose"]) == 0
    told = capsys.readouterr().err
    assert f"DEBUG sicetnon.index: opened {index}: 325 documents" in told
    assert "tenure" not in told
    assert main(["search", "tenure", "--index", str(index)]) == 0
    assert capsys.readouterr().err == ""
    assert not logging.getLogger("sicetnon").handlers


def test_verbose_tells_what_was_built(sample: Path, tmp_path: Path, capsys) -> None:
    folder = str(tmp_path / "index")
    assert main(["index", "build", str(sample / "input"), "-o", folder, "--verbose"]) == 0
    assert f"INFO sicetnon.index: built {folder}: 325 documents" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["run", TASK, "-i", "INPUT", "-o"],
        ["index", "build", "INPUT", "-o"],
        ["evaluate", "FILE", "--qrels", "QRELS", "--report"],
        ["train", "uva-quality", "FILE", "-o"],
        ["index", "info"],
    ],
)
def test_a_file_where_a_folder_belongs(
    command: list[str], sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    paths = {"INPUT": sample / "input", "FILE": file, "QRELS": sample / "relevance.qrels"}
    assert main([*(str(paths.get(word, word)) for word in command), str(file)]) == 2
    assert capsys.readouterr().err == (f"sicetnon: {file}: is a file; expected a folder\n")
    assert file.read_text() == "mine"


def test_a_folder_below_a_file(sample: Path, tmp_path: Path, failing) -> None:
    (tmp_path / "file").write_text("mine")
    command = ("run", TASK, "-i", sample / "input", "-o", tmp_path / "file" / "out")
    status, line = failing(*command)
    assert status == 1
    assert "a part of this path is a file, expected a folder; name another path" in line


@pytest.mark.parametrize("name", ["my-documents", "documents.jsonl", "My Documents", "../nothing"])
def test_a_mistyped_source_is_a_missing_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing
) -> None:
    monkeypatch.chdir(tmp_path)
    status, line = failing("index", "build", name, "-o", "index")
    assert status == 1
    assert line.startswith(f"sicetnon: {name}: there is no such file or directory; ")
    assert "id of ir_datasets" in line
