"""Search on a cluster: candidates by an upper bound, exact scores by our own code, and a proof."""

from __future__ import annotations

import contextlib
import copy
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.index_state import Stored
from sicetnon.cluster.mapping import MOST_FREQUENT, length_field, live
from sicetnon.cluster.queries import Bound, bound_of, frequencies_query, readers_of, skipping_bound
from sicetnon.cluster.responses import WHOLE, ClusterError, Tolerance
from sicetnon.cluster.statistics import MOST_CLAUSES, ClusterPostings, TermCounts, WantedTerm
from sicetnon.cluster.transport import Connection, TimeLimits, search_several
from sicetnon.compiled import is_small
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import CountedLengths, Segment, counted_lengths
from sicetnon.retrieval import kernels, plain
from sicetnon.retrieval.exhaustive import Best, search_exhaustively
from sicetnon.retrieval.formulas import WindowPostings
from sicetnon.retrieval.postings import field_weights, merge_postings
from sicetnon.retrieval.scoring import Scoring
from sicetnon.retrieval.term_postings import NO_POSTINGS, CountedPostings, TermPostings
from sicetnon.text.analysis import Analysis


class View:
    """An index after a change.

    Attributes:
        physical: The engine's index.
        state: Its state.
        folder: The address, for messages.
        fields: Names of the indexed fields.
        analysis: Turns texts into terms.
        segments: None, since the postings stay on the cluster.
        document_count: Number of documents.
        field_totals: Terms of all documents by field, int64, shape (fields,).
        live: The query of the live documents.
        stem: Gives the stems of words; None where terms are stems.
        tolerance: Whether answers may lack shards.
    """

    tolerance = WHOLE

    def __init__(
        self,
        connection: Connection,
        physical: str,
        stored: Stored,
        analysis: Analysis,
        time_limits: TimeLimits,
    ):
        self.physical, self.state, self.analysis = physical, stored.state, analysis
        self.folder, self.fields = connection.address, stored.state.fields
        self.segments: list[Any] = []
        self.document_count = stored.state.documents
        self.field_totals: NDArray[np.int64] = np.array(stored.state.field_totals, dtype=np.int64)
        self.live = live(stored.state.change, stored.state.pending)
        self.stem = analysis.analyzer().stem if analysis.forms else None
        self._counts = TermCounts(connection, physical, self.live, self.stem, time_limits)

    @property
    def version(self) -> tuple[str, int]:
        """The engine's index and the number of the last change."""
        return self.physical, self.state.change

    def tolerating(self, tolerance: Tolerance) -> View:
        """The index where answers may lack shards; what they tell is not kept for later ones."""
        made = copy.copy(self)
        made.tolerance = tolerance
        made._counts = self._counts.tolerating(tolerance)
        return made

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """See `HasPostings.postings`."""
        weights = field_weights(self.as_index(), fields)
        return ClusterPostings(
            self._counts, self.fields, weights, other_forms, self.document_count, self.field_totals
        )

    def fetch_statistics(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> None:
        """Fetch the statistics of all terms of queries at once."""
        terms = list(dict.fromkeys(term for query in queries for term in query))
        wanted: list[WantedTerm] = []
        for scoring in scores:
            for reader in readers_of(self, scoring):
                wanted += reader.wanted(terms).values()
        if wanted:
            self._counts.fetch(wanted)

    def as_index(self) -> IndexReader:
        """The view where an index is expected, for statistics alone."""
        return cast(IndexReader, self)


_NUMPY_POSTING_SECONDS = 500e-9
"""Seconds that `plain` takes for a posting."""


@dataclass(frozen=True)
class CandidateTable:
    """Documents that may be among the best, in the order of their numbers.

    Attributes:
        numbers: Their numbers, int64, rising, shape (n,).
        ids: Their ids.
        lengths: Their lengths, int32, shape (n, fields).
        frequencies: The frequency of each form in each field, uint16, shape (n,) each.
    """

    numbers: NDArray[np.int64]
    ids: tuple[str, ...]
    lengths: NDArray[np.int32]
    frequencies: Mapping[tuple[str, int], NDArray[np.uint16]]

    def __len__(self) -> int:
        return len(self.ids)


def table_of(
    hits: Sequence[Mapping[str, Any]], leaves: Mapping[tuple[str, int], str], fields: int
) -> CandidateTable:
    """The candidates in the hits of a search.

    Args:
        hits: The hits; a document may be among them several times, with other frequencies, and
            have frequencies of forms that are not among `leaves`.
        leaves: The name of the query of each form in each field.
        fields: Number of fields.
    """
    rows: dict[int, int] = {}
    first_hits: list[Mapping[str, Any]] = []
    by_name: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in leaves.values()}
    for hit in sorted(hits, key=number_of):
        row = rows.setdefault(number_of(hit), len(rows))
        if row == len(first_hits):
            first_hits.append(hit)
        for name, frequency in hit.get("matched_queries", {}).items():
            if name in by_name:
                places, values = by_name[name]
                places.append(row)
                values.append(int(frequency))
    frequencies = {}
    for key, name in leaves.items():
        column = np.zeros(len(rows), dtype=np.uint16)
        places, values = by_name[name]
        column[places] = values
        frequencies[key] = column
    lengths = [[hit["fields"][length_field(f)][0] for f in range(fields)] for hit in first_hits]
    return CandidateTable(
        np.array(list(rows), dtype=np.int64),
        tuple(hit["fields"]["id"][0] for hit in first_hits),
        np.array(lengths, dtype=np.int32).reshape(-1, fields),
        frequencies,
    )


def number_of(hit: Mapping[str, Any]) -> int:
    """The number of the document of a hit."""
    number: int = hit["fields"]["number"][0]
    return number


@dataclass(frozen=True)
class _CandidateSegment:
    """The part of a segment's attributes that scoring reads."""

    lengths: NDArray[np.int32]
    base: int = 0
    live: None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def lengths_of(self, fields: tuple[int, ...]) -> CountedLengths:
        """See `Segment.lengths_of`."""
        counted = counted_lengths([self.lengths[:, field] for field in fields], len(self))
        if counted is None:
            raise BrokenIndexError("the cluster gave a length that cannot be; verify the index")
        return counted


class _CandidatePostings:
    """Postings of the candidates, with statistics of the whole index."""

    def __init__(self, reader: ClusterPostings, table: CandidateTable):
        self._reader, self._table = reader, table
        self.weights, self.collection = reader.weights, reader.collection

    def read(self, term: str) -> TermPostings:
        """See `Postings.read`."""
        forms = self._reader.forms(term)
        postings = self._postings(forms)
        statistics = self._reader.statistics(term)
        return CountedPostings(*statistics, postings)

    def _postings(self, forms: Sequence[tuple[str, float]]) -> WindowPostings:
        if len(forms) <= 1:
            return self._stored(forms[0][0]) if forms else NO_POSTINGS
        stored = [(self._stored(form), weight) for form, weight in forms]
        return *merge_postings(stored), (1.0,)

    def _stored(self, form: str) -> WindowPostings:
        """The postings of a form, as a segment has them."""
        columns = self._reader.columns
        none = np.zeros(len(self._table), dtype=np.uint16)
        found = [
            self._table.frequencies.get((form, place), none) if weight else none
            for place, weight in enumerate(columns)
        ]
        frequencies = np.stack(found, axis=1)
        documents = np.flatnonzero(frequencies.any(axis=1)).astype(np.int32)
        frequencies = frequencies[documents]
        if len(set(columns)) == 1:
            sums = frequencies.sum(axis=1, dtype=np.int64, keepdims=True)
            return documents, np.minimum(sums, MOST_FREQUENT).astype(np.uint16), columns[:1]
        return documents, frequencies, columns


class CandidateIndex:
    """An index of candidates, with the statistics of the index that they are from.

    Args:
        index: The index on the cluster.
        table: The candidates.
    """

    def __init__(self, index: Any, table: CandidateTable):
        self._index, self._table = index, table
        self.folder, self.fields, self.analysis = index.folder, index.fields, index.analysis
        self.document_count, self.field_totals = index.document_count, index.field_totals
        self.segments = [_CandidateSegment(table.lengths)]
        self.size = len(table)

    def postings(self, fields: Mapping[str, float], other_forms: float) -> _CandidatePostings:
        """See `HasPostings.postings`."""
        return _CandidatePostings(self._index.postings(fields, other_forms), self._table)

    def scored(
        self, scores: Sequence[Scoring], query: Mapping[str, float]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Places of all candidates in the table, best first, with their scores."""
        best = Best.of(max(len(self._table), 1))
        index = cast(IndexReader, self)
        parts = [score.bind(index)(query) for score in scores]
        postings = sum(clause.postings.size for part in parts for clause in part.clauses)
        loops: ModuleType = plain if is_small(postings * _NUMPY_POSTING_SECONDS) else kernels
        if len(self._table) and postings:
            segments = cast("list[Segment]", self.segments)
            search_exhaustively(parts, segments, best, loops)
        return best.ordered()


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
