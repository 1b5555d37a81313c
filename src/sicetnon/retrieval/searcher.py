"""Search a local index."""

from __future__ import annotations

import dataclasses
import os
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sicetnon.checks import check_number, check_topics
from sicetnon.compiled import is_small
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval import kernels, plain
from sicetnon.retrieval.exhaustive import Best, search_exhaustively
from sicetnon.retrieval.feedback import Feedback
from sicetnon.retrieval.postings import Postings, postings_of
from sicetnon.retrieval.scoring import FieldScore, Scoring
from sicetnon.retrieval.tabulated import can_tabulate, search_tabulated
from sicetnon.retrieval.weighting import BM25

_PLAIN_POSTING_SECONDS = 500e-9
_PLAIN_FOUND_SECONDS = 200e-9
"""Seconds that `plain` takes for a posting, and for a document found."""

_MOST_IN_BATCH = 8
"""Topics of a batch; where an index changes meanwhile, the batch is searched again."""


class SearchWorker(Protocol):
    """Searches an index for one thread at a time.

    Attributes:
        statistics: Statistics of terms over all fields.
    """

    statistics: Postings

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """See `LocalRetriever.search`."""


class BatchWorker(SearchWorker, Protocol):
    """A worker that takes several queries."""

    def search_each(
        self, queries: Sequence[Mapping[str, float]], k: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """As `search`, for each query, with what they share asked once."""


@runtime_checkable
class SearchesItself(Protocol):
    """An index that scores its documents in its own way.

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
        """See `LocalRetriever.search`."""
        k = min(k, self._index.size)
        best = Best.of(max(k, 0))
        parts = [part(query) for part in self._parts]
        postings = sum([part.postings for part in parts])
        if k > 0 and postings:
            seconds = postings * _PLAIN_POSTING_SECONDS + k * _PLAIN_FOUND_SECONDS
            if is_small(seconds):
                search_exhaustively(parts, self._index.segments, best, plain)
            elif can_tabulate(parts):
                search_tabulated(parts[0], self._index.segments, best)
            else:
                search_exhaustively(parts, self._index.segments, best, kernels)
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
        """Search several topics in each thread, one behind the other."""
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
