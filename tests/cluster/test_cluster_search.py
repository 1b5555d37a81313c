"""A cluster and a folder give the same rankings: the same ids, the same scores to the last bit."""

from __future__ import annotations

import random
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.conftest import LOADING, whole
from sicetnon.app.index import Index
from sicetnon.cluster.build import ClusterOptions
from sicetnon.cluster.queries import skipping_bound
from sicetnon.cluster.remote_index import ClusterReader
from sicetnon.records import Topic
from sicetnon.retrieval.feedback import RM3, Bo1, Feedback
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import (
    BM25,
    DLH,
    DPH,
    PL2,
    TFIDF,
    DirichletLM,
    JelinekMercer,
    WeightingModel,
)
from support.cluster_nodes import Cluster

WORDS = ("ban", "bans", "banned", "tax", "taxes", "school", "vote", "votes", "gun", "rights")
FIELDS = ("conclusion", "premise")
DEPTHS = (1, 3, 100)


@dataclass(frozen=True)
class Own(WeightingModel):
    """A user's own model, which no script knows."""

    def score(self, tf, length, term, collection):
        return np.log(1 + tf * collection.average_length / length) / term.documents


MODELS: list[WeightingModel] = [
    BM25(), BM25(3.2, 0.2, "robertson"), BM25(0.9, 0.4, "plus"), BM25(1.0, 1.0, "atire"),
    DirichletLM(20), DirichletLM(20, "matched"), DirichletLM(20, "full"), JelinekMercer(), DPH(),
    DLH(), PL2(), TFIDF(), Own(),
]  # fmt: skip
SCORES: list[list[Scoring]] = [
    *([FieldScore(model)] for model in MODELS),
    *([FieldScore(model, {"premise": 1.0, "conclusion": 0.3}, 1.0, 0.1)] for model in MODELS),
    [BM25F({"premise": 1.0, "conclusion": 2.0}, b={"conclusion": 0.3})],
    [FieldScore(DirichletLM(30), {"premise": 1.0}, 1.0, 0.1), Coverage(("conclusion",))],
    [FieldScore(DirichletLM(30, "full"), weight=0.5), FieldScore(DPH(), {"premise": 1.0}, -0.5)],
]  # fmt: skip


def same(
    folder: Index,
    cluster: Index,
    scores: Sequence[Scoring],
    titles: Sequence[str],
    k: int,
    feedback: Feedback | None = None,
) -> None:
    """Compare the rankings of both."""
    topics = [Topic(str(number), title) for number, title in enumerate(titles)]
    expected = LocalRetriever(folder, scores, feedback).retrieve(topics, k)
    found = LocalRetriever(cluster, scores, feedback).retrieve(topics, k)
    for one, other in zip(expected, found, strict=True):
        assert one.ids == other.ids
        assert one.scores.tolist() == other.scores.tolist()
    if feedback is None:
        same_together(folder, cluster, scores, titles, k)


def same_together(
    folder: Index, cluster: Index, scores: Sequence[Scoring], titles: Sequence[str], k: int
) -> None:
    """Compare the rankings of both where the cluster is asked for several topics at once."""
    retriever = LocalRetriever(folder, scores)
    # one that is empty, one of a word that does not occur, and one that is asked for twice
    queries = [retriever.terms(title) for title in (*titles, "", "zebra", titles[0])]
    batch = cluster.search_worker(scores).search_each(queries, k)
    for query, (numbers, found) in zip(queries, batch, strict=True):
        places, expected = retriever.search(query, k)
        assert cluster.identifiers(numbers) == folder.identifiers(places)
        assert found.tolist() == expected.tolist()


texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
documents = st.lists(st.fixed_dictionaries(dict.fromkeys(FIELDS, texts)), min_size=1, max_size=12)

questions = st.lists(st.sampled_from((*WORDS, "zebra")), min_size=1, max_size=8).map(" ".join)


@given(
    documents=documents,
    more=documents,
    deleted=st.sets(st.integers(0, 30), max_size=8),
    titles=st.tuples(questions, questions),
    shards=st.integers(1, 3),
    analysis=st.sampled_from(["forms", "porter", "plain"]),
    first=st.integers(0, 2),
)
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_corpus_is_ranked_the_same(
    cluster: Cluster,
    documents: list[dict[str, str]],
    more: list[dict[str, str]],
    deleted: set[int],
    titles: tuple[str, str],
    shards: int,
    analysis: str,
    first: int,
) -> None:
    name = f"test-{uuid.uuid4().hex[:12]}"
    rows = [{"id": f"d{place}", **text} for place, text in enumerate(documents)]
    # half of the second part replaces documents of the first
    rest = [{"id": f"d{place + len(rows) // 2}", **text} for place, text in enumerate(more)]
    gone = [f"d{place}" for place in deleted]
    options = ClusterOptions(shards=shards, replicas=0, lease=1.0)
    with tempfile.TemporaryDirectory() as folder:
        places = (Path(folder) / "index", cluster.address(name))
        opened = [
            Index.build(rows, place, fields=FIELDS, analysis=analysis, cluster=options)
            for place in places
        ]
        try:
            changed = [index.add(rest, replace=True) for index in opened]
            if len({*gone} & {*(row["id"] for row in rows + rest)}) < len({
                *(row["id"] for row in rows + rest)
            }):  # fmt: skip
                changed = [index.delete(gone) for index in changed]
            for place, scores in enumerate(SCORES):
                same(changed[0], changed[1], scores, titles, DEPTHS[(place + first) % 3])
        finally:
            for index in (*opened, *changed):
                index.close()
            cluster.remove(name)


@pytest.fixture(scope="module")
def places(
    cluster_of_session: Cluster,
    sample: Path,
    shared_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Sequence[Index]:
    """The sample in a folder and on the cluster."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    address = cluster_of_session.address(f"sample-{uuid.uuid4().hex[:8]}")
    source = sample / "input"
    with whole(shared_folder):
        return [Index.build(source, place, cluster=LOADING) for place in (folder, address)]


@pytest.fixture(autouse=True)
def _is_whole(cluster: Cluster) -> Cluster:
    """No test of this file meets a cluster that another process is breaking."""
    return cluster


QUESTIONS = ["Should teachers get tenure?", "Is vaping with e-cigarettes safe?", "", "zzz the of"]


@pytest.mark.parametrize("feedback", [None, RM3(), Bo1()])
@pytest.mark.parametrize("k", [10, 1000])
def test_the_sample_is_ranked_the_same(
    places: Sequence[Index], k: int, feedback: Feedback | None
) -> None:
    same(*places, [FieldScore(BM25())], QUESTIONS, k, feedback)


def some_models() -> Iterator[WeightingModel]:
    """Models that skip documents, with parameters of any size."""
    chosen = random.Random(3)
    for variant in ("lucene", "robertson", "atire", "plus"):
        yield BM25(10 ** chosen.uniform(-2, 2), chosen.random(), variant)
    yield from (BM25(0.0, 0.5), BM25(1.2, 0.0), BM25(1.2, 1.0))
    for variant in ("clipped", "matched", "full"):
        yield DirichletLM(10 ** chosen.uniform(0, 5), variant)
    yield from (JelinekMercer(0.01), JelinekMercer(0.99))


@pytest.mark.parametrize("model", list(some_models()), ids=str)
def test_no_score_is_above_the_bound_that_skips(
    places: Sequence[Index], cluster: Cluster, model: WeightingModel
) -> None:
    folder, index = places
    scores = [FieldScore(model)]
    assert isinstance(index, ClusterReader)
    # these have forms of one stem among them
    for query in ({"school": 1.0, "schools": 2.5, "tenure": 0.2}, {"teacher": 1.0}):
        view = index._snapshot
        view.fetch_statistics(scores, [query])
        parts = view.parts(scores, query)
        bound = skipping_bound(view, scores, parts, query, view.stem)
        assert bound is not None
        body = {"query": bound.query, "size": 1000, "docvalue_fields": ["number"]}
        hits = cluster.ask(f"{view.version[0]}/_search", "POST", body)["hits"]["hits"]
        limits = {hit["fields"]["number"][0]: bound.limit(hit["_score"]) for hit in hits}
        numbers, found = LocalRetriever(folder, scores).search(query, 1000)
        assert len(numbers)
        for number, score in zip(numbers.tolist(), found.tolist(), strict=True):
            assert score <= limits[number]


def test_documents_are_skipped_where_a_model_allows_it(places: Sequence[Index]) -> None:
    index = places[1]
    assert isinstance(index, ClusterReader)
    for model, way in ((BM25(), "skipping"), (DirichletLM(), "skipping"), (DPH(), "script")):
        before = index.ways[way]
        LocalRetriever(index, [FieldScore(model)]).retrieve([Topic("1", QUESTIONS[0])], 10)
        assert index.ways[way] == before + 1


@pytest.mark.parametrize("system", ["default", "bm25", "dirichlet", "dph", "dirichlet-rm3"])
def test_systems_are_the_same(places: Sequence[Index], system: str) -> None:
    topics = [Topic(str(number), text) for number, text in enumerate(QUESTIONS)]
    expected, found = (index.system(system).retrieve(topics, 100) for index in places)
    for one, other in zip(expected, found, strict=True):
        assert (one.ids, one.scores.tolist()) == (other.ids, other.scores.tolist())


def test_answers_are_the_same(places: Sequence[Index]) -> None:
    expected, found = (index.search(QUESTIONS[0], 5) for index in places)
    assert [answer.id for answer in found] == [answer.id for answer in expected]
    assert [answer.score for answer in found] == [answer.score for answer in expected]


def test_a_question_of_thousands_of_words_is_ranked_the_same(places: Sequence[Index]) -> None:
    records = places[0].records_at(range(12))
    title = " ".join(record.default_text() for record in records)
    same(*places, [FieldScore(BM25())], [title], 10)


def test_records_come_back_unchanged(places: Sequence[Index]) -> None:
    folder, cluster = places
    ids = folder.identifiers(range(folder.size))
    assert cluster.identifiers(range(cluster.size)) == ids
    assert cluster.records(ids) == folder.records(ids)
    assert cluster.numbers(ids[:5]).tolist() == [0, 1, 2, 3, 4]
    assert cluster.number("nothing") is None


def test_odd_texts_go_in_and_out(new_address: Callable[[], str]) -> None:
    odd = [
        "a\u2028b\u3000c\xa0d",
        "\x00 zero",
        "𝔘𝔫𝔦 school",
        "x" * 70_000,
        '{"query": {"match_all": {}}}',
    ]
    rows = [{"id": f"é\"'{{}}*?{place}", "text": text} for place, text in enumerate(odd)]
    with Index.build(rows, new_address(), fields=["text"], cluster=LOADING) as index:
        found = index.records([row["id"] for row in rows])
        assert [record.texts["text"] for record in found] == odd
        assert index.search("* OR _id:* school", system="default")[0].id == rows[2]["id"]
