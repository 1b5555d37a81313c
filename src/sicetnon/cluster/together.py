"""Several topics in one request: the candidates of all, then the frequencies of all.

`_msearch` takes many searches in one request, but gives no scores of named queries, which carry the
frequencies of terms. A second request asks for these, for the candidates of all topics together.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sicetnon.cluster.candidates import table_of
from sicetnon.cluster.connection import Connection, TimeLimits, lines
from sicetnon.cluster.queries import Bound, bound_of, frequencies_query
from sicetnon.cluster.searching import (
    CandidateSearch,
    Fetched,
    Found,
    Hits,
    candidates_body,
    enough_candidates,
    is_proven,
    ranked,
)
from sicetnon.cluster.skipping import skipping_bound
from sicetnon.cluster.terms import MOST_CLAUSES, checked
from sicetnon.cluster.view import View
from sicetnon.retrieval.scoring import Scoring

_LOG = logging.getLogger("sicetnon.cluster")

MOST_TOGETHER = 100
"""Documents for each topic; for more of them, a request for each topic is faster."""


@dataclass(frozen=True)
class _Asked:
    """A topic whose candidates are asked for.

    Attributes:
        place: Its place among the queries.
        query: Terms with their weights.
        bound: Finds the candidates.
        way: How it finds them; see `Fetched`.
    """

    place: int
    query: Mapping[str, float]
    bound: Bound
    way: str


class TopicsSearch:
    """Searches an index on a cluster, as it is after a change, for several topics at once.

    Args:
        connection: The cluster.
        view: The index after the change.
        time_limits: Time limits of a request and of its retries.
    """

    def __init__(self, connection: Connection, view: View, time_limits: TimeLimits):
        self._connection, self._view, self._time_limits = connection, view, time_limits

    def search(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]], k: int
    ) -> Iterator[tuple[Found, Fetched]]:
        """The k best documents for each query in order, and what was fetched for them.

        A topic has requests of its own where its model has no bound, where its candidates prove
        nothing, and where answers may lack shards.

        Args:
            scores: The parts of the score.
            queries: Terms with their weights, one mapping for each topic.
            k: Number of documents; of more than `MOST_TOGETHER`, topics are not asked together.
        """
        alone = CandidateSearch(self._connection, self._view, self._time_limits)
        is_whole = not self._view.tolerance.is_partial
        asked = self._asked(scores, queries) if 0 < k <= MOST_TOGETHER and is_whole else []
        found = self._together(scores, asked, k) if len(asked) > 1 else {}
        for place, query in enumerate(queries):
            yield found.get(place) or alone.search(scores, query, k)

    def _together(
        self, scores: Sequence[Scoring], asked: Sequence[_Asked], k: int
    ) -> dict[int, tuple[Found, Fetched]]:
        """What is found by the places of the topics whose candidates prove it."""
        k = min(k, self._view.document_count)
        size = enough_candidates(k)
        all_hits = self._candidates([each.bound for each in asked], size)
        matched, names = self._frequencies(asked, all_hits)
        found = {}
        for each, hits in zip(asked, all_hits, strict=True):
            leaves = {leaf: names[leaf] for leaf in each.bound.leaves}
            known = _with_frequencies(hits, matched, set(leaves.values()))
            if known is None:
                continue
            fetched = Fetched(way=each.way)
            table = table_of(known, leaves, len(self._view.fields))
            best = ranked(self._view, scores, each.query, k, table, fetched)
            if len(hits) < size or is_proven(best[1], k, each.bound, hits[-1]):
                found[each.place] = best, fetched
        _LOG.debug("%d topics asked together, %d answered", len(asked), len(found))
        return found

    def _asked(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> list[_Asked]:
        """The topics that can be asked together: their terms fit into one query."""
        found: list[_Asked] = []
        leaves: set[tuple[str, int]] = set()
        for place, query in enumerate(queries):
            bound, way = self._bound(scores, query)
            fits = len(leaves | bound.leaves.keys()) <= MOST_CLAUSES
            if bound.is_complete and bound.leaves and fits:
                leaves |= bound.leaves.keys()
                found.append(_Asked(place, query, bound, way))
        return found

    def _bound(self, scores: Sequence[Scoring], query: Mapping[str, float]) -> tuple[Bound, str]:
        """The query for candidates, and the way in which it finds them."""
        parts = [score.bind(self._view.as_index())(query) for score in scores]
        skipping = skipping_bound(self._view, scores, parts, query, self._view.stem)
        if skipping:
            return skipping, "skipping"
        return bound_of(self._view, scores, parts, query), "script"

    def _candidates(self, bounds: Iterable[Bound], size: int) -> list[Hits]:
        """The documents with the highest bounds for each topic, highest first."""
        header = {"index": self._view.physical, "allow_partial_search_results": False}
        bodies = [candidates_body(self._view, bound.without_frequencies, size) for bound in bounds]
        data = lines([part for body in bodies for part in (header, body)])
        answer = self._connection.ask("POST", "/_msearch", data, time_limits=self._time_limits)
        return [
            checked(each, self._connection, self._view.tolerance)["hits"]["hits"]
            for each in answer["responses"]
        ]

    def _frequencies(
        self, asked: Sequence[_Asked], all_hits: Sequence[Hits]
    ) -> tuple[dict[int, dict[str, float]], dict[tuple[str, int], str]]:
        """The frequencies of all candidates by their numbers, and the names of the forms there."""
        forms = dict.fromkeys(leaf for each in asked for leaf in each.bound.leaves)
        names = {leaf: str(place) for place, leaf in enumerate(forms)}
        numbers = sorted({_number(hit) for hits in all_hits for hit in hits})
        if not numbers:
            return {}, names
        body = {
            "size": len(numbers),
            "query": {
                "bool": {
                    "filter": [{"terms": {"number": numbers}}, self._view.live],
                    "should": [frequencies_query(names)],
                }
            },
            "sort": ["_doc"],
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["number"],
            "track_total_hits": False,
        }
        answer = self._connection.ask(
            "POST", f"/{self._view.physical}/_search", body,
            params={"include_named_queries_score": "true"} | self._view.tolerance.params,
            time_limits=self._time_limits,
        )  # fmt: skip
        hits = self._view.tolerance.checked(answer, self._connection.address)["hits"]["hits"]
        return {_number(hit): hit.get("matched_queries", {}) for hit in hits}, names


def _with_frequencies(
    hits: Hits, matched: Mapping[int, Mapping[str, float]], names: set[str]
) -> Hits | None:
    """The candidates of a topic with the frequencies of its terms; None where one has gone."""
    found: Hits = []
    for hit in hits:
        known = matched.get(_number(hit))
        if known is None:
            return None
        own = {name: frequency for name, frequency in known.items() if name in names}
        found.append(hit | {"matched_queries": own})
    return found


def _number(hit: Mapping[str, Any]) -> int:
    number: int = hit["fields"]["number"][0]
    return number
