"""Task 2 of 2020 and 2021: web documents, from an index of pages or from ChatNoir."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from service_double import ServiceDouble, trec_id
from sicetnon.cli import main
from sicetnon.errors import UsageError
from sicetnon.evaluation import evaluate, load_qrels
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.evaluation.validation import validate
from sicetnon.formats.corpora import PAGE_FIELDS, Corpus
from sicetnon.formats.runs import read_run
from sicetnon.index.index import Index
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.blending import Blend
from sicetnon.records import Entry, Passage, Ranking, Topic, WebPage
from sicetnon.tasks.sources import PageSource, as_page, from_index
from sicetnon.tasks.system import System
from sicetnon.tasks.touche_2020_task_2 import MEASURES, TASK, weighed
from sicetnon.text.analysis import named_analysis

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TOPICS = (
    "<topics><topic><number>{0}</number><title>Which is better, a laptop or a desktop?</title>"
    "</topic><topic><number>{1}</number><title>Should I buy tea or coffee?</title></topic></topics>"
)
DULL = "The laptop and the desktop on a desk which is in the room of a better man. "
ARGUING = (
    "I think a laptop is better than a desktop because you can carry it; however, a desktop is "
    "cheaper. Both have pros and cons. "
)


def pages() -> list[WebPage]:
    kinds = [
        (DULL, "http://shop.example.com/buy", 50.0),
        (ARGUING, "https://a.example.org/x", 99.0),
    ]
    return [
        WebPage(f"clueweb12-{n}", "Laptop or desktop", text * 3, url, "", 1e-9 * n, spam)
        for n, (text, url, spam) in enumerate(kinds * 6)
    ] + [WebPage("clueweb12-tea", "Tea", "Tea or coffee. " * 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "index"
    corpus = Corpus("pages", PAGE_FIELDS, (Path("x"),), lambda *_: iter(pages()))
    build_index(corpus, folder, BuildOptions(named_analysis("porter")))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    source = tmp_path / "input"
    source.mkdir()
    (source / "topics.xml").write_text(TOPICS.format(51, 52))
    return source


@pytest.mark.parametrize("system", ["default", "bm25", "every-signal"])
def test_a_run_over_the_users_own_index(
    system: str, folder: Path, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    call = ["run", "touche-2021-task-2", "-i", str(source), "-o", str(out), "--index", str(folder)]
    assert main([*call, "--system", system]) == 0
    lines = list(read_run(out / "run.txt"))
    assert {line.topic for line in lines} == {"51", "52"}
    assert all(line.stance == "Q0" for line in lines)
    report = validate(out / "run.txt", "touche-2021-task-2")
    assert {finding.rule for finding in report.errors} <= {"topics-missing"}
    metadata = yaml.safe_load((out / "ir-metadata.yml").read_text())
    assert metadata["data"]["test collection"]["documents"] == 13


def first_pages(folder: Path, weights: dict[str, float] | None = None) -> list[int]:
    """The best six of twelve pages that fit the question: odd numbers argue and have spam rank 99,
    and every number is a PageRank."""
    topic = Topic("1", "laptop desktop")
    with Index.open(folder) as index:
        pages = from_index(index)
        system = TASK.system("default", pages) if weights is None else weighed(pages, weights)
        ranking = system.rank([topic], 12)[0]
        names = index.identifiers(ranking.documents[:6])
    return [int(name.removeprefix("clueweb12-")) for name in names]


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
    pages = [WebPage(f"p{n}", "", "", f"http://a.org/{n}", "", 1e-9 * n, 80.0) for n in range(4)]

    class Found:
        def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
            return [Ranking(t, np.arange(4), np.array([4.0, 3.0, 2.0, 1.0])) for t in topics]

    def shown(numbers: Sequence[int]) -> list[WebPage]:
        return [pages[number] for number in numbers]

    def fetched(numbers: Sequence[int]) -> list[WebPage]:
        raise AssertionError("a page was fetched")

    source = PageSource("double", Found(), shown, fetched)
    weights = {"page-rank": 9.0, "spam-rank": 1.0, "host-kind": 1.0, "https": 1.0}
    ranking = weighed(source, weights).rank([Topic("1", "tea")], 4)[0]
    assert ranking.documents.tolist() == [3, 2, 1, 0]


def test_the_names_of_the_objects_count_more_in_an_index(tmp_path: Path) -> None:
    both = WebPage("both", "", "tea and coffee " + "filler " * 12)
    better = WebPage("better", "", "which is better or which is better " + "filler " * 8)
    corpus = Corpus("pages", PAGE_FIELDS, (Path("x"),), lambda *_: iter([better, both]))
    build_index(corpus, tmp_path / "index", BuildOptions(named_analysis("porter")))
    topic = Topic("1", "Which is better, tea or coffee?")
    with Index.open(tmp_path / "index") as index:
        found = {
            weight: weighed(from_index(index), {}, weight).rank([topic], 2)[0]
            for weight in (0.0, 5.0)
        }
        first = {weight: index.identifiers(r.documents[:1])[0] for weight, r in found.items()}
    assert first == {0.0: "better", 5.0: "both"}


def test_the_default_costs_nothing_on_the_recorded_topic(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    recorded = importlib.import_module("recorded")
    monkeypatch.setattr(recorded, "DATA", data)
    pages, qrels = recorded.recorded_pages(), load_qrels(data / "qrels" / recorded.QRELS)

    def score(system: System) -> float:
        lines = recorded.run_lines(system.rank([recorded.TOPIC], 1000), lambda r: r.names)
        found = evaluate(lines, qrels, ["nDCG@5"], rule="trec")[0]
        return found.values[recorded.TOPIC.number]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # one topic of 25
        assert score(TASK.system("default", pages)) >= score(TASK.system("bm25", pages))


def test_a_run_by_chatnoir(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ServiceDouble(total=8) as double:
        monkeypatch.setenv("CHATNOIR_URL", double.url)
        monkeypatch.setenv("CHATNOIR_API_KEY", "some-key")
        out = tmp_path / "out"
        call = ["run", "touche-2021-task-2", "-i", str(source), "-o", str(out)]
        assert main([*call, "--cache", str(tmp_path / "kept.sqlite")]) == 0
        first, asked = (out / "run.txt").read_text(), len(double.requests)
        monkeypatch.delenv("CHATNOIR_API_KEY")
        assert main([*call, "--cache", str(tmp_path / "kept.sqlite")]) == 0
        assert len(double.requests) == asked
    assert (out / "run.txt").read_text() == first
    names = {line.document for line in read_run(out / "run.txt")}
    assert names == {trec_id(number) for number in range(8)}
    metadata = yaml.safe_load((out / "ir-metadata.yml").read_text())
    assert "ChatNoir" in metadata["data"]["test collection"]["source"]
    assert "some-key" not in (out / "ir-metadata.yml").read_text() + capsys.readouterr().err


def test_without_a_key_one_line_says_where_to_get_one(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("CHATNOIR_API_KEY", raising=False)
    out = tmp_path / "out"
    assert main(["run", "touche-2020-task-2", "-i", str(source), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert "chatnoir.eu/apikey" in error
    assert error.count("\n") == 1
    assert not (out / "run.txt").exists()


def test_an_index_of_arguments_is_refused(
    sample: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = str(tmp_path / "arguments")
    assert main(["index", str(sample / "input"), "-o", index]) == 0
    call = ["run", "touche-2020-task-2", "-i", str(source), "-o", str(tmp_path / "out")]
    assert main([*call, "--index", index]) == 1
    assert "is an index of arguments; expected web pages" in capsys.readouterr().err


def test_2021_task_1_runs_as_2020(sample: Path, tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.mkdir()
    for file in (sample / "input").glob("*.json"):
        (source / file.name).symlink_to(file)
    title = "Should teachers get tenure?"
    topic = f"<topic><number>51</number><title>{title}</title></topic>"
    (source / "topics.xml").write_text(f"<topics>{topic}</topics>")
    out = tmp_path / "out"
    assert main(["run", "touche-2021-task-1", "-i", str(source), "-o", str(out)]) == 0
    assert {line.topic for line in read_run(out / "run.txt")} == {"51"}


def test_other_records_are_read_as_pages() -> None:
    assert as_page(Passage("p___1", "text", "http://a")).url == "http://a"
    page = as_page(Entry("e", {"title": "T", "text": "body"}, {"url": "http://b"}))
    assert (page.title, page.url) == ("T", "http://b")
    assert "body" in page.text


@pytest.mark.parametrize("scores", [[3.0, 2.0, 1.0, 0.5], [1.0] * 4, []])
def test_blending_keeps_what_is_behind_in_place(scores: list[float]) -> None:
    topic = Topic("1", "t")
    ranking = Ranking(topic, np.arange(len(scores)), np.array(scores))
    stage = Blend([(lambda _, top: [float(n) for n in top.documents], 10.0)], depth=3)
    after = stage.apply(topic, ranking)
    assert after.documents.tolist() == [2, 1, 0, 3][: len(scores)]
    assert (np.diff(after.scores) < 0).all()
