"""`--stance`: which of two objects a passage favours, said by rules or by the model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from conftest import ROOT
from sicetnon.app.index import Index
from sicetnon.arguments.comparative.comparer import stances_by_model
from sicetnon.arguments.models import classifiers
from sicetnon.arguments.models.classifiers import COMPARISONS
from sicetnon.cli import main
from sicetnon.errors import UsageError
from sicetnon.formats.runs import read_run
from sicetnon.records import RunLine, Topic
from sicetnon.tasks.registry import TASKS, search_system
from sicetnon.tasks.running import RunOptions, run_task
from sicetnon.text.sentences import sentences
from sicetnon.validation import validate

TASK = "touche-2022-task-2"
INPUT = ROOT / "examples" / TASK / "input"
QUESTION = "Which is better, a kayak or a canoe?"


class Judge:
    """A stand-in for the model: its answer is decided by the length of a text.

    Attributes:
        calls: Texts with their objects, call by call.
        read: The same in one list, without the text that only tests whether the model works.
    """

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str, str]]] = []

    @property
    def read(self) -> list[tuple[str, str, str]]:
        return [each for call in self.calls for each in call if each != ("ready", "one", "other")]

    def identity(self) -> str:
        return "judge 1"

    def classify(self, texts: list[str], first: str, second: str) -> list[str]:
        self.calls.append([(text, first, second) for text in texts])
        return [side(text) for text in texts]

    def probabilities(self, texts: list[str], first: str, second: str) -> NDArray[np.float32]:
        rows = [COMPARISONS.index(each) for each in self.classify(texts, first, second)]
        return np.eye(len(COMPARISONS), dtype=np.float32)[rows]


def side(text: str) -> str:
    return COMPARISONS[len(text) % 4]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    made = Judge()
    monkeypatch.setattr(classifiers, "Comparison", lambda: made)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stances") / "index"
    assert main(["index", "build", str(INPUT), "-o", str(folder)]) == 0
    return folder


def lines(folder: Path) -> list[RunLine]:
    return list(read_run(folder / "run.txt"))


def test_the_model_says_stances_and_nothing_else(folder: Path, tmp_path: Path, judge) -> None:
    command = ["run", TASK, "-i", str(INPUT), "--index", str(folder)]
    assert main([*command, "-o", str(tmp_path / "rules")]) == 0
    assert not judge.calls
    learned = tmp_path / "learned"
    assert main([*command, "-o", str(learned), "--stance", "learned"]) == 0
    assert validate(learned / "run.txt", TASK, INPUT / "topics.xml").ok
    before, after = lines(tmp_path / "rules"), lines(learned)
    placed = [[(line.document, line.rank, line.score) for line in run] for run in (before, after)]
    assert placed[0] == placed[1]
    assert [line.stance for line in before] != [line.stance for line in after]
    assert {line.tag for line in after} == {"sicetnon-default-learned"}
    method = yaml.safe_load((learned / "ir-metadata.yml").read_text())["method"]
    assert (method["system"], method["stance"]) == ("default", "learned (judge 1)")


def test_each_text_handed_out_is_read_once_and_no_other(
    folder: Path, tmp_path: Path, judge: Judge
) -> None:
    options = RunOptions(index=folder, k=3, stance="learned")
    found = run_task(TASK, INPUT, tmp_path / "out", options)
    with Index.open(folder) as index:
        texts = {
            (text, *ranking.topic.objects)
            for ranking in found
            for record in index.records(ranking.ids)
            for text in (record.default_text(), *sentences(record.default_text()))
        }
    assert len(judge.read) == len(set(judge.read))
    assert set(judge.read) <= texts
    assert len(judge.read) > len(texts) / 2
    # the model is tried once, before any other work
    assert judge.calls.count([("ready", "one", "other")]) == 1
    assert judge.calls[0] == [("ready", "one", "other")]
    for ranking in found:
        assert set(ranking.stances or ()) <= set(COMPARISONS)


@pytest.mark.parametrize("system", ["default", "bm25", "dirichlet"])
def test_rules_say_the_same_where_they_are_asked_for(
    system: str, folder: Path, tmp_path: Path
) -> None:
    asked = run_task(TASK, INPUT, tmp_path, RunOptions(system, folder, stance="rules"))
    own = run_task(TASK, INPUT, tmp_path, RunOptions(system, folder))
    assert {line.tag for line in lines(tmp_path)} == {f"sicetnon-{system}"}
    metadata = yaml.safe_load((tmp_path / "ir-metadata.yml").read_text())
    assert metadata["method"]["stance"] == ("NO throughout" if system == "bm25" else "rules")
    same = [one.stances == other.stances for one, other in zip(asked, own, strict=True)]
    assert all(same) == (system != "bm25")


def test_passages_that_name_neither_object_are_not_read(tmp_path: Path, judge: Judge) -> None:
    passages = {
        "p1___1": "Which boat is better depends on the water.",
        "p1___2": "One kayak is better.",
        "p2___1": "One kayak is better.",
        "p2___2": "Canoes are better!",
    }
    text = "\n".join(json.dumps({"id": i, "contents": t}) for i, t in passages.items())
    (tmp_path / "passages.jsonl").write_text(text)
    folder = tmp_path / "index"
    assert main(["index", "build", str(tmp_path / "passages.jsonl"), "-o", str(folder)]) == 0
    with Index.open(folder) as index:
        ranking = search_system("default", index, "learned").retrieve([Topic("1", QUESTION)], 10)[0]
    assert {name for name, _, _ in judge.read} == set(list(passages.values())[1:])
    assert len(judge.read) == 2
    said = dict(zip(ranking.ids, ranking.stances or (), strict=True))
    assert said["p1___1"] == "NO"
    assert said["p1___2"] == said["p2___1"] == side(passages["p1___2"])


KAYAK, CANOE, BOATS = "The kayak wins.", "The canoe wins.", "Rivers carry boats."


@pytest.mark.parametrize(
    ("text", "sides", "stance"),
    [
        (KAYAK, {KAYAK: "FIRST"}, "FIRST"),
        (KAYAK, {KAYAK: "NEUTRAL"}, "NO"),
        (f"{BOATS} {CANOE}", {CANOE: "SECOND"}, "SECOND"),
        # a sentence that names no object is not read
        (f"{BOATS} {CANOE}", {BOATS: "SECOND"}, "NO"),
        (f"{KAYAK} {CANOE}", {KAYAK: "FIRST", CANOE: "SECOND"}, "NEUTRAL"),
        (f"{KAYAK} {CANOE}", {KAYAK: "FIRST", CANOE: "NO"}, "FIRST"),
        (BOATS, {BOATS: "FIRST"}, "NO"),
        ("", {"": "FIRST"}, "NO"),
    ],
)
def test_sentences_that_name_an_object_decide(
    text: str, sides: dict[str, str], stance: str, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "classify", lambda texts, *_: [sides.get(t, "NO") for t in texts])
    assert stances_by_model([text, text], "kayak", "canoe", judge) == [stance] * 2  # type: ignore[arg-type]


def test_a_topic_without_two_objects_is_not_read(folder: Path, judge: Judge) -> None:
    with Index.open(folder) as index:
        system = search_system("default", index, "learned")
        ranking = system.retrieve([Topic("1", "Are canoes safe?"), Topic("2", "?")], 10)[0]
    assert ranking.stances == ("NO",) * len(ranking)
    assert not judge.read


def test_it_is_told_how_far_reading_is(folder: Path, judge: Judge) -> None:
    told: list[tuple[int, int]] = []
    topics = [Topic("1", QUESTION), Topic("2", "Is a flute better than an oboe?")]
    with Index.open(folder) as index:
        system = search_system("default", index, "learned")
        system = replace(system, progress=lambda done, total: told.append((done, total)))
        found = system.retrieve(topics, 5)
    assert told == [(len(found[0]), 10), (10, 10)]


def test_search_takes_it_too(
    folder: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    command = ["search", QUESTION, "--index", str(folder), "-k", "4", "--json"]
    assert main([*command, "--stance", "learned"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    for answer in answers:
        assert [answer["stance"]] == stances_by_model(
            [answer["contents"]],
            "kayak",
            "canoe",
            Judge(),  # type: ignore[arg-type]
        )
        assert answer["favours"] == {"FIRST": "kayak", "SECOND": "canoe"}.get(answer["stance"])
    read = len(judge.read)
    assert read >= 4
    assert main(command) == 0
    assert len(judge.read) == read


@pytest.mark.parametrize("task", sorted(set(TASKS) - {TASK, "touche-2022-task-1"}))
def test_other_tasks_refuse_it(
    task: str, tmp_path: Path, sample: Path, failing: Callable[..., tuple[int, str]]
) -> None:
    out = tmp_path / "out"
    status, line = failing("run", task, "-i", sample / "input", "-o", out, "--stance", "learned")
    assert status == 2
    assert (
        line
        == f"sicetnon: {task} asks for no stance towards two objects; choose no stance classifier"
    )
    assert not list(tmp_path.iterdir())


def test_what_holds_no_passages_refuses_it(
    index: Path, failing: Callable[..., tuple[int, str]]
) -> None:
    status, line = failing("search", "tea", "--index", index, "--stance", "rules")
    assert (status, "arguments have no stance" in line) == (2, True), line
    status, line = failing("search", "tea", "--source", "argsme", "--stance", "rules")
    assert (status, "--stance" in line) == (2, True), line


def test_a_name_that_nobody_has(folder: Path) -> None:
    with Index.open(folder) as index, pytest.raises(UsageError, match="one of rules, learned"):
        index.search(QUESTION, stance="magic")


def test_no_run_by_rules_loads_the_model(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from sicetnon.cli import main; main(sys.argv[1:]);"
        "print('onnxruntime' in sys.modules)"
    )
    command = ["run", TASK, "-i", str(INPUT), "-o", str(tmp_path), "--index", str(folder)]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


def test_the_model_itself_swaps_its_answers_with_the_objects(folder: Path, tmp_path: Path) -> None:
    command = ["run", TASK, "--index", str(folder), "-k", "3", "--stance", "learned"]
    assert main([*command, "-i", str(INPUT), "-o", str(tmp_path / "as-given")]) == 0
    shutil.copytree(INPUT, tmp_path / "input")
    topics = tmp_path / "input" / "topics.xml"
    text = topics.read_text()
    assert "<objects>" in text
    topics.write_text(_swapped(text))
    assert main([*command, "-i", str(tmp_path / "input"), "-o", str(tmp_path / "swapped")]) == 0
    given, other = (
        {(line.topic, line.document): line.stance for line in lines(tmp_path / name)}
        for name in ("as-given", "swapped")
    )
    turned = {"FIRST": "SECOND", "SECOND": "FIRST"}
    assert other == {key: turned.get(stance, stance) for key, stance in given.items()}
    assert {"FIRST", "SECOND"} <= set(given.values())


def _swapped(topics: str) -> str:
    """A topics file with the two objects of each topic in the other order."""
    parts = topics.split("<objects>")
    for place, part in enumerate(parts[1:], start=1):
        objects, rest = part.split("</objects>", 1)
        first, second = objects.split(",")
        parts[place] = f"{second.strip()}, {first.strip()}</objects>{rest}"
    return "<objects>".join(parts)
