"""Every command that takes topics takes queries.jsonl of TIREx."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sicetnon
from sicetnon.cli import main
from sicetnon.formats.runs import read_run
from sicetnon.judging import JudgingFile

TASK = "touche-2020-task-1"


@pytest.fixture
def queries(sample: Path, tmp_path: Path) -> Path:
    """An input directory with queries.jsonl in the place of topics.xml."""
    shutil.copytree(sample / "input", tmp_path / "input")
    topics = tmp_path / "input" / "topics.xml"
    lines = [
        {
            "qid": each.number,
            "query": each.title,
            "original_query": {"description": each.description, "narrative": each.narrative},
        }
        for each in sicetnon.read_topics(topics)
    ]
    topics.unlink()
    path = tmp_path / "input" / "queries.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_commands_take_them(
    queries: Path, sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", TASK, "-i", str(queries.parent), "-o", str(out)]) == 0
    run, qrels = str(out / "run.txt"), str(sample / "relevance.qrels")
    expected = sicetnon.read_topics(sample / "input" / "topics.xml")
    assert {line.topic for line in read_run(run)} <= {each.number for each in expected}
    assert sicetnon.load_topics(queries) == expected
    options = ["--topics", str(queries)]
    assert main(["validate", run, "--task", TASK, *options]) == 0
    assert main(["judge", "pool", run, "-o", str(tmp_path / "pool"), *options]) == 0
    with JudgingFile(tmp_path / "pool") as file:
        assert {each.title for each in file.topics.values()} == {each.title for each in expected}
    report = ["--report", str(tmp_path / "page")]
    assert main(["evaluate", run, "--qrels", qrels, *options, *report]) == 0
    page = next((tmp_path / "page").glob("*.html")).read_text()
    assert expected[0].title in page
    index = ["--index", str(tmp_path / "out.index"), "-o", str(tmp_path / "models")]
    assert main(["train", "ranker", qrels, *options, *index]) == 0
    capsys.readouterr()
