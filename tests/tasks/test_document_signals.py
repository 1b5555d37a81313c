"""The signals of task 2 on web documents: each alone, and those of the default."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sicetnon.errors import UsageError
from sicetnon.evaluation import evaluate, load_qrels
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.formats.corpora import KINDS, Corpus
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic, WebPage
from sicetnon.services.page_sources import PageSource, from_index
from sicetnon.tasks.touche_2020_task_2 import MEASURES, TASK, weighed
from sicetnon.text.analysis import named_analysis

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ARGUING = (
    "I think a laptop is better than a desktop because you can carry it; however, a desktop is "
    "cheaper. Both have pros and cons. "
)
_DULL = "The laptop and the desktop stand in a room with another desktop. "
# as many words, so that both fit the question equally well
DULL = _DULL + "grey " * (len(ARGUING.split()) - len(_DULL.split()))


def indexed(pages: list[WebPage], folder: Path) -> Path:
    corpus = Corpus(*KINDS[WebPage], (folder,), lambda *_: iter(pages))
    build_index(corpus, folder, BuildOptions(named_analysis("porter")))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kinds = ((DULL, "http://shop.example.com/buy", 50.0), (ARGUING, "https://a.example.org/", 99.0))
    pages = [
        WebPage(f"p{n}", "Laptop or desktop", text * 3, url, "", 1e-9 * n, spam)
        for n, (text, url, spam) in enumerate(kinds * 6)
    ]
    return indexed(pages, tmp_path_factory.mktemp("signals") / "index")


def first_pages(folder: Path, weights: dict[str, float] | None = None) -> list[int]:
    """The best six of twelve pages that fit the question: odd numbers argue and have spam rank 99,
    and every number is a PageRank."""
    topic = Topic("1", "laptop desktop")
    with IndexReader.open(folder) as index:
        pages = from_index(index)
        system = TASK.system("default", pages) if weights is None else weighed(pages, weights)
        ranking = system.retrieve([topic], 12)[0]
    return [int(name.removeprefix("p")) for name in ranking.ids[:6]]


def test_pages_that_compare_come_first(folder: Path) -> None:
    assert all(number % 2 for number in first_pages(folder))


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_signal_can_be_switched_on_alone(name: str, folder: Path) -> None:
    assert len(first_pages(folder, {name: 0.3})) == 6
    assert first_pages(folder, {name: 0.0}) == first_pages(folder, {})


def test_a_signal_that_is_on_counts(folder: Path) -> None:
    assert set(first_pages(folder, {"page-rank": 50.0})) == set(range(6, 12))
    assert all(number % 2 for number in first_pages(folder, {"spam-rank": 50.0}))


def test_an_unknown_signal_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="unknown signal fame"):
        first_pages(folder, {"fame": 1.0})


def test_no_page_is_fetched_for_what_the_list_of_results_tells() -> None:
    pages = {
        f"p{n}": WebPage(f"p{n}", "", "", f"http://a.org/{n}", "", 1e-9 * n, 80.0) for n in range(4)
    }

    class Found:
        def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
            scores = np.array([4.0, 3.0, 2.0, 1.0])
            return [Ranking(topic, tuple(pages), scores) for topic in topics]

    def shown(ranking: Ranking) -> list[WebPage]:
        return [pages[identifier] for identifier in ranking.ids]

    def fetched(ranking: Ranking) -> list[WebPage]:
        raise AssertionError("a page was fetched")

    source = PageSource(Found(), shown, fetched)
    weights = {"page-rank": 9.0, "spam-rank": 1.0, "host-kind": 1.0, "https": 1.0}
    ranking = weighed(source, weights).retrieve([Topic("1", "tea")], 4)[0]
    assert ranking.ids == ("p3", "p2", "p1", "p0")


def test_the_names_of_the_objects_count_more_in_an_index(tmp_path: Path) -> None:
    both = WebPage("both", "", "tea and coffee " + "filler " * 12)
    better = WebPage("better", "", "which is better or which is better " + "filler " * 8)
    topic = Topic("1", "Which is better, tea or coffee?")
    with IndexReader.open(indexed([better, both], tmp_path / "index")) as index:
        found = {
            weight: weighed(from_index(index), {}, weight).retrieve([topic], 2)[0]
            for weight in (0.0, 5.0)
        }
    assert {weight: ranking.ids[0] for weight, ranking in found.items()} == {
        0.0: "better",
        5.0: "both",
    }


def test_the_default_costs_nothing_on_the_recorded_topic(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    recorded = importlib.import_module("recorded")
    monkeypatch.setattr(recorded, "DATA", data)
    pages, qrels = recorded.recorded_pages(), load_qrels(data / "qrels" / recorded.QRELS)

    def score(system: System) -> float:
        found = evaluate(system.retrieve([recorded.TOPIC], 1000), qrels, ["nDCG@5"], rule="trec")[0]
        return found.values[recorded.TOPIC.number]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # one topic of 25
        assert score(TASK.system("default", pages)) >= score(TASK.system("bm25", pages))
