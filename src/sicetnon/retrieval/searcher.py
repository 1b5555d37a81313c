"""Search a local index."""

from __future__ import annotations

import dataclasses
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_number, check_topics
from sicetnon.arrays import Reals
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.jit import use_numpy
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval import pruning, term_at_a_time
from sicetnon.retrieval.feedback import Feedback
from sicetnon.retrieval.formulas import FORMULAS
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.postings import ALL_LIVE, TermSource, postings_of
from sicetnon.retrieval.pruning import Bounds
from sicetnon.retrieval.query_plan import Clause, DocumentValues, OwnLoop, Part
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import FieldScore, Scoring
from sicetnon.retrieval.weighting import BM25

_POSTING_SECONDS = 500e-9
_RESULT_SECONDS = 200e-9
"""Seconds that numpy takes for a posting, and for a document found."""

_MOST_IN_BATCH = 8
"""Topics of a batch; where an index changes meanwhile, the batch is searched again."""


WINDOW = 1 << 15
"""Documents per window: their scores fit into a core's second cache. In windows that fit into the
first, too little of each list is read at a time to be fetched from memory ahead."""
_SAMPLED_FROM, _SAMPLED_FOR = 1 << 17, 200
_SLICE = 1 << 22
"""Documents whose bounds are added up at a time: the sums fit into a core's second cache, and take
no more memory for more documents."""
_BOUNDED_FROM, _BOUNDED_TERMS = 1 << 19, 16
"""Documents from which, and terms up to which, bounds of scores are used, for fewer results than
a sample is. They leave nothing out where a document holds many of the terms."""


class SearchWorker(Protocol):
    """Searches an index for one thread at a time.

    Attributes:
        statistics: Statistics of terms over all fields.
    """

    statistics: TermSource

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best documents for weighted terms: numbers and scores, best first."""


class BatchWorker(SearchWorker, Protocol):
    """A worker that takes several queries."""

    def search_each(
        self, queries: Sequence[Mapping[str, float]], k: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """The k best documents of each query; shared statistics are fetched once."""


@runtime_checkable
class SearchesItself(Protocol):
    """Protocol: an index with its own scorer (cluster).

    Attributes:
        concurrency: Number of topics that are searched at a time.
    """

    concurrency: int

    def search_worker(self, scores: Sequence[Scoring]) -> BatchWorker:
        """A worker for one thread."""

    def prepare_search(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> None:
        """Fetch at once what several queries need."""

    def searching(self, topics: int) -> AbstractContextManager[None]:
        """A block in which so many topics are searched at a time, and wait for one another."""


class _Worker:
    """The parts of the score for one thread."""

    def __init__(self, index: IndexReader, scores: Sequence[Scoring]):
        self._parts = [score.bind(index) for score in scores]
        self.statistics = postings_of(index, {})
        self._index = index

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best documents for weighted terms: numbers and scores, best first."""
        k = min(k, self._index.size)
        best = Best.of(max(k, 0))
        parts = [part(query) for part in self._parts]
        postings = sum([part.postings for part in parts])
        if k > 0 and postings:
            seconds = postings * _POSTING_SECONDS + k * _RESULT_SECONDS
            if use_numpy(seconds):
                search_exhaustively(parts, self._index.segments, best, NUMPY)
            elif can_tabulate(parts):
                search_tabulated(parts[0], self._index.segments, best)
            else:
                search_exhaustively(parts, self._index.segments, best, COMPILED)
        return best.ordered()


class LocalRetriever:
    """Ranks the documents of an index by a sum of scores.

    It finds every document with a term of the query. Of documents with equal scores the one that
    was indexed first stands first, so that a query has the same results always.

    Args:
        index: An opened index.
        scores: The parts of the score, which are added.
        feedback: Expands the query by terms of the documents that it finds first.
        threads: Number of topics searched at a time; one per core when left out.
    """

    def __init__(
        self,
        index: IndexReader,
        scores: Sequence[Scoring],
        feedback: Feedback | None = None,
        threads: int | None = None,
    ):
        self.index, self.feedback = index, feedback
        self.scores = tuple(scores)
        self._analyzer = index.analysis.analyzer()
        self._analyzer_lock = threading.Lock()
        own = index.concurrency if isinstance(index, SearchesItself) else os.cpu_count()
        self._threads = threads or own or 1
        self._workers: queue.SimpleQueue[SearchWorker] = queue.SimpleQueue()
        self._workers.put(self._new_worker())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is what it was made of; the index by its place."""
        return type(self), (self.index, self.scores, self.feedback, self._threads)

    @property
    def name(self) -> str:
        """The name of the retriever in tables, such as `BM25(k1=0.9,b=0.4)` or `DPH+RM3`."""
        models = [getattr(score, "model", score) for score in self.scores]
        parts = [*models, *([self.feedback] if self.feedback is not None else [])]
        return "+".join(map(_described, parts))

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic's title.

        Raises:
            UsageError: The topics are no list of topics with different numbers, or k is no whole
                number.
        """
        check_topics(topics)
        check_number(k, "k")
        if len(topics) == 1 or self._threads == 1:
            return [self._retrieve(topic, k) for topic in topics]
        if not isinstance(self.index, SearchesItself):
            return self._retrieve_each(topics, k)
        with self.index.searching(min(len(topics), self._threads)):
            queries = [self.terms(topic.title) for topic in topics]
            self.index.prepare_search(self.scores, queries)
            if self.feedback is None:
                return self._retrieve_batches(self.index, topics, queries, k)
            return self._retrieve_each(topics, k)

    def terms(self, text: str) -> dict[str, float]:
        """The terms of a text with their frequencies, in the order of the text."""
        # a Counter would take as long as the analysis of a question
        counts: dict[str, float] = {}
        with self._analyzer_lock:
            for term in self._analyzer.terms_of(text):
                counts[term] = counts.get(term, 0.0) + 1.0
        return counts

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best documents for weighted terms. May be called from several threads.

        Args:
            query: Terms, as the index's analysis makes them, with their weights.
            k: Number of documents.

        Returns:
            Document numbers and scores, best first, shape (n,) each.
        """
        self.index.check_sizes()
        worker = self._free_worker()
        try:
            return worker.search(query, k)
        finally:
            self._workers.put(worker)

    def retrieve_weighted(self, topic: Topic, query: Mapping[str, float], k: int) -> Ranking:
        """The k best documents for weighted terms, as the ranking of a topic."""
        numbers, scores = self.search(query, k)
        return Ranking(topic, tuple(self.index.identifiers(numbers)), scores)

    def _retrieve_batches(
        self,
        index: SearchesItself,
        topics: Sequence[Topic],
        queries: Sequence[Mapping[str, float]],
        k: int,
    ) -> list[Ranking]:
        """Search several topics in each thread, one after the other."""
        worker = index.search_worker(self.scores)
        size = min(max(len(topics) // self._threads, 1), _MOST_IN_BATCH)
        batches = [slice(first, first + size) for first in range(0, len(topics), size)]

        def rankings(batch: slice) -> list[Ranking]:
            found = worker.search_each(queries[batch], k)
            return [
                Ranking(topic, tuple(self.index.identifiers(numbers)), scores)
                for topic, (numbers, scores) in zip(topics[batch], found, strict=True)
            ]

        with ThreadPoolExecutor(self._threads) as pool:
            return [ranking for batch in pool.map(rankings, batches) for ranking in batch]

    def _retrieve_each(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(lambda topic: self._retrieve(topic, k), topics))

    def _retrieve(self, topic: Topic, k: int) -> Ranking:
        query: Mapping[str, float] = self.terms(topic.title)
        if self.feedback is not None and query:
            query = self._expanded(query, self.feedback)
        return self.retrieve_weighted(topic, query, k)

    def _expanded(self, query: Mapping[str, float], feedback: Feedback) -> dict[str, float]:
        first, scores = self.search(query, feedback.documents)
        texts = [record.default_text() for record in self.index.records_at(first)]
        documents = [self.terms(text) for text in texts]
        if isinstance(self.index, SearchesItself) and getattr(feedback, "needs_statistics", True):
            self.index.prepare_search([FieldScore(BM25())], documents)
        worker = self._free_worker()
        try:
            return feedback.expand(query, documents, scores, worker.statistics)
        finally:
            self._workers.put(worker)

    def _new_worker(self) -> SearchWorker:
        if isinstance(self.index, SearchesItself):
            return self.index.search_worker(self.scores)
        return _Worker(self.index, self.scores)

    def _free_worker(self) -> SearchWorker:
        """A worker for this thread alone, until it is put back: a free one, or else a new one."""
        try:
            return self._workers.get_nowait()
        except queue.Empty:
            return self._new_worker()


def _described(part: Any) -> str:
    """The class of a model with those parameters that are not the default."""
    name = type(part).__name__
    if not dataclasses.is_dataclass(part):
        return name
    given = [
        f"{field.name}={getattr(part, field.name)}"
        for field in dataclasses.fields(part)
        if isinstance(getattr(part, field.name), int | float | str)
        and getattr(part, field.name) != field.default
    ]
    return f"{name}({','.join(given)})" if given else name


def can_tabulate(parts: Sequence[Part]) -> bool:
    """Whether `search_tabulated` can search for these parts of a score."""
    if len(parts) != 1 or parts[0].weight != 1.0 or not parts[0].terms:
        return False
    first = parts[0].terms[0]
    if parts[0].columns is None or not isinstance(first, Clause) or first.formula not in FORMULAS:
        return False
    norms = first.norms
    if not isinstance(norms, DocumentValues) or norms.lengths.column is None:
        return False
    given = parts[0].document_score
    # a document's own score, 0 at most, must not raise it above what its terms add up to
    return given is None or given.weight >= 0


def search_tabulated(
    part: Part,
    segments: Sequence[Segment],
    best: Best,
    window: int = WINDOW,
    sampled_from: int = _SAMPLED_FROM,
    bounded_from: int = _BOUNDED_FROM,
    sliced: int = _SLICE,
) -> None:
    """Score all documents, and keep the best.

    Args:
        part: The only part of the score: see `can_tabulate`.
        segments: The segments of the index.
        best: The best documents; changed.
        window: Documents per window.
        sampled_from: Documents of a segment from which a sample of them is scored first, for a
            threshold; at least 8,192.
        bounded_from: Documents of a segment from which bounds of scores are used.
        sliced: Documents whose bounds are added up at a time; a multiple of 2,048.

    Raises:
        BrokenIndexError: The postings are damaged.
    """
    for place, segment in enumerate(segments):
        search = _SegmentSearch(part, place, segment, window, sliced)
        if best.k >= _SAMPLED_FOR:
            search.run(best, len(segment) >= sampled_from, False)
        else:
            search.run(best, False, len(segment) >= bounded_from)


class _SegmentSearch:
    """A search of one segment."""

    def __init__(self, part: Part, place: int, segment: Segment, window: int, sliced: int):
        first, columns = next(part.clauses), part.columns
        norms, formula = first.norms, first.formula
        assert columns is not None
        assert not isinstance(formula, OwnLoop)
        assert isinstance(norms, DocumentValues)
        assert norms.lengths.column is not None
        assert norms.by_length is not None
        is_whole, column = norms.lengths.column
        self._segment = segment
        self._documents = (
            norms.lengths.counts(place)[0], norms.by_length, *_document_scores(part),
            ALL_LIVE if segment.live is None else segment.live, segment.base,
        )  # fmt: skip
        numbers, terms = columns.factors, columns.terms[place]
        self._held: list[int] = terms.tolist()
        if -1 in self._held:
            is_held = terms >= 0
            self._held, numbers = terms[is_held].tolist(), numbers[is_held]
        pool, lists = segment.together(self._held, None if is_whole else column)
        # the codes of terms without pairs are frequencies
        self._postings = pool.documents, pool.codes, pool.codes, (0, 1)
        self._pairs, self._lists = (pool.pair_frequencies, pool.pair_lengths), lists
        self._formula = FORMULAS.index(formula), norms.lengths.weight or 1.0, numbers
        self._window, self._sliced = window, sliced
        self._place, self._known = place, part.bounds

    def run(self, best: Best, is_sampled: bool, is_bounded: bool) -> None:
        """Search, and keep the best."""
        if not self._held:
            return
        places, starts, table = term_at_a_time.score_pairs(
            self._pairs, self._lists, self._formula, self._documents[1]
        )
        if not len(starts):
            raise self._segment.wrong_posting()
        terms = *self._formula, starts, table
        arguments = (
            self._postings, self._documents, terms, places,
            (best.k, best.numbers, best.scores), best.filled, best.threshold, self._window,
        )  # fmt: skip
        bounds = self._find_bounds(terms, places) if is_bounded else None
        if bounds is not None:
            best.filled, best.threshold = pruning.search_ranges(*arguments, bounds, self._sliced)
        elif is_sampled:
            best.filled, best.threshold = pruning.search_sampled(*arguments)
        else:
            best.filled, best.threshold = term_at_a_time.search_windows(*arguments)

    def _find_bounds(
        self, terms: term_at_a_time.QueryTerms, places: NDArray[np.int64]
    ) -> Bounds | None:
        size = int((places[:, 1] - places[:, 0]).sum())
        # a term's bounds hold for any weight above 0
        if (
            self._known is None
            or len(places) > _BOUNDED_TERMS
            or 4 * size > len(self._segment)
            or not (terms[2][:, 0] > 0.0).all()
        ):
            return None
        return self._known.bounds(
            self._place, self._segment, self._held, self._postings, terms, places
        )


def _document_scores(part: Part) -> tuple[Reals, float]:
    """A document's own score for each length, and the weight of it."""
    given = part.document_score
    if given is None or given.scores.by_length is None:
        return np.empty(0), 0.0
    return given.scores.by_length, given.weight


class ObjectsRetriever:
    """A retriever that searches for a topic's title, with more weight on its two objects.

    Args:
        retriever: Searches the index.
        objects: Gives the names of a topic's two objects, or None.
        weight: The additional weight of each object. The terms of its name share it equally, so
            that a long name counts no more than a short one.
    """

    def __init__(
        self,
        retriever: LocalRetriever,
        objects: Callable[[Topic], tuple[str, str] | None],
        weight: float = 1.0,
    ):
        self._retriever, self._objects, self._weight = retriever, objects, weight

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic."""
        return [self._retriever.retrieve_weighted(topic, self.query(topic), k) for topic in topics]

    def query(self, topic: Topic) -> dict[str, float]:
        """The weighted terms of a topic."""
        query = self._retriever.terms(topic.title)
        for name in self._objects(topic) or ():
            terms = self._retriever.terms(name)
            for term in terms:
                query[term] = query.get(term, 0.0) + self._weight / len(terms)
        return query
