"""Passages for comparative questions: the sample, both editions, stances, repeats, speed."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.evaluation import evaluate
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.runs import read_run
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.ranking.stages import RepeatsLast
from sicetnon.ranking.stances import NoStances, RuleStances
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever, ObjectsRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.tasks.registry import search_system
from sicetnon.tasks.running import RunOptions, run_task
from sicetnon.tasks.touche_2022_task_2 import TASK
from sicetnon.text.analysis import named_analysis
from sicetnon.validation import validate

SAMPLE = ROOT / "examples" / TASK.id


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> IndexReader:
    folder = tmp_path_factory.mktemp("passages") / "index"
    build_index(
        open_corpus([SAMPLE / "input"]), folder, BuildOptions(named_analysis(TASK.analysis))
    )
    return IndexReader.open(folder)


@pytest.mark.parametrize("system", sorted(TASK.systems))
def test_every_system_runs_and_its_run_is_valid(system: str, tmp_path: Path) -> None:
    run_task(TASK.id, SAMPLE / "input", tmp_path / "out", RunOptions(system))
    run = (tmp_path / "out" / "run.txt").read_text().splitlines(keepends=True)
    topics = read_topics(SAMPLE / "input" / "topics.xml")
    assert not validate(run, TASK.id, topics, name="run").findings
    stances = {line.stance for line in read_run(tmp_path / "out" / "run.txt")}
    assert stances == ({"NO"} if system == "bm25" else {"FIRST", "SECOND", "NEUTRAL", "NO"})


def test_default_finds_what_the_sample_holds(tmp_path: Path) -> None:
    run_task(TASK.id, SAMPLE / "input", tmp_path / "out", RunOptions())
    files = [SAMPLE / "relevance.qrels", SAMPLE / "stance.qrels"]
    relevance, stance = evaluate(tmp_path / "out" / "run.txt", files)
    assert relevance.mean > 0.9
    assert stance.mean > 0.7


def test_objects_come_from_the_topic_else_from_its_title() -> None:
    title = "Which is better, a kayak or a canoe?"
    assert objects_of(Topic("1", title, ("boat", "ship"))) == ("boat", "ship")
    assert objects_of(Topic("1", title)) == ("kayak", "canoe")
    assert objects_of(Topic("1", "Should zoos be closed?")) is None
    assert objects_of(Topic("1", "Should zoos be closed?", ("zoo",))) is None


def test_systems_answer_questions_without_objects(index: IndexReader) -> None:
    for name in TASK.systems:
        ranking = TASK.system(name, index).retrieve([Topic("1", "Are canoes safe?")], 10)[0]
        assert len(ranking) > 0
        assert ranking.stances == ("NO",) * len(ranking)
        assert len(TASK.system(name, index).retrieve([Topic("1", "?")], 10)[0]) == 0


def test_an_index_of_passages_is_searched_by_this_task(index: IndexReader) -> None:
    ranking = search_system("default", index).retrieve([Topic("1", "kayak or canoe?")], 5)[0]
    assert len(ranking) == 5
    assert set(ranking.stances or ()) >= {"FIRST", "SECOND"}


def test_names_of_objects_weigh_more(index: IndexReader) -> None:
    local = LocalRetriever(index, [FieldScore(BM25())])
    topic = Topic("1", "Is a wooden fence better than a hedge?")
    query = ObjectsRetriever(local, objects_of, 1.0).query(topic)
    assert query == {"wooden": 1.5, "fenc": 1.5, "better": 1.0, "hedg": 2.0}
    assert ObjectsRetriever(local, lambda _: None).query(topic) == local.terms(topic.title)


@given(st.permutations(range(60)))
def test_stances_never_reorder(index: IndexReader, order: list[int]) -> None:
    ids = tuple(index.identifiers(order))
    topic = Topic("1", "", ("kayak", "canoe"))
    ranking = Ranking(topic, ids, -np.arange(60, dtype=np.float64))
    for stage in (RuleStances(ComparativeEvidence(index)), NoStances()):
        after = stage.apply(ranking.topic, ranking)
        assert after.ids == ids
        assert len(after.stances or ()) == 60


def test_a_stance_does_not_hang_on_what_was_read_before(index: IndexReader) -> None:
    topic, other = Topic("1", "kayak or canoe?"), Topic("2", "oboe or flute?")
    ids, scores = tuple(index.identifiers(range(60))), -np.arange(60, dtype=np.float64)
    ranking = Ranking(topic, ids, scores)
    fresh = ComparativeEvidence(index).evidence(topic, ranking)
    used = ComparativeEvidence(index)
    used.evidence(other, Ranking(other, ids[::-1], scores))
    assert used.evidence(topic, ranking) == fresh


TEXT = "the kayak is faster than the canoe and holds its line in wind and in waves"
PASSAGES = {
    "page-a___1": TEXT,
    "page-a___2": TEXT + " too",
    "page-b___1": TEXT,
    "page-a___3": "the canoe carries a picnic and three children",
    "page-a___4": TEXT.replace("kayak", "boat"),
    "page-a___5": "",
}


@pytest.fixture
def repeated(tmp_path: Path) -> IndexReader:
    lines = [json.dumps({"id": name, "contents": text}) for name, text in PASSAGES.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(lines))
    build_index(
        open_corpus([tmp_path]), tmp_path / "i", BuildOptions(named_analysis(TASK.analysis))
    )
    return IndexReader.open(tmp_path / "i")


def test_repeats_of_a_page_go_last(repeated: IndexReader) -> None:
    ids = tuple(PASSAGES)
    ranking = Ranking(Topic("1", "kayak"), ids, -np.arange(6.0))
    after = RepeatsLast(repeated, share=0.9).apply(ranking.topic, ranking)
    assert after.ids == tuple(ids[place] for place in (0, 2, 3, 4, 5, 1))
    assert after.scores.tolist() == ranking.scores.tolist()
    after = RepeatsLast(repeated, share=0.8).apply(ranking.topic, ranking)
    assert after.ids == tuple(ids[place] for place in (0, 2, 3, 5, 1, 4))
    few = RepeatsLast(repeated, depth=2).apply(ranking.topic, ranking)
    assert few.ids == ids


@given(st.permutations(list(PASSAGES)), st.integers(0, 8))
def test_no_passage_is_lost(order: list[str], depth: int) -> None:
    index = _Texts()
    ranking = Ranking(Topic("1", "kayak"), tuple(order), -np.arange(6.0))
    after = RepeatsLast(index, depth).apply(ranking.topic, ranking)  # type: ignore[arg-type]
    assert sorted(after.ids) == sorted(PASSAGES)
    assert after.ids[depth:] == ranking.ids[depth:]
    again = RepeatsLast(index, depth).apply(ranking.topic, after)  # type: ignore[arg-type]
    assert sorted(again.ids) == sorted(PASSAGES)


class _Texts:
    """As much of an index as the stage asks for."""

    def records(self, ids: Sequence[str]) -> list[_Text]:
        return [_Text(PASSAGES[identifier]) for identifier in ids]


class _Text:
    def __init__(self, text: str):
        self._text = text

    def default_text(self) -> str:
        return self._text


@pytest.mark.parametrize("edition", ["plain", "expanded"])
def test_both_editions_of_the_real_passages(edition: str, data: Path, tmp_path: Path) -> None:
    folder = data / TASK.id
    source = tmp_path / "input"
    source.mkdir()
    shutil.copy(folder / "input" / "topics.xml", source)
    expanded = folder / "passages-expanded-doc-t5-query.jsonl.gz"
    plain = folder / "input" / "passages.jsonl.gz"
    # one in eight: benchmarks/speed/tasks.py shows the time that all of them take
    with gzip.open(expanded if edition == "expanded" else plain, "rt", encoding="utf-8") as file:
        some = list(file)[::8]
    (source / "passages.jsonl").write_text("".join(some), encoding="utf-8")
    rankings = run_task(TASK.id, source, tmp_path / "out", RunOptions())
    assert len(rankings) == 50
    run = (tmp_path / "out" / "run.txt").read_text().splitlines(keepends=True)
    topics = read_topics(source / "topics.xml")
    assert not validate(run, TASK.id, topics, name="run").findings
    known = {json.loads(line)["id"] for line in some}
    assert {line.document for line in read_run(tmp_path / "out" / "run.txt")} <= known
