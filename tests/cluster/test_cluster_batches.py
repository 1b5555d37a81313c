"""Several topics of one state of an index: what they share is asked once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import LOADING
from sicetnon.app.index import Index
from sicetnon.cluster import retriever
from sicetnon.cluster.remote_index import ClusterReader
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.retriever import BatchSearch, CandidateSearch
from sicetnon.cluster.transport import Connection
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
ALONE = ClusterReader.deepest_together + 1
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


def test_topics_whose_candidates_do_not_prove_the_first_are_asked_again(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    made = BatchSearch.__init__

    def exactly_k(search: BatchSearch, *given: Any, **more: Any) -> None:
        made(search, *given, **more)
        search._size = search._k

    monkeypatch.setattr(BatchSearch, "__init__", exactly_k)
    assert rankings(cluster, 5) == rankings(folder, 5)
    assert asked.count("POST /_msearch") == 9
    # no other document is known to be worse than the last of exactly k
    assert asked.count("POST _search") == 8 + len(TOPICS)


Answer = dict[str, Any]
Change = Callable[[str, Any, Answer], None]


def changing(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """Change answers: `change` gets the path, the body and the answer."""
    ask = Connection.ask

    def changed(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        answer = ask(connection, method, path, *rest, **more)
        change(path, rest[0] if rest else None, answer)
        return answer

    monkeypatch.setattr(Connection, "ask", changed)


def batch(index: Index, k: int = 20) -> list[tuple[list[str], list[float]]]:
    """The first documents of eight topics that are asked for together."""
    retriever = index.retriever()
    queries = [retriever.terms(topic.title) for topic in TOPICS[:8]]
    found = index.search_worker(retriever.scores).search_each(queries, k)
    return [(index.identifiers(numbers), scores.tolist()) for numbers, scores in found]


def expected_batch(folder: Index) -> list[tuple[list[str], list[float]]]:
    return [(list(ids), scores) for ids, scores in rankings(folder)[:8]]


def test_terms_of_one_request_have_a_limit(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    clauses: list[int] = []

    def count(path: str, body: Any, _: Answer) -> None:
        if path.endswith("/_search") and "number" in str(body["query"]["bool"]["must"]):
            (part,) = body["query"]["bool"]["must"][0]["bool"]["should"]
            clauses.append(len(part["constant_score"]["filter"]["bool"]["should"]))

    changing(monkeypatch, count)
    assert batch(cluster) == expected_batch(folder)
    made = BatchSearch.__init__
    monkeypatch.setattr(
        BatchSearch, "__init__", lambda *given, **more: made(*given, **more, most_clauses=3)
    )
    assert batch(cluster) == expected_batch(folder)
    assert clauses[0] > clauses[1] == 3


def test_candidates_of_one_request_have_a_limit(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    monkeypatch.setattr(retriever, "_MOST_HITS", 3 * 40)
    assert batch(cluster) == expected_batch(folder)
    assert asked.count("POST _search") == 1 + 5


def test_a_candidate_that_has_gone_makes_its_topics_be_asked_again(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    gone: list[int] = []

    def lack(path: str, body: Any, answer: Answer) -> None:
        if path.endswith("/_search") and body.get("sort") == ["_doc"]:
            gone.append(answer["hits"]["hits"].pop()["fields"]["number"][0])

    changing(monkeypatch, lack)
    assert rankings(cluster) == rankings(folder)
    assert len(gone) == 8


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"type": "rejected", "reason": "the queue is full"}, "status": 429},
        {"_shards": {"total": 2, "successful": 1, "failed": 1}, "hits": {"hits": []}},
    ],
)
def test_a_topic_whose_part_was_refused_is_asked_again(
    pair: tuple[Index, Index],
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    place: int,
) -> None:
    folder, cluster = pair
    assert batch(cluster) == expected_batch(folder)  # it knows the statistics from now on

    def refuse(path: str, _: Any, found: Answer) -> None:
        if path == "/_msearch":
            found["responses"][place] = answer

    changing(monkeypatch, refuse)
    asked.clear()
    assert batch(cluster) == expected_batch(folder)
    assert asked.count("POST _search") == 1 + 1


def test_an_error_of_one_topic_that_does_not_pass_ends_a_batch(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch(pair[1])
    refused = {"error": {"type": "security", "reason": "a right is missing"}, "status": 403}

    def refuse(path: str, _: Any, found: Answer) -> None:
        if path == "/_msearch":
            found["responses"][2] = refused

    changing(monkeypatch, refuse)
    with pytest.raises(ClusterError, match="a right is missing"):
        batch(pair[1])


def test_answers_that_may_lack_shards_are_asked_for_alone(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "2")
    with Index.open(cluster.folder, partial=True) as partial:
        assert batch(partial) == expected_batch(folder)

        def lack(path: str, _: Any, found: Answer) -> None:
            if path.endswith("/_search"):
                found["_shards"]["failed"] = 1

        changing(monkeypatch, lack)
        asked.clear()
        batch(partial)
        # the last eight are those of the partial answer
        assert asked[-8:] == ["POST _search"] * 8
        assert "1 of 2 shards" in partial.missing


def test_what_was_found_is_kept_where_a_later_search_was_refused(
    pair: tuple[Index, Index], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    assert batch(cluster) == expected_batch(folder)
    search, refusals = CandidateSearch.search, itertools.count()
    monkeypatch.setattr(retriever, "_MOST_HITS", 5 * 40)

    def refused(self: CandidateSearch, *arguments: Any) -> Any:
        if next(refusals) in (1, 2):
            raise ClusterError("refused", 429)
        return search(self, *arguments)

    monkeypatch.setattr(CandidateSearch, "search", refused)
    asked.clear()
    assert batch(cluster) == expected_batch(folder)
    # five topics together, once, and each of the three others until it is found
    assert asked.count("POST /_msearch") == 1
    assert next(refusals) == 3 + 2


def test_a_request_for_several_topics_may_be_refused(
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
@pytest.mark.parametrize("is_added", [True, False])
def test_a_batch_is_of_one_state(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch, k: int, is_added: bool
) -> None:
    folder, cluster = pair
    queries = [cluster.retriever().terms(topic.title) for topic in TOPICS[:6]]
    worker = cluster.search_worker(cluster.retriever().scores)
    more = [{"id": "new", "text": " ".join(WORDS)}]
    # the first document of a topic that is found before the change, and is found no more
    gone = list(rankings(folder)[0][0][:1])
    first = cluster.known_version[0]
    searches, ask = [0], Connection.ask

    def changed(connection: Connection, method: str, path: str, *rest: Any, **other: Any) -> Any:
        is_search = path == f"/{first}/_search" and connection is cluster._connection
        is_search = is_search and (k == ALONE or rest[0].get("sort") == ["_doc"])
        searches[0] += is_search
        if is_search and searches[0] == (1 if k < ALONE else 3):
            monkeypatch.setattr(Connection, "ask", ask)
            (cluster.add(more) if is_added else cluster.delete(gone)).close()
            monkeypatch.setattr(Connection, "ask", changed)
        return ask(connection, method, path, *rest, **other)

    monkeypatch.setattr(Connection, "ask", changed)
    found = worker.search_each(queries, k)
    monkeypatch.setattr(Connection, "ask", ask)
    with folder.add(more) if is_added else folder.delete(gone) as after:
        expected = after.retriever().retrieve(TOPICS[:6], k)
        for (numbers, scores), ranking in zip(found, expected, strict=True):
            assert tuple(cluster.identifiers(numbers)) == ranking.ids
            assert scores.tolist() == ranking.scores.tolist()
    # all topics were searched a second time
    assert searches[0] == (2 if k < ALONE else 12)


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
    monkeypatch.setattr(retriever, "_PAGE", 20)
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "3")
    topic, begin = Topic("1", "school teacher tenure"), time.monotonic()
    with Index.open(cluster.folder) as impatient:
        (found,) = impatient.retriever().retrieve([topic], 200)
    assert time.monotonic() - begin > 3
    assert len(pages) > 8
    (expected,) = folder.retriever().retrieve([topic], 200)
    assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())
