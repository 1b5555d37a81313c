"""Several topics in one request: the candidates of all, then their frequencies.

A search of several topics in one request (`_msearch`) gives no scores of named queries, which carry
the frequencies of terms. A second request asks for these, for the candidates of all topics.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sicetnon.cluster.candidates import number_of, table_of
from sicetnon.cluster.connection import ClusterError, Connection, TimeLimits
from sicetnon.cluster.multi_search import search_several
from sicetnon.cluster.queries import Bound, bound_of, frequencies_query
from sicetnon.cluster.searching import (
    MOST_HITS,
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
from sicetnon.cluster.terms import MOST_CLAUSES
from sicetnon.cluster.view import View
from sicetnon.retrieval.scoring import Scoring

_LOG = logging.getLogger("sicetnon.cluster")


@dataclass(frozen=True)
class _Asked:
    """A topic whose candidates are asked for.

    Attributes:
        place: Its place among the queries.
        bound: Finds the candidates.
        way: `skipping` or `script`; see `Fetched`.
    """

    place: int
    bound: Bound
    way: str


class TopicsSearch:
    """Searches an index on a cluster, as it is after a change, for several topics.

    After an error `finish` can be called again: what was found is kept.

    Args:
        connection: The cluster.
        view: The index after the change.
        time_limits: Time limits of a request and of its retries.
        scores: The parts of the score.
        queries: Terms with their weights, one mapping for each topic.
        k: Number of documents.
        is_together: Whether topics may be asked together.
        most_clauses: Clauses of a query.
    """

    def __init__(
        self,
        connection: Connection,
        view: View,
        time_limits: TimeLimits,
        scores: Sequence[Scoring],
        queries: Sequence[Mapping[str, float]],
        k: int,
        is_together: bool = True,
        most_clauses: int = MOST_CLAUSES,
    ):
        self._connection, self.view, self._time_limits = connection, view, time_limits
        self._alone = CandidateSearch(connection, view, time_limits)
        self._scores, self._queries, self._k = scores, queries, min(k, view.document_count)
        self._most_clauses = most_clauses
        # an answer that may lack shards would lack other ones in the second request
        self._is_together = is_together and not view.tolerance.is_partial
        self._found: dict[int, tuple[Found, Fetched]] = {}

    def finish(self) -> list[tuple[Found, Fetched]]:
        """The k best documents for each query, and what was fetched for them.

        A topic has requests of its own where its model has no bound, where its candidates do not
        prove its first k, and where the engine refused its part of the request.

        Raises:
            ClusterError: There is no usable answer.
        """
        if self._is_together and self._k > 0:
            asked = self._asked()
            if len(asked) > 1:
                self._is_together = False  # what is left then is asked for alone
                with self._connection.sharing(len(asked)):
                    self._search_together(asked)
        for place, query in enumerate(self._queries):
            if place not in self._found:
                self._found[place] = self._alone.search(self._scores, query, self._k)
        return [self._found[place] for place in range(len(self._queries))]

    def _asked(self) -> list[_Asked]:
        """The topics that can be asked together: their terms and candidates fit into a request."""
        found: list[_Asked] = []
        leaves: set[tuple[str, int]] = set()
        most = MOST_HITS // enough_candidates(self._k)
        for place, query in enumerate(self._queries[:most]):
            parts = [score.bind(self.view.as_index())(query) for score in self._scores]
            bound = skipping_bound(self.view, self._scores, parts, query, self.view.stem)
            way = "skipping"
            if not bound:
                bound, way = bound_of(self.view, self._scores, parts, query), "script"
            fits = len(leaves | bound.leaves.keys()) <= self._most_clauses
            if bound.is_complete and bound.leaves and fits:
                leaves |= bound.leaves.keys()
                found.append(_Asked(place, bound, way))
        return found

    def _search_together(self, asked: Sequence[_Asked]) -> None:
        """Keep what is found for the topics whose candidates prove it."""
        size = enough_candidates(self._k)
        firsts = self._candidates([each.bound for each in asked], size)
        forms = dict.fromkeys(leaf for each in asked for leaf in each.bound.leaves)
        names = {leaf: str(place) for place, leaf in enumerate(forms)}
        known = self._with_frequencies(firsts, names)
        for each, hits in zip(asked, firsts, strict=True):
            if hits is None or not all(number_of(hit) in known for hit in hits):
                continue
            whole = [known[number_of(hit)] for hit in hits]
            leaves = {leaf: names[leaf] for leaf in each.bound.leaves}
            fetched = Fetched(way=each.way)
            table = table_of(whole, leaves, len(self.view.fields))
            query = self._queries[each.place]
            best = ranked(self.view, self._scores, query, self._k, table, fetched)
            if len(hits) < size or is_proven(best[1], self._k, each.bound, hits[-1]):
                self._found[each.place] = best, fetched
        _LOG.debug("%d topics asked together, %d answered", len(asked), len(self._found))

    def _candidates(self, bounds: Sequence[Bound], size: int) -> list[Hits | None]:
        """The documents with the highest bounds for each topic; None where this was refused."""
        bodies = [
            candidates_body(self.view, bound.without_frequencies, size, ["number"])
            for bound in bounds
        ]
        found: list[Hits | None] = []
        for answer in search_several(
            self._connection, self.view.physical, bodies, self._time_limits, self.view.tolerance
        ):
            if not isinstance(answer, ClusterError):
                found.append(answer["hits"]["hits"])
            elif answer.may_pass:
                found.append(None)
            else:
                raise answer
        return found

    def _with_frequencies(
        self, firsts: Sequence[Hits | None], names: Mapping[tuple[str, int], str]
    ) -> dict[int, dict[str, Any]]:
        """The candidates of all topics by their numbers, with the frequencies of all forms."""
        numbers = sorted({number_of(hit) for hits in firsts for hit in hits or ()})
        if not numbers:
            return {}
        # as a filter: scores are of no use here, and the engine leaves names in filters as they are
        named = {"constant_score": {"filter": frequencies_query(names)}}
        wanted = {"bool": {"filter": [{"terms": {"number": numbers}}], "should": [named]}}
        body = candidates_body(self.view, wanted, len(numbers)) | {"sort": ["_doc"]}
        hits = self._alone.hits_of(f"/{self.view.physical}/_search", body)
        return {number_of(hit): hit for hit in hits}
