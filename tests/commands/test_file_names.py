"""Names of files and folders that are no UTF-8, by every command that stores or prints them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from sicetnon.app.index import sample_directory
from sicetnon.cli import main
from sicetnon.judging.store import JudgingFile

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
SHOWN = "caf\N{REPLACEMENT CHARACTER}"
TASK = "touche-2020-task-1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name is no UTF-8."""
    made = tmp_path / os.fsdecode(b"caf\xe9")
    made.mkdir()
    return made


def printed(capsys: pytest.CaptureFixture[str], *command: object) -> str:
    capsys.readouterr()
    assert main(list(map(str, command))) == 0
    text = capsys.readouterr().out
    text.encode()
    return text


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        ("jsonl", '{"id": "a", "text": "Tenure protects."}\n'),
        ("csv", "id,text\na,Tenure protects.\n"),
        ("html", "<p>Tenure protects.</p>"),
    ],
)
def test_documents(
    folder: Path, ending: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if ending == "html":
        pytest.importorskip("resiliparse")
    source = folder / f"{folder.name}.{ending}"
    source.write_text(content)
    index, archive, copy = (folder / f"{folder.name}.{name}" for name in ("ix", "ciff", "copy"))
    printed(capsys, "index", "build", source, "-o", index)
    manifest = json.loads((index / "manifest.json").read_bytes())["manifest"]
    assert manifest["source"]["files"] == [f"{SHOWN}.{ending}"]
    answers = json.loads(printed(capsys, "search", "tenure", "--index", index, "--json"))
    (answer,) = answers["answers"]
    assert answer["id"] == ("caf%E9" if ending == "html" else "a")
    printed(capsys, "index", "info", index)
    printed(capsys, "index", "export", index, "-o", archive)
    printed(capsys, "index", "build", archive, "-o", copy, "--analysis", "porter-stop")
    manifest = json.loads((copy / "manifest.json").read_bytes())["manifest"]
    assert manifest["source"]["files"] == [f"{SHOWN}.ciff"]


def test_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, out = folder / f"{folder.name}.in", folder / f"{folder.name}.out"
    shutil.copytree(sample_directory(), given)
    printed(capsys, "run", TASK, "-i", given, "-o", out, "--index", folder / "index")
    run, other, qrels = (folder / f"{folder.name}.{name}" for name in ("a", "b", "qrels"))
    run.write_bytes((out / "run.txt").read_bytes())
    other.write_bytes(run.read_bytes())
    lines = [line.split() for line in run.read_text().splitlines()]
    qrels.write_text("".join(f"{topic} 0 {document} 1\n" for topic, _, document, *_ in lines[::2]))
    for command in ("evaluate", "leaderboard"):
        first = [TASK] if command == "leaderboard" else []
        text = printed(capsys, command, *first, run, other, "--qrels", qrels, "--json")
        assert SHOWN in text
        assert "\\ud" not in text
    report = folder / f"{folder.name}.report"
    printed(capsys, "evaluate", run, other, "--qrels", qrels, "--baseline", run, "--report", report)
    assert all(SHOWN in page.read_text("utf-8") for page in report.glob("*.html"))
    text = printed(capsys, "validate", run, "--task", TASK, "--json")
    assert "\\ud" not in text
    pool = folder / f"{folder.name}.sqlite"
    topics = given / "topics.xml"
    printed(capsys, "judge", "pool", run, other, "-o", pool, "--topics", topics, "--task", TASK)
    with JudgingFile(pool) as file:
        assert file.plan.runs == (f"{SHOWN}.a", f"{SHOWN}.b")
    printed(capsys, "fuse", run, other, "-o", folder / f"{folder.name}.fused")


def test_errors_name_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "tea", "--index", str(folder / folder.name)]) == 1
    assert f"{SHOWN}/{SHOWN}: there is no such folder" in capsys.readouterr().err


def test_json_of_the_pages() -> None:
    rendering = pytest.importorskip("sicetnon.web.rendering")
    encoded = rendering._encoded({os.fsdecode(b"caf\xe9"): [os.fsdecode(b"caf\xe9")]})
    assert msgspec.json.decode(encoded) == {SHOWN: [SHOWN]}
