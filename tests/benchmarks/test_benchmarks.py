"""The imitated service, the inputs and the checks of the benchmarks of the tasks."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from sicetnon.records import Topic
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import Patience

SYSTEMS = ["rules", "model", "model in runs", "model less rules", "model in runs less rules"]


def benchmark(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


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
    complaints = benchmark("speed.tasks").tira_complaints
    (tmp_path / "run.txt").write_text("".join(f"{line}\n" for line in lines))
    found = complaints(tmp_path)
    assert not found if said is None else said in found[0]
    (tmp_path / "run.txt.gz").touch()
    assert "found 2 runs" in complaints(tmp_path)[0]


def test_a_command_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = benchmark("speed.harness").measure_process
    figures = measure([sys.executable, "-c", "b = b'x' * 50_000_000"], {})
    assert figures.processor > 0
    assert figures.seconds > 0
    assert figures.peak_mb > 50
    with pytest.raises(RuntimeError, match="no such thing"):
        measure([sys.executable, "-c", "raise SystemExit('no such thing')"], {})


def test_a_peer_that_cannot_run_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark("speed.lucene"), "HOME", tmp_path)
    assert benchmark("speed.harness").available(["sicetnon", "lucene"]) == ["sicetnon"]
    assert f"lucene is left out: no Lucene in {tmp_path}" in capsys.readouterr().err


def test_the_inputs_of_2021_are_put_together(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = benchmark("speed.tasks")
    monkeypatch.setattr(tasks, "DATA", data)
    found = tasks.sources(tmp_path)
    assert set(found) == set(tasks.TASKS)
    names = {file.name for file in found["touche-2021-task-1"].iterdir()}
    assert {"topics.xml", "debateorg.json"} <= names
    assert "<number>51</number>" in (found["touche-2021-task-2"] / "topics.xml").read_text()


def test_the_imitation_answers_from_what_was_recorded(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("recorded", "speed.imitation"):
        monkeypatch.setattr(benchmark(name), "DATA", data)
    topic = Topic("1", "What is the difference between sex and love?")
    with benchmark("speed.imitation").RecordedService() as service:
        patience = Patience(per_second=1000.0)
        retriever = ChatNoirRetriever(tmp_path / "kept", "key", service.url, patience=patience)
        ranking = retriever.retrieve([topic], 250)[0]
        assert len(set(ranking.ids)) == 250
        page = retriever.records(ranking.best(1))[0]
        assert page.page_rank is not None
        assert len(page.text.split()) > 100
        retriever.close()


def test_stance_is_measured_by_folds(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stance = benchmark("effectiveness.stance")
    monkeypatch.setenv("SICETNON_DATA", str(tmp_path))
    assert stance.main([]) == 1
    assert "set SICETNON_DATA" in capsys.readouterr().err
    monkeypatch.setenv("SICETNON_DATA", str(data))
    assert stance.main(["--texts", "40", "--models", str(tmp_path / "model-{fold}")]) == 0
    shown = capsys.readouterr()
    assert "model-0 is not there" in shown.err
    assert len(shown.out.splitlines()) == 5
    read: dict[int, set[str]] = {}

    class Model:
        def __init__(self, folder: Path, threads: int):
            self.fold = int(folder.name[-1])

        def classify(self, texts: list[str], first: str, second: str) -> list[str]:
            return ["SECOND"] * len(texts)

        def probabilities(
            self, texts: list[str], firsts: list[str], seconds: list[str]
        ) -> NDArray[np.float64]:
            read.setdefault(self.fold, set()).update(texts)
            return np.tile([0.1, 0.3, 0.4, 0.2], (len(texts), 1))

    monkeypatch.setattr(stance, "Comparison", Model)
    for fold in range(5):
        (tmp_path / f"model-{fold}").mkdir()
    assert stance.main(["--texts", "40", "--models", str(tmp_path / "model-{fold}")]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[1] for row in rows[2:]] == SYSTEMS * len(stance.SETS)
    for each in [each for chosen in stance.SETS for each in stance.texts_of(chosen, 40)]:
        readers = [fold for fold, texts in read.items() if each.text in texts]
        assert readers == [stance.fold_of(each.group, 5)]
