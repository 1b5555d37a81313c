"""Stages, the systems that are made of them, and the tasks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.app.index import Index
from sicetnon.arguments.models.index_annotators import annotators
from sicetnon.arguments.text_quality import housekeeping, shouting
from sicetnon.errors import UsageError
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.writing import BuildOptions, annotate_index, build_index
from sicetnon.ranking.stages import Penalties
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.feedback import RM3
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.tasks import general
from sicetnon.tasks.registry import TASKS, analysis_for, find_task, search_system
from sicetnon.tasks.running import RunOptions, run_task
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis
from support.small_indexes import opened
from support.stand_ins import StandIn

TOPIC = Topic("1", "ban")
TEXTS = [
    "Guns should be banned.",
    "I accept. Thank you, and good luck!",
    "GUNS GUNS GUNS GUNS",
    "",
    "My opponent forfeits. GUNS GUNS",
    "A ban saves lives.",
]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with opened([{"text": text} for text in TEXTS * 3], "plain", [6, 12]) as opened_index:
        yield opened_index


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Arguments whose conclusions shout and whose premises do not, and one the other way."""
    folder = tmp_path_factory.mktemp("arguments")
    (folder / "args-me.json").write_text(
        '{"arguments": ['
        '{"id": "calm", "conclusion": "BAN GUNS NOW", "premises": [{"text": "a ban saves lives",'
        ' "stance": "PRO"}], "context": {}},'
        '{"id": "loud", "conclusion": "we should ban guns", "premises": [{"text": "BAN GUNS NOW",'
        ' "stance": "PRO"}], "context": {}}]}',
        encoding="utf-8",
    )
    options = BuildOptions(named_analysis(TASK.analysis))
    build_index(open_corpus([folder / "args-me.json"]), folder / "index", options)
    with Index.open(folder / "index") as opened_index:
        yield opened_index


def falling(scores: list[float]) -> np.ndarray:
    return np.array(sorted(scores, reverse=True), dtype=np.float64)


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    numbers = st.integers(0, len(TEXTS) * 3 - 1)
    ids = tuple(map(str, draw(st.lists(numbers, unique=True))))
    size = len(ids)
    score = st.one_of(st.sampled_from([0.0, 1.0, 1.5]), st.floats(-10, 10))
    scores = falling(draw(st.lists(score, min_size=size, max_size=size)))
    stances = tuple(f"stance of {name}" for name in ids)
    kept = draw(st.sampled_from([None, stances]))
    return Ranking(TOPIC, ids, scores, kept)


# -- penalties


@settings(max_examples=100, derandomize=True)
@given(rankings(), st.integers(0, 20), st.floats(0, 3), st.floats(-1, 3))
def test_penalties_lose_and_double_nothing(
    index: Index, ranking: Ranking, depth: int, first: float, second: float
) -> None:
    faults = {housekeeping: first, shouting: second}
    before = (ranking.ids, ranking.scores.tolist())
    after = Penalties(index, faults, depth).apply(TOPIC, ranking)
    assert (ranking.ids, ranking.scores.tolist()) == before  # untouched
    assert sorted(after.ids) == sorted(ranking.ids)
    assert (np.diff(after.scores) <= 0).all()
    expected = {}
    for place, (name, score) in enumerate(ranking):
        text = TEXTS[int(name) % len(TEXTS)]
        cost = first * housekeeping(text) + second * shouting(text)
        expected[name] = score - cost if place < depth else score
    assert dict(after) == pytest.approx(expected)
    places = {name: place for place, name in enumerate(ranking.ids)}
    order = [(-score, places[name]) for name, score in after]
    assert order == sorted(order)  # equal scores keep their order
    if ranking.stances is None:
        assert after.stances is None
    else:
        assert after.stances == tuple(f"stance of {name}" for name in after.ids)
    assert after.topic == ranking.topic


def test_a_penalty_costs_what_it_says_and_lets_others_rise(index: Index) -> None:
    ranking = Ranking(TOPIC, ("1", "2", "0"), np.array([3.0, 2.5, 2.0]))
    faults: dict[Callable[[str], float], float] = {len: 0.1}
    after = Penalties(index, faults, depth=2).apply(TOPIC, ranking)
    assert after.ids == ("0", "2", "1")
    assert after.scores.tolist() == pytest.approx([2.0, 2.5 - 1.9, 3.0 - 3.5])


def test_of_an_argument_the_premise_is_judged(arguments: Index) -> None:
    ranking = Ranking(TOPIC, ("calm", "loud"), np.array([1.0, 1.0]))
    after = Penalties(arguments, {shouting: 2.0}).apply(TOPIC, ranking)
    assert dict(after) == {"calm": 1.0, "loud": pytest.approx(-1.0)}


# -- systems and tasks


class Reversed:
    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        return Ranking(topic, ranking.ids[::-1], -ranking.scores[::-1])


class Halved:
    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        half = len(ranking) // 2
        return Ranking(topic, ranking.ids[:half], ranking.scores[:half])


def test_places_may_be_a_list() -> None:
    ranking = Ranking(TOPIC, ("a", "b", "c"), np.array([3.0, 2.0, 1.0]))
    for places in ([2, 0], range(2, -1, -2), np.array([2, 0])):
        assert ranking.taken(places, np.array([2.0, 1.0])).ids == ("c", "a")
    assert ranking.taken([], np.empty(0)).ids == ()


def test_a_system_applies_its_stages_in_their_order(index: Index) -> None:
    retriever = LocalRetriever(index, [FieldScore(BM25())])
    topics = [Topic("1", "guns"), Topic("2", "ban lives"), Topic("3", "nothing")]
    plain = System(retriever).retrieve(topics, 6)
    staged = System(retriever, [Reversed(), Halved()]).retrieve(topics, 6)
    for ours, theirs in zip(staged, plain, strict=True):
        assert ours.topic == theirs.topic
        assert ours.ids == theirs.ids[::-1][: len(theirs) // 2]


def test_every_system_of_the_task_ranks(
    arguments: Index, tmp_path: Path, stand_in: StandIn
) -> None:
    shutil.copytree(arguments.folder, tmp_path / "annotated")
    annotate_index(tmp_path / "annotated", annotators(["embedding"]))
    with Index.open(tmp_path / "annotated") as annotated:
        for name in TASK.systems:
            system = TASK.system(name, annotated)
            found = system.retrieve([Topic("1", "Should guns be banned?")], 10)
            assert sorted(found[0].ids) == ["calm", "loud"], name
    best = TASK.system("default", arguments).retrieve([Topic("1", "guns ban")], 10)[0]
    assert best.ids[0] == "calm"


def test_an_unknown_system_lists_the_choices(index: Index, arguments: Index) -> None:
    choices = "default, answers, dirichlet, bm25, dph, dirichlet-rm3"
    with pytest.raises(UsageError, match=f"touche-2020-task-1 has no system 'bm52'.*{choices}"):
        TASK.system("bm52", arguments)
    with pytest.raises(UsageError, match=f"'bm52'; choose one of {choices}"):
        search_system("bm52", arguments)
    with pytest.raises(
        UsageError, match=f"'bm52'; choose one of {', '.join(general.TASK.systems)}"
    ):
        index.search("guns", system="bm52")


def test_an_unknown_system_or_task_ends_a_run_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no system 'x'; choose one of default, "):
        run_task(TASK.id, tmp_path, tmp_path / "out", RunOptions(system="x"))
    with pytest.raises(UsageError, match=rf"unknown task 'x'; choose one of {', '.join(TASKS)}"):
        run_task("x", tmp_path, tmp_path / "out", RunOptions())
    assert not (tmp_path / "out").exists()


def test_tasks_are_found_by_their_ids() -> None:
    assert [find_task(identifier).id for identifier in TASKS] == list(TASKS)
    for kind in RECORD_TYPES:
        tasks = (task for task in map(find_task, TASKS) if task.records == kind)
        assert analysis_for(kind) == next(tasks, general.TASK).analysis


def test_an_index_of_no_task_is_searched_by_the_general_systems(index: Index) -> None:
    for name in general.TASK.systems:
        found = index.search("ban", k=2, system=name)
        assert [answer.rank for answer in found] == [1, 2]


def test_a_system_is_named_by_its_parts(index: Index) -> None:
    plain = LocalRetriever(index, [FieldScore(BM25(k1=0.9, b=0.4))])
    assert System(plain).name == "BM25(k1=0.9,b=0.4)"
    widened = LocalRetriever(index, [FieldScore(BM25())], RM3())
    assert System(widened, [Reversed(), Halved()]).name == "BM25+RM3>>Reversed>>Halved"
    assert System(plain, name="mine").name == "mine"
