"""Several topics of one state of an index: what they share is asked once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import LOADING
from sicetnon.cluster import searching, together
from sicetnon.cluster.connection import ClusterError, Connection
from sicetnon.cluster.searching import CandidateSearch
from sicetnon.cluster.together import MOST_TOGETHER
from sicetnon.library.index import Index
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, DirichletLM, WeightingModel
from support.cluster_faults import write_documents

WORDS = ("school", "teacher", "tenure", "vote", "tax", "ban", "gun", "zoo", "animal", "food")
TOPICS = [Topic(str(number), f"{WORDS[number % 10]} {WORDS[number % 7]}") for number in range(40)]


@pytest.fixture
def pair(new_address: Callable[[], str], tmp_path: Path) -> Iterator[tuple[Index, Index]]:
    """The same documents in a folder and on the cluster."""
    corpus = write_documents(tmp_path / "documents.jsonl", 300)
    with (
        Index.build(corpus, tmp_path / "index") as folder,
        Index.build(corpus, new_address(), cluster=LOADING) as cluster,
    ):
        yield folder, cluster


Ranked = list[tuple[tuple[str, ...], list[float]]]
ALONE = MOST_TOGETHER + 1
"""So many documents that each topic has requests of its own."""


def rankings(index: Index, k: int = 20, model: WeightingModel | None = None) -> Ranked:
    """The first documents of all topics."""
    retriever = LocalRetriever(index, [FieldScore(model)]) if model else index.retriever()
    found: list[Ranking] = retriever.retrieve(TOPICS, k)
    assert [ranking.topic for ranking in found] == TOPICS
    return [(ranking.ids, ranking.scores.tolist()) for ranking in found]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests, as they are sent."""
    requests: list[str] = []
    ask = Connection.ask

    def noted(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        requests.append(f"{method} {path.split('/')[2] if path.count('/') > 1 else path}")
        return ask(connection, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "ask", noted)
    return requests


@pytest.mark.parametrize("model", [None, BM25(b=0.3), DirichletLM(), DPH()])
def test_topics_share_requests(
    pair: tuple[Index, Index], asked: list[str], model: WeightingModel | None
) -> None:
    folder, cluster = pair
    assert rankings(cluster, model=model) == rankings(folder, model=model)
    # eight batches of five, and one request for the statistics of all
    assert asked.count("POST /_msearch") == 9
    assert asked.count("POST _search") == 8
    assert asked.count("GET _doc") == 9


def test_topics_with_requests_of_their_own_share_the_look_at_the_state(
    pair: tuple[Index, Index], asked: list[str]
) -> None:
    folder, cluster = pair
    assert rankings(cluster, ALONE) == rankings(folder, ALONE)
    assert asked.count("POST _search") == len(TOPICS)
    assert asked.count("GET _doc") == 9


def test_topics_whose_candidates_prove_nothing_are_asked_again(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    monkeypatch.setattr(together, "enough_candidates", lambda k: k)
    assert rankings(cluster, 5) == rankings(folder, 5)
    assert asked.count("POST /_msearch") == 9
    # no other document is known to be worse than the last of exactly k
    assert asked.count("POST _search") == 8 + len(TOPICS)


def test_terms_of_one_request_have_a_limit(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    monkeypatch.setattr(together, "MOST_CLAUSES", 3)
    assert rankings(cluster) == rankings(folder)
    assert asked.count("POST _search") > len(TOPICS) // 2


def test_a_candidate_that_has_gone_makes_its_topics_be_asked_again(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    expected = rankings(folder)
    gone, ask = list[str](), Connection.ask

    def lacking(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        answer = ask(connection, method, path, *rest, **more)
        if path.endswith("/_search") and rest and "filter" in rest[0]["query"]["bool"]:
            hits = answer["hits"]["hits"]
            if "must" not in rest[0]["query"]["bool"] and hits:
                gone.append(hits.pop()["fields"]["number"][0])
        return answer

    monkeypatch.setattr(Connection, "ask", lacking)
    assert rankings(cluster) == expected
    assert len(gone) == 8


def test_topics_are_asked_together_again_where_that_was_refused(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    requests, refusals, ask = itertools.count(1), list[str](), Connection.ask

    def refused(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        if path.endswith("search") and next(requests) % 4 == 0:
            refusals.append(path)
            raise ClusterError("refused", 429)
        return ask(connection, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "ask", refused)
    assert rankings(cluster) == rankings(folder)
    assert len(refusals) > 3


def test_a_batch_goes_on_where_a_search_was_refused(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    numbers, refusals, search = itertools.count(1), list[int](), CandidateSearch.search

    def refused(self: CandidateSearch, *arguments: Any) -> Any:
        if (number := next(numbers)) % 7 == 3:
            refusals.append(number)
            raise ClusterError("refused", 429)
        return search(self, *arguments)

    monkeypatch.setattr(CandidateSearch, "search", refused)
    assert rankings(cluster, ALONE) == rankings(folder, ALONE)
    # each refused search is made again, and no other
    assert next(numbers) - 1 == len(TOPICS) + len(refusals)


def test_an_error_that_does_not_pass_ends_a_run(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Any:
        raise ClusterError("a right is missing", 403)

    monkeypatch.setattr(CandidateSearch, "search", refused)
    with pytest.raises(ClusterError, match="a right is missing"):
        rankings(pair[1], ALONE)


@pytest.mark.parametrize("k", [20, ALONE])
def test_a_batch_is_of_one_state(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    folder, cluster = pair
    searches, ask = [0], Connection.ask
    more = [{"id": "new", "text": " ".join(WORDS)}]

    def changing(connection: Connection, method: str, path: str, *rest: Any, **other: Any) -> Any:
        if path.endswith("/_search"):
            searches[0] += 1
            if searches[0] == (1 if k < ALONE else 3):
                cluster.add(more).close()
        return ask(connection, method, path, *rest, **other)

    worker = cluster.search_worker(cluster.retriever()._scores)
    queries = [cluster.retriever().terms(topic.title) for topic in TOPICS[:6]]
    monkeypatch.setattr(Connection, "ask", changing)
    found = worker.search_each(queries, k)
    monkeypatch.setattr(Connection, "ask", ask)
    with folder.add(more) as changed:
        expected = changed.retriever().retrieve(TOPICS[:6], k)
        for (numbers, scores), ranking in zip(found, expected, strict=True):
            assert tuple(cluster.identifiers(numbers)) == ranking.ids
            assert scores.tolist() == ranking.scores.tolist()
    assert searches[0] > (1 if k < ALONE else 6)


def test_deep_results_may_take_longer_than_a_search_waits(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    pages, ask = list[str](), Connection.ask

    def slow(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        if path == "/_search":
            pages.append(path)
            time.sleep(0.4)
        return ask(connection, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "ask", slow)
    monkeypatch.setattr(searching, "_PAGE", 20)
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "3")
    topic, begin = Topic("1", "school teacher tenure"), time.monotonic()
    with Index.open(cluster.folder) as impatient:
        (found,) = impatient.retriever().retrieve([topic], 200)
    assert time.monotonic() - begin > 3
    assert len(pages) > 8
    (expected,) = folder.retriever().retrieve([topic], 200)
    assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())
