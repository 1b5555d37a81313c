"""Search on a cluster: candidates by an upper bound, exact scores by our own code, and a proof.

The engine returns the documents with the highest upper bounds, with the frequency of each term.
They form a small index, which the code that searches a folder scores, bit for bit. The first k are
proven when the k-th score is above the last candidate's bound; else more candidates are fetched.

Several topics share requests: one for the candidates of all (`_msearch`, which gives no scores of
named queries, which carry the frequencies of terms), and one for the frequencies of all candidates.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.collection_statistics import MOST_CLAUSES, ClusterPostings, TermCounts
from sicetnon.cluster.index_state import StoredState
from sicetnon.cluster.mapping import MOST_FREQUENT, length_field, live
from sicetnon.cluster.queries import (
    Query,
    UpperBound,
    frequencies_query,
    postings_for,
    script_bound,
    skipping_bound,
)
from sicetnon.cluster.responses import ClusterError, PartialResults
from sicetnon.cluster.transport import IndexClient
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import CountedLengths, Segment, counted_lengths
from sicetnon.jit import use_numpy
from sicetnon.retrieval.formulas import WindowPostings
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.postings import (
    NO_POSTINGS,
    CountedPostings,
    TermPostings,
    field_weights,
    merge_postings,
)
from sicetnon.retrieval.query_plan import Part
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import Scoring
from sicetnon.text.analysis import Analysis

_LOG = logging.getLogger("sicetnon.cluster")
_PAGE = 5_000
"""Results of a request; deeper ones come in pages of a point in time."""

_MOST_HITS = 10_000
"""Results of a request that the engine gives by default."""

_MOST_SKIPPING = 4_000
"""Candidates of a bound that skips documents; to fetch more takes longer than a script does."""

_GROWTH = 4
"""Factor by which the number of candidates grows when they are too few."""

_KEEP_ALIVE = "2m"
_NUMPY_POSTING_SECONDS = 500e-9
"""Seconds that the numpy twins take for a posting."""

Hits = list[dict[str, Any]]
WeightedTerms = Mapping[str, float]
TopDocs = tuple[NDArray[np.int64], NDArray[np.float64]]


class Snapshot:
    """An index after a change: what searches read of it.

    Attributes:
        client: Searches the engine's index.
        state: The state of the index.
        live: The query of the live documents.
        stem: Gives the stems of words; None if terms are stems.
    """

    def __init__(self, client: IndexClient, stored: StoredState, analysis: Analysis):
        self.client, self.state, self.analysis = client, stored.state, analysis
        self.folder, self.fields = client.connection.address, stored.state.fields
        self.segments: list[Any] = []
        self.document_count = stored.state.documents
        self.field_totals: NDArray[np.int64] = np.array(stored.state.field_totals, dtype=np.int64)
        self.live = live(stored.state.change, stored.state.pending)
        self.stem = analysis.analyzer().stem if analysis.forms else None
        self._counts = TermCounts(client, self.live, self.stem)

    @property
    def version(self) -> tuple[str, int]:
        """The engine's index and the number of the last change."""
        return self.client.index, self.state.change

    def with_partial(self, partial: PartialResults) -> Snapshot:
        """The index where results may lack shards; its statistics are not cached for later."""
        made = copy.copy(self)
        made._counts = self._counts.with_partial(partial)
        made.client = made._counts.client
        return made

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """The statistics of terms over weighted fields."""
        weights = field_weights(_as_index(self), fields)
        return ClusterPostings(
            self._counts, self.fields, weights, other_forms, self.document_count, self.field_totals
        )

    def fetch_statistics(self, scores: Sequence[Scoring], queries: Sequence[WeightedTerms]) -> None:
        """Fetch the statistics of all terms of queries at once."""
        terms = list(dict.fromkeys(term for query in queries for term in query))
        readers = [each for scoring in scores for each in postings_for(self, scoring)]
        if wanted := [query for each in readers for query in each.queries(terms).values()]:
            self._counts.fetch(wanted)

    def parts(self, scores: Sequence[Scoring], query: WeightedTerms) -> list[Part]:
        """Scores for a query, with statistics and constants."""
        return [score.bind(_as_index(self))(query) for score in scores]

    def candidates_body(
        self, query: Query | None, size: int, columns: Sequence[str] = ()
    ) -> dict[str, Any]:
        """A search for documents with some fields; id, number and lengths if none are named."""
        lengths = [length_field(field) for field in range(len(self.fields))]
        return {
            "size": size,
            "query": {"bool": {"must": [query], "filter": [self.live]}},
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": columns or ["id", "number", *lengths],
            "track_total_hits": False,
        }


def _as_index(index: Snapshot | _CandidateIndex) -> IndexReader:
    """An index for scoring, which reads only what these classes have."""
    return cast(IndexReader, index)


def _number_of(hit: Mapping[str, Any]) -> int:
    number: int = hit["fields"]["number"][0]
    return number


@dataclass(frozen=True)
class _CandidateSegment:
    """What scoring reads of a segment."""

    lengths: NDArray[np.int32]
    base: int = 0
    live: None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def lengths_of(self, fields: tuple[int, ...]) -> CountedLengths:
        """The lengths over some fields, and how often each occurs."""
        counted = counted_lengths([self.lengths[:, field] for field in fields], len(self))
        if counted is None:
            raise BrokenIndexError("the cluster gave a length that cannot be; verify the index")
        return counted


class _CandidatePostings:
    """Postings of the candidates, with statistics of the entire index."""

    def __init__(self, statistics: ClusterPostings, index: _CandidateIndex):
        self._statistics, self._index = statistics, index
        self.weights, self.collection = statistics.weights, statistics.collection

    def read(self, term: str) -> TermPostings:
        """The postings of a term."""
        forms = [(self._stored(form), weight) for form, weight in self._statistics.forms(term)]
        postings = NO_POSTINGS
        if len(forms) == 1:
            postings = forms[0][0]
        elif forms:
            postings = *merge_postings(forms), (1.0,)
        return CountedPostings(*self._statistics.statistics(term), postings)

    def _stored(self, form: str) -> WindowPostings:
        """The postings of a form, in the form of a segment."""
        columns = self._statistics.columns
        none = np.zeros(self._index.size, dtype=np.uint16)
        by_field = [
            self._index.frequencies.get((form, number), none) if weight else none
            for number, weight in enumerate(columns)
        ]
        frequencies = np.stack(by_field, axis=1)
        documents = np.flatnonzero(frequencies.any(axis=1)).astype(np.int32)
        frequencies = frequencies[documents]
        if len(set(columns)) == 1:
            sums = frequencies.sum(axis=1, dtype=np.int64, keepdims=True)
            return documents, np.minimum(sums, MOST_FREQUENT).astype(np.uint16), columns[:1]
        return documents, frequencies, columns


class _CandidateIndex:
    """Candidates in the order of their numbers, with the statistics of the index they are from.

    A document may be among the hits several times, with other frequencies. Frequencies of forms
    that are not among `leaves` are ignored.

    Attributes:
        numbers: Their numbers, int64, rising, shape (n,).
        ids: Their ids.
        frequencies: The frequency of each form in each field, uint16, shape (n,) each.
    """

    def __init__(self, index: Snapshot, hits: Hits, leaves: Mapping[tuple[str, int], str]):
        self._index = index
        self.folder, self.fields, self.analysis = index.folder, index.fields, index.analysis
        self.document_count, self.field_totals = index.document_count, index.field_totals
        rows: dict[int, int] = {}
        first_hits: Hits = []
        by_name: dict[str, tuple[list[int], list[int]]] = {
            name: ([], []) for name in leaves.values()
        }
        for hit in sorted(hits, key=_number_of):
            row = rows.setdefault(_number_of(hit), len(rows))
            if row == len(first_hits):
                first_hits.append(hit)
            for name, frequency in hit.get("matched_queries", {}).items():
                if name in by_name:
                    by_name[name][0].append(row)
                    by_name[name][1].append(int(frequency))
        self.size = len(rows)
        self.numbers = np.array(list(rows), dtype=np.int64)
        self.ids = [hit["fields"]["id"][0] for hit in first_hits]
        self.frequencies: dict[tuple[str, int], NDArray[np.uint16]] = {}
        for key, name in leaves.items():
            column = self.frequencies[key] = np.zeros(self.size, dtype=np.uint16)
            column[by_name[name][0]] = by_name[name][1]
        names = list(map(length_field, range(len(self.fields))))
        lengths = [[hit["fields"][name][0] for name in names] for hit in first_hits]
        rectangle = np.array(lengths, dtype=np.int32).reshape(-1, len(names))
        self.segments = [_CandidateSegment(rectangle)]

    def postings(self, fields: Mapping[str, float], other_forms: float) -> _CandidatePostings:
        """The postings of terms over weighted fields."""
        return _CandidatePostings(self._index.postings(fields, other_forms), self)

    def ranked(self, scores: Sequence[Scoring], query: WeightedTerms) -> TopDocs:
        """Rows of all candidates, best first, with their scores."""
        best = Best.of(max(self.size, 1))
        parts = [score.bind(_as_index(self))(query) for score in scores]
        postings = sum(clause.postings.size for part in parts for clause in part.clauses)
        loops = NUMPY if use_numpy(postings * _NUMPY_POSTING_SECONDS) else COMPILED
        if self.size and postings:
            search_exhaustively(parts, cast("list[Segment]", self.segments), best, loops)
        return best.ordered()


@dataclass
class Results:
    """The k best documents of a query, and the candidates that were fetched for them.

    Attributes:
        best: Numbers and scores, best first.
        candidates: Number of candidates, over all requests.
        way: The bound: `skipping` documents, by `script` over all documents with a term, or `all`
            of these were fetched; empty if no document has a term.
        ids: Ids of the last candidates by their numbers.
    """

    best: TopDocs = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0)))
    candidates: int = 0
    way: str = ""
    ids: dict[int, str] = field(default_factory=dict)


class CandidateSearch:
    """Searches an index after a change with some scores for the k best documents."""

    def __init__(self, index: Snapshot, scores: Sequence[Scoring], k: int):
        self._index, self._scores, self._k = index, scores, min(k, index.document_count)

    def search(self, query: WeightedTerms) -> Results:
        """The k best documents for weighted terms."""
        index, results = self._index, Results()
        parts = index.parts(self._scores, query)
        skipping = skipping_bound(index, self._scores, parts, query, index.stem)
        if self._k > 0 and skipping:
            results.way = "skipping"
            if self._prove(query, skipping, results, _MOST_SKIPPING):
                return results
        bound = script_bound(index, self._scores, parts, query)
        if self._k < 1 or not bound.leaves:
            return results
        results.way = "script" if bound.is_complete else "all"
        if bound.is_complete:
            self._prove(query, bound, results)
        else:
            self.rank(query, self._all(bound), bound.leaves, results)
        return results

    def rank(
        self,
        query: WeightedTerms,
        hits: Hits,
        leaves: Mapping[tuple[str, int], str],
        results: Results,
    ) -> None:
        """Add the k best of some candidates, by exact scores, to the results."""
        candidates = _CandidateIndex(self._index, hits, leaves)
        rows, scores = candidates.ranked(self._scores, query)
        results.best = candidates.numbers[rows[: self._k]], scores[: self._k]
        results.candidates += candidates.size
        results.ids = dict(zip(candidates.numbers.tolist(), candidates.ids, strict=True))

    def is_proven(self, results: Results, bound: UpperBound, last: Mapping[str, Any]) -> bool:
        """Whether the first k are proven: no other document can have a higher score."""
        score = last["_score"] if last.get("_score") is not None else last["sort"][0]
        scores = results.best[1]
        return len(scores) >= self._k and float(scores[self._k - 1]) > bound.limit(float(score))

    def frequencies(self, body: dict[str, Any]) -> Hits:
        """The hits of a search, with the frequencies of named queries."""
        params = {"include_named_queries_score": "true"}
        hits: Hits = self._index.client.search(body, params)["hits"]["hits"]
        return hits

    def _prove(
        self, query: WeightedTerms, bound: UpperBound, results: Results, most: float = math.inf
    ) -> bool:
        """Find the k best documents; returns whether a number of candidates is enough."""
        size = enough_candidates(self._k)
        while size <= most:
            hits = self._highest(bound, size)
            self.rank(query, hits, bound.leaves, results)
            if len(hits) < size or self.is_proven(results, bound, hits[-1]):
                return True
            _LOG.debug("%d candidates do not prove the first %d", size, self._k)
            size *= _GROWTH
        return False

    def _highest(self, bound: UpperBound, size: int) -> Hits:
        """The documents with the highest bounds, highest first."""
        body = self._index.candidates_body(bound.query, min(size, _PAGE))
        if size <= _PAGE:
            return self.frequencies(body)
        return list(self._pages(body, [{"_score": "desc"}, {"number": "asc"}], size))

    def _all(self, bound: UpperBound) -> Hits:
        """All documents with one of the terms, for models without a script and long queries."""
        hits: Hits = []
        leaves = list(bound.leaves.items())
        for first in range(0, len(leaves), MOST_CLAUSES):
            query = frequencies_query(dict(leaves[first : first + MOST_CLAUSES]))
            body = self._index.candidates_body(query, _PAGE)
            hits += self._pages(body, [{"number": "asc"}], self._index.document_count)
        return hits

    def _pages(self, body: dict[str, Any], order: list[Any], most: int) -> Iterator[dict[str, Any]]:
        """Hits of several requests, in order; each of them may wait as long as a search."""
        with self._index.client.connection.beyond_limits(), self._point_in_time() as point:
            after: dict[str, Any] = {}
            remaining = most
            while remaining > 0:
                size = min(body["size"], remaining)
                pit = {"id": point, "keep_alive": _KEEP_ALIVE}
                hits = self.frequencies(body | {"sort": order, "pit": pit, "size": size} | after)
                yield from hits
                remaining -= len(hits)
                if len(hits) < size:
                    return
                after = {"search_after": hits[-1]["sort"]}

    @contextlib.contextmanager
    def _point_in_time(self) -> Iterator[str]:
        client = self._index.client
        ask, time_limits = client.connection.ask, client.time_limits
        path, params = f"/{client.index}/_search/point_in_time", {"keep_alive": _KEEP_ALIVE}
        made = ask("POST", path, params=params, time_limits=time_limits)
        try:
            client.checked(made)
            yield made["pit_id"]
        finally:
            body = {"pit_id": [made["pit_id"]]}
            # it ends by itself, too
            with contextlib.suppress(ClusterError):
                ask("DELETE", "/_search/point_in_time", body, time_limits=time_limits)


def enough_candidates(k: int) -> int:
    """The number of candidates that mostly prove the first k."""
    return k + max(20, k // 8)


@dataclass(frozen=True)
class _BatchedTopic:
    """A topic of a batch: its number among the queries, and the bound of its candidates."""

    number: int
    bound: UpperBound
    way: str


class BatchSearch:
    """Searches an index after a change for several topics, which may share requests.

    After an error `finish` can be called again: the results so far are cached.
    """

    def __init__(
        self,
        index: Snapshot,
        scores: Sequence[Scoring],
        queries: Sequence[WeightedTerms],
        k: int,
        is_together: bool = True,
        most_clauses: int = MOST_CLAUSES,
    ):
        self.index, self._scores, self._queries = index, scores, queries
        self._alone = CandidateSearch(index, scores, k)
        self._k = min(k, index.document_count)
        self._size, self._most_clauses = enough_candidates(self._k), most_clauses
        # a response that may lack shards would lack other ones in the second request
        self._is_together = is_together and not index.client.partial.is_allowed
        self._results: dict[int, Results] = {}

    def finish(self) -> list[Results]:
        """The k best documents for each query.

        A topic has requests of its own if its model has no bound, if its candidates do not prove
        its first k, and if the engine refused its search of the request.
        """
        if self._is_together and self._k > 0:
            batch = self._batch()
            if len(batch) > 1:
                self._is_together = False  # the topics that remain have requests of their own
                with self.index.client.connection.sharing(len(batch)):
                    self._search_together(batch)
        for number, query in enumerate(self._queries):
            if number not in self._results:
                self._results[number] = self._alone.search(query)
        return [self._results[number] for number in range(len(self._queries))]

    def _batch(self) -> list[_BatchedTopic]:
        """The topics whose terms and candidates fit together into a request."""
        index, batch = self.index, list[_BatchedTopic]()
        leaves: set[tuple[str, int]] = set()
        most = _MOST_HITS // self._size
        for number, query in enumerate(self._queries[:most]):
            parts = index.parts(self._scores, query)
            bound = skipping_bound(index, self._scores, parts, query, index.stem)
            way = "skipping"
            if not bound:
                bound, way = script_bound(index, self._scores, parts, query), "script"
            fits = len(leaves | bound.leaves.keys()) <= self._most_clauses
            if bound.is_complete and bound.leaves and fits:
                leaves |= bound.leaves.keys()
                batch.append(_BatchedTopic(number, bound, way))
        return batch

    def _search_together(self, batch: Sequence[_BatchedTopic]) -> None:
        """Cache the results of the topics whose candidates prove them."""
        candidates = self._candidates([topic.bound for topic in batch])
        forms = dict.fromkeys(leaf for topic in batch for leaf in topic.bound.leaves)
        names = {leaf: str(number) for number, leaf in enumerate(forms)}
        complete = self._with_frequencies(candidates, names)
        for topic, hits in zip(batch, candidates, strict=True):
            if hits is None or not all(_number_of(hit) in complete for hit in hits):
                continue
            results = Results(way=topic.way)
            leaves = {leaf: names[leaf] for leaf in topic.bound.leaves}
            first_hits = [complete[_number_of(hit)] for hit in hits]
            self._alone.rank(self._queries[topic.number], first_hits, leaves, results)
            if len(hits) < self._size or self._alone.is_proven(results, topic.bound, hits[-1]):
                self._results[topic.number] = results
        _LOG.debug("%d topics asked together, %d answered", len(batch), len(self._results))

    def _candidates(self, bounds: Sequence[UpperBound]) -> list[Hits | None]:
        """The documents with the highest bounds for each topic, or None if this was refused."""
        bodies = [
            self.index.candidates_body(bound.without_frequencies, self._size, ["number"])
            for bound in bounds
        ]
        candidates: list[Hits | None] = []
        for response in self.index.client.search_several(bodies):
            if not isinstance(response, ClusterError):
                candidates.append(response["hits"]["hits"])
            elif response.may_pass:
                candidates.append(None)
            else:
                raise response
        return candidates

    def _with_frequencies(
        self, candidates: Sequence[Hits | None], names: Mapping[tuple[str, int], str]
    ) -> dict[int, dict[str, Any]]:
        """The candidates of all topics by their numbers, with the frequencies of all forms."""
        numbers = sorted({_number_of(hit) for hits in candidates for hit in hits or ()})
        if not numbers:
            return {}
        # a filter: scores are of no use here, and the engine does not change names in filters
        named = {"constant_score": {"filter": frequencies_query(names)}}
        query = {"bool": {"filter": [{"terms": {"number": numbers}}], "should": [named]}}
        body = self.index.candidates_body(query, len(numbers)) | {"sort": ["_doc"]}
        return {_number_of(hit): hit for hit in self._alone.frequencies(body)}
