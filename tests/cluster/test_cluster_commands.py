"""The commands with the address of a cluster in place of a folder: each does there what it says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sicetnon.app.index import Index
from sicetnon.cli import main
from sicetnon.cluster.bulk import BulkLoader
from support.patience import HANGS
from support.served import Client

Capture = pytest.CaptureFixture[str]
Fresh = Callable[[], str]
QUESTION = "Should teachers get tenure?"


def written(path: Path, *rows: dict[str, str]) -> Path:
    """A file with some documents."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def facts(shown: str) -> dict[str, str]:
    """Names and values of a description."""
    return dict(re.split(r"\s{2,}", line, maxsplit=1) for line in shown.splitlines())


def answered(place: str | Path, capsys: Capture) -> list[Any]:
    """The answers to a question, as the command line gives them."""
    words = ["search", QUESTION, "--index", str(place), "-k", "5", "--json", "--no-sides"]
    assert main(words) == 0
    found: list[Any] = json.loads(capsys.readouterr().out)["answers"]
    return found


def test_an_index_is_built_changed_described_and_verified(
    new_address: Fresh, sample: Path, tmp_path: Path, capsys: Capture
) -> None:
    address, folder, source = new_address(), tmp_path / "index", str(sample / "input")
    assert main(["index", "build", source, "-o", str(folder)]) == 0
    capsys.readouterr()
    more = ["--shards", "4", "--replicas", "1", "--workers", "3", "--merge"]
    assert main(["index", "build", source, "-o", address, *more]) == 0
    shown = facts(capsys.readouterr().out)
    assert shown["shards"] == "4"
    assert shown["copies"] == "8 of 8 there"
    before = answered(address, capsys)
    assert before == answered(folder, capsys)
    gone = before[0]["id"]
    for place in (address, str(folder)):
        assert main(["index", "delete", gone, "no-such-id", "-o", place]) == 0
        assert capsys.readouterr().out == "deleted: 1; not in the index: 1\n"
    changed = answered(address, capsys)
    assert changed == answered(folder, capsys)
    assert gone not in [answer["id"] for answer in changed]
    assert main(["index", "verify", address]) == 0
    assert "all documents are as they were written" in capsys.readouterr().out
    assert main(["index", "info", address]) == 0
    assert facts(capsys.readouterr().out)["documents"] == shown["documents"].replace("325", "324")


def test_a_run_is_that_of_a_folder(new_address: Fresh, sample: Path, tmp_path: Path) -> None:
    address, source = new_address(), str(sample / "input")
    assert main(["index", "build", source, "-o", address]) == 0
    run = ["run", "touche-2020-task-1", "-i", source]
    assert main([*run, "-o", str(tmp_path / "folder")]) == 0
    assert main([*run, "-o", str(tmp_path / "cluster"), "--index", address]) == 0
    first, second = (tmp_path / name / "run.txt" for name in ("folder", "cluster"))
    assert first.read_bytes() == second.read_bytes()


def test_every_document_that_is_refused_is_named(
    new_address: Fresh, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": "x" * length, "text": "school uniforms"} for length in range(475, 488)]
    source = written(tmp_path / "rows.jsonl", *rows)
    bulk = BulkLoader._bulk

    def refusing(self: BulkLoader, data: bytes) -> Any:
        answers = list(bulk(self, data))
        answers[0] = {"index": {"status": 400, "error": {"reason": "failed to parse"}}}
        return answers

    monkeypatch.setattr(BulkLoader, "_bulk", refusing)
    words = ["index", "build", str(source), "-o", new_address(), "--skip-invalid", "--workers", "1"]
    # what the cluster has, and was not told of, makes the counts differ
    assert main(words) == 1
    told = capsys.readouterr().err.splitlines()
    for length in range(481, 488):
        assert sum(f"has {length} bytes; a cluster takes at most 480" in line for line in told) == 1
    assert sum("was refused: failed to parse" in line for line in told) == 1
    assert "nothing was changed" in told[-1]


def test_odd_letters_words_and_ids_come_back_as_they_went(
    new_address: Fresh, tmp_path: Path
) -> None:
    texts = {
        "x" * 480: "an id of 480 bytes has tenure",
        "ü" * 240: "\u05e9\u05dc\u05d5\u05dd tenure \u202eabc",
        '_all"OR:id*': 'query syntax * ? ~ (AND) "tenure" id:*',
        "e\u0301": "cafe\u0301 tenure",
        "é": "caf\u00e9 tenure",
        "👩": "👩\u200d🚀 tenure \u2028 line \u3000 wide \u00a0 no break \u200b zero \ufeff mark",
        "long": "tenure " + "w" * 70_000,
        "nul": "a\u0000b tenure",
        "often": "tenure " * 70_000,
    }
    rows = [{"id": identifier, "text": text} for identifier, text in texts.items()]
    source, address = written(tmp_path / "rows.jsonl", *rows), new_address()
    questions = ["tenure", "café", "cafe\u0301", "wide line", '"id:*" (AND) ~ ?', "w" * 70_000]
    with Index.build(source, address) as cluster, Index.build(source) as folder:
        assert cluster.records(list(texts)) == folder.records(list(texts))
        for question in questions:
            for system in ("bm25", "dirichlet", "default"):
                first, second = (
                    [
                        (answer.id, answer.score)
                        for answer in index.search(question, system=system, sides=False)
                    ]
                    for index in (cluster, folder)
                )
                assert first == second, (question[:20], system)
        cluster.verify()


def test_a_server_answers_from_a_cluster(new_address: Fresh, sample: Path) -> None:
    address = new_address()
    assert main(["index", "build", str(sample / "input"), "-o", address]) == 0
    words = [sys.executable, "-m", "sicetnon", "serve", "--port", "0", "--index", address]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            served = re.match(r"(http://127\.0\.0\.1:\d+) answers", line)
            assert served, line
            client = Client(served[1])
            assert client.json("/api/v1/health")["documents"] == 325
            assert client.json("/api/v1/search", q=QUESTION)["answers"]
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(HANGS) == 0
        finally:
            process.kill()
