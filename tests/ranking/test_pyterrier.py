"""PyTerrier: systems in its experiments and pipelines, its transformers as retrievers; no JVM."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

import sicetnon
from sicetnon.errors import DataError

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not find_spec("pyterrier"), reason="needs the extra pyterrier"),
]

TEXTS = ["tenure protects freedom", "tenure tenure costs money", "uniforms save money", "money"]
TOPICS = [sicetnon.Topic("1", "tenure"), sicetnon.Topic("2", "money"), sicetnon.Topic("3", "x")]


@pytest.fixture(scope="module")
def index() -> Iterator[sicetnon.Index]:
    with sicetnon.Index.build(TEXTS) as opened:
        yield opened


@pytest.fixture(scope="module")
def pandas() -> Any:
    return pytest.importorskip("pandas", reason="needs the extra pyterrier")


@pytest.fixture
def queries(pandas: Any) -> Any:
    return pandas.DataFrame([(t.number, t.title) for t in TOPICS], columns=["qid", "query"])


@pytest.fixture(scope="module")
def pt() -> Any:
    """PyTerrier, which is loaded when the first test runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTerrier's own dependencies deprecate
        return importlib.import_module("pyterrier")


@pytest.fixture(autouse=True)
def no_jvm(pt: Any) -> Iterator[None]:
    yield
    assert not pt.java.started()


def same(ours: list[sicetnon.Ranking], theirs: list[sicetnon.Ranking]) -> bool:
    return [(r.topic.number, list(r)) for r in ours] == [(r.topic.number, list(r)) for r in theirs]


def test_a_system_there_and_back_finds_the_same(index: sicetnon.Index) -> None:
    for name in ("bm25", "dirichlet"):
        system = index.system(name)
        back = sicetnon.from_pyterrier(system.as_pyterrier())
        assert same(back.retrieve(TOPICS, 10), system.retrieve(TOPICS, 10))
        assert same(back.retrieve(TOPICS, 1), system.retrieve(TOPICS, 1))
    assert "bm25" in repr(index.system("bm25").as_pyterrier())


def test_an_experiment_takes_systems(
    index: sicetnon.Index, queries: Any, pt: Any, pandas: Any
) -> None:
    qrels = pandas.DataFrame(
        [("1", "1", 1), ("1", "0", 0), ("2", "3", 1)], columns=["qid", "docno", "label"]
    )
    systems = [index.system(name).as_pyterrier() for name in ("bm25", "dirichlet")]
    table = pt.Experiment(systems, queries, qrels, ["map", "recip_rank"])
    assert len(table) == 2
    ours = sicetnon.evaluate(
        index.system("bm25").retrieve(TOPICS, 1000), qrels, ["AP"], rule="trec"
    )
    judged = ours[0].values
    assert table["map"][0] == pytest.approx((judged["1"] + judged["2"]) / 2)


def test_pipelines_take_systems(index: sicetnon.Index, queries: Any, pt: Any) -> None:
    bm25, dirichlet = (index.system(name).as_pyterrier() for name in ("bm25", "dirichlet"))
    whole = bm25(queries)
    assert list(whole.columns) == ["qid", "query", "docno", "score", "rank"]
    first = (bm25 % 1)(queries)
    assert sorted(first["qid"]) == ["1", "2"]
    doubled = bm25 >> pt.apply.doc_score(lambda row: 2 * row["score"])
    assert doubled(queries)["score"].max() == pytest.approx(2 * whole["score"].max())
    features = (bm25 >> (pt.transformer.IdentityTransformer() ** dirichlet))(queries)
    assert all(len(each) == 2 for each in features["features"])
    retriever = sicetnon.from_pyterrier(bm25 % 1)
    assert [len(ranking) for ranking in retriever.retrieve(TOPICS, 10)] == [1, 1, 0]


def test_no_query_finds_nothing(index: sicetnon.Index, queries: Any) -> None:
    found = index.system("bm25").as_pyterrier()(queries.head(0))
    assert len(found) == 0
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]


def test_missing_columns_are_one_clear_line(pt: Any) -> None:
    keeps = pt.apply.generic(lambda frame: frame)
    with pytest.raises(DataError, match="columns qid, query; expected qid, docno, score"):
        sicetnon.from_pyterrier(keeps).retrieve(TOPICS, 10)


def test_columns_of_the_queries_are_kept_and_missing_ones_named(
    index: sicetnon.Index, pandas: Any
) -> None:
    transformer = sicetnon.System(index.retriever()).as_pyterrier(k=2)
    queries = pandas.DataFrame({"qid": [1], "query": ["tenure"], "query_0": ["original"]})
    assert set(transformer(queries)["query_0"]) == {"original"}
    with pytest.raises(DataError, match="with the columns qid; expected qid, query"):
        transformer(queries[["qid"]])


def test_given_candidates_are_ranked_anew_and_no_others_found(
    index: sicetnon.Index, queries: Any, pt: Any
) -> None:
    bm25, dirichlet = (index.system(name).as_pyterrier() for name in ("bm25", "dirichlet"))
    alone = {(row.qid, row.docno): row.score for row in bm25(queries).itertuples()}
    candidates = queries.assign(docno=[["0", "2"], ["0", "3", "1"], ["2", "9"]]).explode("docno")
    candidates = candidates.assign(score=7.0, rank=0, text="kept " + candidates["docno"])
    found = bm25(candidates)
    assert list(found.columns) == ["qid", "query", "text", "docno", "score", "rank"]
    ranked = {qid: list(rows["docno"]) for qid, rows in found.groupby("qid")}
    assert ranked == {"1": ["0", "2"], "2": ["3", "1", "0"], "3": ["2", "9"]}
    assert list(found["text"]) == [f"kept {docno}" for docno in found["docno"]]
    assert list(found["rank"]) == [0, 1, 0, 1, 2, 0, 1]
    scores = {(row.qid, row.docno): row.score for row in found.itertuples()}
    shared = scores.keys() & alone.keys()
    assert shared == {("1", "0"), ("2", "1"), ("2", "3")}
    assert {key: scores[key] for key in shared} == {key: alone[key] for key in shared}
    assert scores["2", "0"] < scores["2", "1"]
    pipeline = (bm25 % 1) >> dirichlet
    assert [len(rows) for _, rows in pipeline(queries).groupby("qid")] == [1, 1]
    assert list(bm25(candidates.head(0)).columns) == list(found.columns)
    with pytest.raises(DataError, match="row without qid, query, docno"):
        bm25(candidates.assign(docno=None))
    with pytest.raises(DataError, match="row without qid, query"):
        bm25(queries.assign(query=[None, "a", "b"]))


@pytest.mark.parametrize("more", [{}, {"docno": ["a", "b"]}])
def test_two_queries_of_one_qid_are_refused(
    index: sicetnon.Index, queries: Any, more: dict[str, list[str]]
) -> None:
    both = type(queries)({"qid": ["1", "1"], "query": ["tenure", "homework"], **more})
    with pytest.raises(DataError, match="two queries of one qid"):
        sicetnon.as_pyterrier(index.retriever()).transform(both)


def test_stages_see_given_candidates_alone(index: sicetnon.Index) -> None:
    seen: list[tuple[str, ...]] = []

    class Backwards:
        def apply(self, topic: sicetnon.Topic, ranking: sicetnon.Ranking) -> sicetnon.Ranking:
            seen.append(ranking.ids)
            return ranking.taken(range(len(ranking))[::-1], ranking.scores)

    class Few:
        """A retriever that gives its results in small helpings, and records their sizes."""

        def __init__(self) -> None:
            self.asked: list[int] = []

        def retrieve(self, topics: Any, k: int) -> Any:
            self.asked.append(k)
            return index.system("bm25").retrieve(topics, max(k // 1000, 1))

    system = sicetnon.System(index.system("bm25"), [Backwards()])
    (ranking,) = system.rerank(TOPICS[1:2], {"2": ["1", "0", "3"]})
    assert seen == [("3", "1", "0")]
    assert ranking.ids == ("0", "1", "3")
    assert system.rerank(TOPICS[:1], {})[0].ids == ()
    few = Few()
    assert sicetnon.System(few).rerank(TOPICS[1:2], {"2": ["1"]})[0].ids == ("1",)
    assert few.asked == [1000]
