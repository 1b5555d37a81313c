"""Search on a cluster: candidates by a bound, exact scores by our own code, and a proof."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.candidates import CandidateIndex, CandidateTable, table_of
from sicetnon.cluster.connection import ClusterError, Connection, TimeLimits
from sicetnon.cluster.layout import length_field
from sicetnon.cluster.queries import Bound, bound_of, frequencies_query
from sicetnon.cluster.skipping import skipping_bound
from sicetnon.cluster.terms import MOST_CLAUSES
from sicetnon.cluster.view import View
from sicetnon.retrieval.scoring import Scoring

_LOG = logging.getLogger("sicetnon.cluster")
_PAGE = 5_000
"""Results of a request; deeper ones come in pages of a point in time."""

MOST_HITS = 10_000
"""Results of a request that the engine gives by default."""

_MOST_SKIPPING = 4_000
"""Candidates of a bound that skips documents; to fetch more takes longer than a script does."""

_MORE = 4
"""Factor by which the number of candidates grows when they are too few."""

_KEEP = "2m"
Hits = list[dict[str, Any]]
Found = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass
class Fetched:
    """The candidates that a search fetched.

    Attributes:
        candidates: Number of candidates, over all requests.
        way: How they were found: `skipping` documents, by `script` over all documents with a term,
            or `all` of these were fetched; empty where no document has a term.
        ids: Ids of the last candidates by their numbers.
    """

    candidates: int = 0
    way: str = ""
    ids: dict[int, str] = field(default_factory=dict)


class CandidateSearch:
    """Searches an index on a cluster as it is after a change.

    Args:
        connection: The cluster.
        view: The index after the change.
        time_limits: Time limits of a search and of its retries.
    """

    def __init__(self, connection: Connection, view: View, time_limits: TimeLimits):
        self._connection, self._view, self._time_limits = connection, view, time_limits

    def search(
        self, scores: Sequence[Scoring], query: Mapping[str, float], k: int
    ) -> tuple[Found, Fetched]:
        """The k best documents for weighted terms, and what was fetched for them.

        Args:
            scores: The parts of the score.
            query: Terms with their weights.
            k: Number of documents.
        """
        parts = [score.bind(self._view.as_index())(query) for score in scores]
        fetched, k = Fetched(), min(k, self._view.document_count)
        skipping = skipping_bound(self._view, scores, parts, query, self._view.stem)
        if k > 0 and skipping:
            fetched.way = "skipping"
            found = self._proven(scores, query, k, skipping, fetched, _MOST_SKIPPING)
            if found:
                return found, fetched
        bound = bound_of(self._view, scores, parts, query)
        if k < 1 or not bound.leaves:
            return (np.empty(0, np.int64), np.empty(0)), fetched
        if bound.is_complete:
            fetched.way = "script"
            found = self._proven(scores, query, k, bound, fetched)
            assert found
            return found, fetched
        fetched.way = "all"
        return ranked(self._view, scores, query, k, self._all(bound), fetched), fetched

    def _proven(
        self,
        scores: Sequence[Scoring],
        query: Mapping[str, float],
        k: int,
        bound: Bound,
        fetched: Fetched,
        most: float = math.inf,
    ) -> Found | None:
        """The k best documents among so many candidates that no other can be one of them.

        None is given where a number of candidates is not enough.
        """
        size = enough_candidates(k)
        while size <= most:
            hits = self._hits(bound, size)
            table = table_of(hits, bound.leaves, self._width)
            found = ranked(self._view, scores, query, k, table, fetched)
            if len(hits) < size or is_proven(found[1], k, bound, hits[-1]):
                return found
            _LOG.debug("%d candidates do not prove the first %d", size, k)
            size *= _MORE
        return None

    @property
    def _width(self) -> int:
        return len(self._view.fields)

    def _hits(self, bound: Bound, size: int) -> Hits:
        """The documents with the highest bounds, highest first."""
        if size <= _PAGE:
            body = candidates_body(self._view, bound.query, size)
            return self.hits_of(f"/{self._view.physical}/_search", body)
        order: list[Any] = [{"_score": "desc"}, {"number": "asc"}]
        return list(self._pages(candidates_body(self._view, bound.query, _PAGE), order, size))

    def _all(self, bound: Bound) -> CandidateTable:
        """All documents with one of the terms, for models without a script and long queries."""
        hits: Hits = []
        leaves = list(bound.leaves.items())
        for first in range(0, len(leaves), MOST_CLAUSES):
            query = frequencies_query(dict(leaves[first : first + MOST_CLAUSES]))
            body = candidates_body(self._view, query, _PAGE)
            hits += self._pages(body, [{"number": "asc"}], self._view.document_count)
        return table_of(hits, bound.leaves, self._width)

    def _pages(self, body: dict[str, Any], order: list[Any], most: int) -> Iterator[dict[str, Any]]:
        """Hits of several requests, in order; each of them may wait as long as a search."""
        with self._connection.beyond_limits(), self._point_in_time() as point:
            after: list[Any] | None = None
            taken = 0
            while taken < most:
                asked = body | {"sort": order, "pit": {"id": point, "keep_alive": _KEEP}}
                asked["size"] = min(body["size"], most - taken)
                if after is not None:
                    asked["search_after"] = after
                hits = self.hits_of("/_search", asked)
                yield from hits
                taken += len(hits)
                if len(hits) < asked["size"]:
                    return
                after = hits[-1]["sort"]

    def hits_of(self, path: str, body: dict[str, Any]) -> Hits:
        """The hits of a search, with the frequencies of named queries."""
        params = {"include_named_queries_score": "true"}
        if path != "/_search":
            params |= self._view.tolerance.params
        answer = self._connection.ask(
            "POST", path, body, params=params, time_limits=self._time_limits
        )
        hits: Hits = self._checked(answer)["hits"]["hits"]
        return hits

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        return self._view.tolerance.checked(answer, self._connection.address)

    @contextlib.contextmanager
    def _point_in_time(self) -> Iterator[str]:
        path = f"/{self._view.physical}/_search/point_in_time"
        params = {"keep_alive": _KEEP}
        made = self._connection.ask("POST", path, params=params, time_limits=self._time_limits)
        try:
            self._checked(made)
            yield made["pit_id"]
        finally:
            body = {"pit_id": [made["pit_id"]]}
            # it ends by itself, too
            with contextlib.suppress(ClusterError):
                self._connection.ask(
                    "DELETE", "/_search/point_in_time", body, time_limits=self._time_limits
                )


def enough_candidates(k: int) -> int:
    """The number of candidates that mostly prove the first k."""
    return k + max(20, k // 8)


def candidates_body(
    view: View, query: dict[str, Any] | None, size: int, columns: Sequence[str] = ()
) -> dict[str, Any]:
    """The body of a search for candidates.

    Args:
        view: The index after a change.
        query: Finds and orders them.
        size: The most candidates.
        columns: The fields to return; id, number and lengths when left out.
    """
    lengths = [length_field(field) for field in range(len(view.fields))]
    return {
        "size": size,
        "query": {"bool": {"must": [query], "filter": [view.live]}},
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": columns or ["id", "number", *lengths],
        "track_total_hits": False,
    }


def ranked(
    view: View,
    scores: Sequence[Scoring],
    query: Mapping[str, float],
    k: int,
    table: CandidateTable,
    fetched: Fetched,
) -> Found:
    """The k best candidates, by exact scores; notes in `fetched` what was fetched."""
    places, found = CandidateIndex(view, table).scored(scores, query)
    numbers = table.numbers[places[:k]]
    fetched.candidates += len(table)
    fetched.ids = dict(zip(table.numbers.tolist(), table.ids, strict=True))
    return numbers, found[:k]


def is_proven(scores: NDArray[np.float64], k: int, bound: Bound, last: Mapping[str, Any]) -> bool:
    """Whether the first k are proven: no other document can have a higher score."""
    score = last["_score"] if last.get("_score") is not None else last["sort"][0]
    return len(scores) >= k and float(scores[k - 1]) > bound.limit(float(score))
