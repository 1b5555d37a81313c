"""Several topics of one state of an index: what they share is asked once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import LOADING
from sicetnon.cluster import searching
from sicetnon.cluster.connection import ClusterError, Connection
from sicetnon.cluster.searching import CandidateSearch
from sicetnon.library.index import Index
from sicetnon.records import Ranking, Topic
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


def rankings(index: Index) -> list[tuple[tuple[str, ...], list[float]]]:
    """The first documents of all topics."""
    found: list[Ranking] = index.retriever().retrieve(TOPICS, 20)
    assert [ranking.topic for ranking in found] == TOPICS
    return [(ranking.ids, ranking.scores.tolist()) for ranking in found]


def test_topics_share_the_look_at_the_state(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    asked: list[str] = []
    ask = Connection.ask

    def noted(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        asked.append(f"{method} {path.split('/')[2] if path.count('/') > 1 else path}")
        return ask(connection, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "ask", noted)
    assert rankings(cluster) == rankings(folder)
    assert asked.count("POST _search") == len(TOPICS)
    # eight batches of five, and one for the statistics of all
    assert asked.count("GET _doc") == 9


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
    assert rankings(cluster) == rankings(folder)
    # each refused search is made again, and no other
    assert next(numbers) - 1 == len(TOPICS) + len(refusals)


def test_an_error_that_does_not_pass_ends_a_run(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Any:
        raise ClusterError("a right is missing", 403)

    monkeypatch.setattr(CandidateSearch, "search", refused)
    with pytest.raises(ClusterError, match="a right is missing"):
        rankings(pair[1])


def test_a_batch_is_of_one_state(
    pair: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cluster = pair
    searches, search = [0], CandidateSearch.search
    more = [{"id": "new", "text": " ".join(WORDS)}]

    def changing(self: CandidateSearch, *arguments: Any) -> Any:
        searches[0] += 1
        if searches[0] == 3:
            cluster.add(more).close()
        return search(self, *arguments)

    monkeypatch.setattr(CandidateSearch, "search", changing)
    worker = cluster.search_worker(cluster.retriever()._scores)
    queries = [cluster.retriever().terms(topic.title) for topic in TOPICS[:6]]
    found = worker.search_each(queries, 20)
    with folder.add(more) as changed:
        expected = changed.retriever().retrieve(TOPICS[:6], 20)
        for (numbers, scores), ranking in zip(found, expected, strict=True):
            assert tuple(cluster.identifiers(numbers)) == ranking.ids
            assert scores.tolist() == ranking.scores.tolist()
    assert searches[0] == 12


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
