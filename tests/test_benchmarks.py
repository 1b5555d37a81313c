"""What the benchmarks of the tasks rest on: the imitated service, the inputs, the checks."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sicetnon.records import Topic
from sicetnon.retrieval.chatnoir import ChatNoirRetriever
from sicetnon.retrieval.pace import Patience

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module(name)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["1 Q0 a 1 2.0 tag", "1 Q0 b 2 1.0 tag"], None),
        (["1 Q0 a 1 2.0"], "expected six columns"),
        (["1 Q0 a first 2.0 tag"], "expected six columns"),
        (["1 Q0 a 1 2.0 tag", "1 Q0 a 2 1.0 tag"], "a twice for topic 1"),
        ([], "the run is empty"),
    ],
)
def test_what_tira_would_say(
    lines: list[str], said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints = benchmark("tasks", monkeypatch).tira_complaints
    (tmp_path / "run.txt").write_text("".join(f"{line}\n" for line in lines))
    found = complaints(tmp_path)
    assert not found if said is None else said in found[0]
    (tmp_path / "run.txt.gz").touch()
    assert "found 2 runs" in complaints(tmp_path)[0]


def test_a_command_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = benchmark("harness", monkeypatch).measure_process
    figures = measure([sys.executable, "-c", "b = b'x' * 50_000_000"], {})
    assert figures.processor > 0
    assert figures.seconds > 0
    assert figures.peak_mb > 50
    with pytest.raises(RuntimeError, match="no such thing"):
        measure([sys.executable, "-c", "raise SystemExit('no such thing')"], {})


def test_the_inputs_of_2021_are_put_together(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = benchmark("tasks", monkeypatch)
    monkeypatch.setattr(tasks, "DATA", data)
    found = tasks.sources(tmp_path)
    assert set(found) == set(tasks.TASKS)
    names = {file.name for file in found["touche-2021-task-1"].iterdir()}
    assert {"topics.xml", "debateorg.json"} <= names
    assert "<number>51</number>" in (found["touche-2021-task-2"] / "topics.xml").read_text()


def test_the_imitation_answers_from_what_was_recorded(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("recorded", "imitation"):
        monkeypatch.setattr(benchmark(name, monkeypatch), "DATA", data)
    topic = Topic("1", "What is the difference between sex and love?")
    with benchmark("imitation", monkeypatch).RecordedService() as service:
        patience = Patience(per_second=1000.0)
        retriever = ChatNoirRetriever(tmp_path / "kept", "key", service.url, patience=patience)
        ranking = retriever.retrieve([topic], 250)[0]
        assert len(set(ranking.names or ())) == 250
        page = retriever.records(ranking.documents[:1])[0]
        assert page.page_rank is not None
        assert len(page.text.split()) > 100
        retriever.close()
