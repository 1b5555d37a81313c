"""Statistics of terms: what a busy cluster answered is not asked again."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from sicetnon.cluster.collection_statistics import TermCounts, TermQuery
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.transport import Connection, IndexClient, TimeLimits

SHARDS = {"_shards": {"total": 1, "successful": 1, "failed": 0}}
FOUND = {
    **SHARDS,
    "hits": {"total": {"value": 3}, "hits": []},
    "aggregations": {"sum": {"value": 7}},
}
BUSY = {"error": {"type": "search_phase_execution_exception", "reason": "queue"}, "status": 429}
BROKEN = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}


class Cluster:
    """Answers each search of a request in turn.

    Attributes:
        answers: The answers; a search behind the last of them finds something.
        asked: Number of searches in each request.
    """

    address = "cluster"

    def __init__(self, *answers: dict[str, Any]):
        self.answers, self.asked = list(answers), list[int]()

    def ask(self, method: str, path: str, data: bytes, **_: object) -> dict[str, Any]:
        """See `Connection.ask`."""
        searches = [json.loads(line) for line in data.splitlines()[1::2]]
        self.asked.append(len(searches))
        return {"responses": [self.answers.pop(0) if self.answers else FOUND for _ in searches]}


def counts(cluster: Cluster) -> TermCounts:
    """Statistics from a cluster."""
    connection = cast(Connection, cluster)
    client = IndexClient(connection, "index", TimeLimits(1.0, 1.0))
    return TermCounts(client, {"match_all": {}}, None)


def test_only_what_a_busy_cluster_refused_is_asked_again() -> None:
    cluster = Cluster(FOUND, BUSY, FOUND, BUSY)
    found = counts(cluster)
    wanted = [TermQuery("ban", (), (0,)), TermQuery("tax", (), (0,))]
    with pytest.raises(ClusterError, match="queue") as error:
        found.fetch(wanted)
    assert error.value.may_pass
    found.fetch(wanted)
    assert cluster.asked == [4, 2]
    assert [found.documents(each) for each in wanted] == [3, 3]
    assert [found.occurrences(each, 0) for each in wanted] == [(7, 0), (7, 0)]
    assert cluster.asked == [4, 2]


def test_a_sum_counts_when_all_of_its_parts_are_there() -> None:
    others = tuple(f"form-{number}" for number in range(1000))
    wanted = TermQuery("ban", others, (0,))
    cluster = Cluster(FOUND, FOUND, FOUND, BUSY)
    found = counts(cluster)
    with pytest.raises(ClusterError):
        found.fetch([wanted])
    # the other forms take two searches, and both are asked again
    assert found.occurrences(wanted, 0) == (7, 14)
    assert cluster.asked == [4, 2]


def test_an_error_that_does_not_pass_is_the_one_that_is_told() -> None:
    with pytest.raises(ClusterError, match="no such index") as error:
        counts(Cluster(BUSY, BROKEN)).fetch([TermQuery("ban", (), (0,))])
    assert error.value.status == 404
