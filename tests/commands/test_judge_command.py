"""The command `judge` and its verbs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.judging import Action, JudgingFile
from support.judging_cases import key, vote


@pytest.fixture
def made(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pool of two runs, and judgments of half of it."""
    monkeypatch.chdir(tmp_path)
    ids = [line.split()[2] for line in (sample / "relevance.qrels").read_text().splitlines()]
    for name, part in (("a", ids[:4]), ("b", ids[2:6])):
        lines = [f"1 Q0 {each} {n} {9 - n} {name}\n" for n, each in enumerate(part, start=1)]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    (tmp_path / "known-relevance.qrels").write_text("".join(f"1 0 {each} 1\n" for each in ids[:3]))
    topics = str(sample / "input" / "topics.xml")
    command = ["judge", "pool", "a.txt", "b.txt", "-o", "pool.sqlite", "--topics", topics]
    assert main([*command, "--dimensions", "relevance,side", "--votes", "2", "--depth", "3"]) == 0
    return tmp_path


def test_from_runs_to_judgments(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("anna", "bert"):
        command = ["judge", "import", "pool.sqlite", "known-relevance.qrels", "--assessor", name]
        assert main(command) == 0
    assert "3 votes on relevance by bert" in capsys.readouterr().err
    with JudgingFile("pool.sqlite") as file:
        items = file.assigned("cleo", 9)
        assert len(items) == 2
        side = [vote(item.id, "FOR", "side") for item in items]
        file.record(
            "cleo", [*side, vote(items[0].id, "2"), Action(key(), "note", items[0].id, note="x")]
        )
    assert main(["judge", "status", "pool.sqlite"]) == 0
    shown = capsys.readouterr().out
    assert "0 of 5 documents" in shown
    assert "cleo" in shown
    assert main(["judge", "status", "pool.sqlite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["votes_wanted"] == 10
    assert main(["judge", "agreement", "pool.sqlite"]) == 0
    assert "Cohen's κ" in capsys.readouterr().out
    assert main(["judge", "agreement", "pool.sqlite", "--json"]) == 0
    relevance, _ = json.loads(capsys.readouterr().out)
    # all labels are equal: neither is defined
    assert relevance["alpha"] is None
    assert relevance["pairs"][0]["kappa"] is None
    assert main(["judge", "export", "pool.sqlite", "-o", "judged"]) == 0
    assert sorted(path.name for path in (made / "judged").iterdir()) == [
        "judgments-relevance.qrels",
        "judgments-side.qrels",
        "votes.jsonl",
    ]
    capsys.readouterr()
    assert main(["evaluate", "a.txt", "--qrels", "judged/judgments-relevance.qrels", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["topics"] == 1
    command = ["judge", "undo", "pool.sqlite", "--assessor", "bert", "--since", "2020-01-01"]
    assert main(command) == 0
    assert "3 votes and skips undone" in capsys.readouterr().err


def test_disagreements(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with JudgingFile("pool.sqlite") as file:
        file.record("anna", [vote(1, "0"), Action(key(), "note", 1, note="\x1b[31mno")])
        file.record("bert", [vote(1, "2")])
    assert main(["judge", "disagreements", "pool.sqlite"]) == 0
    shown = capsys.readouterr().out
    assert "anna 0, bert 2" in shown
    assert "\x1b" not in shown
    assert main(["judge", "disagreements", "pool.sqlite", "--dimension", "side"]) == 0
    assert "No two assessors differ" in (shown := capsys.readouterr().out)
    assert "no document has votes of two assessors" in " ".join(shown.split())
    assert main(["judge", "disagreements", "pool.sqlite", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["votes"] == {"anna": "0", "bert": "2"}


def test_wrong_usage_is_one_line(made: Path, failing) -> None:
    topics = ("--topics", "none.xml")
    assert failing("judge", "pool", "a.txt", "-o", "pool.sqlite", *topics)[0] == 1
    assert "none.xml" in failing("judge", "pool", "a.txt", "-o", "new.sqlite", *topics)[1]
    assert failing("judge", "status", "none.sqlite") == (
        1,
        "sicetnon: none.sqlite: found no judging file; make one with: sicetnon judge pool",
    )
    assert failing("judge", "export", "pool.sqlite", "-o", "out")[0] == 2
    assert failing("judge", "undo", "pool.sqlite", "--assessor", "nobody")[0] == 2
    when = ("--assessor", "anna", "--since", "yesterday")
    assert "expected a time" in failing("judge", "undo", "pool.sqlite", *when)[1]
    assert failing("judge", "import", "pool.sqlite", "a.txt", "--assessor", "x")[0] == 1
    assert not (made / "out").exists()
