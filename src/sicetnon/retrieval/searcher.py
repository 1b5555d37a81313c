"""Search a local index."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval import kernels
from sicetnon.retrieval.feedback import Feedback
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.postings import ALL_LIVE, PostingsReader
from sicetnon.retrieval.scoring import Scoring

_SAMPLE_STEP = 64


class _Worker:
    """The parts of the score and the working memory for one thread."""

    def __init__(self, index: IndexReader, scores: Sequence[Scoring]):
        self._parts_of_score = [(score.bind(index), score.weight) for score in scores]
        self.statistics = PostingsReader(index, {})
        self._segments = index.segments
        self._totals = [np.empty(len(segment)) for segment in index.segments]
        self._is_single = [score.weight for score in scores] == [1.0]
        self._parts = [np.empty(0 if self._is_single else len(s)) for s in index.segments]

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """See `LocalRetriever.search`."""
        self._score(query)
        found, scores = [], []
        for segment, total in zip(self._segments, self._totals, strict=True):
            live = ALL_LIVE if segment.live is None else segment.live
            best, best_scores = _best(total, live, k)
            found.append(best + segment.base)
            scores.append(best_scores)
        all_found, all_scores = np.concatenate(found), np.concatenate(scores)
        order = np.lexsort((all_found, -all_scores))[:k]
        return all_found[order], all_scores[order]

    def _score(self, query: Mapping[str, float]) -> None:
        for total in self._totals:
            total.fill(UNSEEN)
        for add, weight in self._parts_of_score:
            if self._is_single:
                add(query, self._totals)
                return
            for part in self._parts:
                part.fill(UNSEEN)
            add(query, self._parts)
            for total, part in zip(self._totals, self._parts, strict=True):
                kernels.add_scores(total, part, weight)


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
        self._scores = tuple(scores)
        self._analyzer = index.analysis.analyzer()
        self._analyzer_lock = threading.Lock()
        self._threads = threads or os.cpu_count() or 1
        self._workers: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers.put(_Worker(index, self._scores))

    @property
    def name(self) -> str:
        """The name of the retriever in tables, such as `BM25(k1=0.9,b=0.4)` or `DPH+RM3`."""
        models = [getattr(score, "model", score) for score in self._scores]
        parts = [*models, *([self.feedback] if self.feedback is not None else [])]
        return "+".join(map(_described, parts))

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic's title."""
        if len(topics) == 1 or self._threads == 1:
            return [self._retrieve(topic, k) for topic in topics]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(lambda topic: self._retrieve(topic, k), topics))

    def terms(self, text: str) -> dict[str, float]:
        """The terms of a text with their frequencies, in the order of the text."""
        with self._analyzer_lock:
            return {term: float(n) for term, n in Counter(self._analyzer.terms_of(text)).items()}

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
        with self._worker() as worker:
            return worker.search(query, k)

    def retrieve_weighted(self, topic: Topic, query: Mapping[str, float], k: int) -> Ranking:
        """The k best documents for weighted terms, as the ranking of a topic."""
        numbers, scores = self.search(query, k)
        return Ranking(topic, tuple(self.index.identifiers(numbers)), scores)

    def _retrieve(self, topic: Topic, k: int) -> Ranking:
        query: Mapping[str, float] = self.terms(topic.title)
        if self.feedback is not None and query:
            query = self._expanded(query, self.feedback)
        return self.retrieve_weighted(topic, query, k)

    def _expanded(self, query: Mapping[str, float], feedback: Feedback) -> dict[str, float]:
        first, scores = self.search(query, feedback.documents)
        texts = [record.default_text() for record in self.index.records_at(first)]
        documents = [self.terms(text) for text in texts]
        with self._worker() as worker:
            return feedback.expand(query, documents, scores, worker.statistics)

    @contextlib.contextmanager
    def _worker(self) -> Iterator[_Worker]:
        """A worker for this thread alone: a free one, or else a new one."""
        try:
            worker = self._workers.get_nowait()
        except queue.Empty:
            worker = _Worker(self.index, self._scores)
        try:
            yield worker
        finally:
            self._workers.put(worker)


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


def _best(
    scores: NDArray[np.float64], live: NDArray[np.uint8], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k best documents, unordered, with their scores.

    A sample of the scores estimates that of the k-th best document, so that few documents need to
    be compared. Where the estimate is too high, all documents are compared.
    """
    k = min(k, len(scores))
    if k < 1:
        return np.empty(0, dtype=np.int64), np.empty(0)
    found, found_scores = np.empty(2 * k + 64, dtype=np.int64), np.empty(2 * k + 64)
    sample = scores[::_SAMPLE_STEP]
    expected = k / _SAMPLE_STEP
    rank = int(expected + 3 * expected**0.5) + 2
    if rank < len(sample):
        threshold = float(np.partition(sample, -rank)[-rank])
        count = kernels.best(scores, live, k, threshold, found, found_scores)
        if count == k:
            return found[:count], found_scores[:count]
    count = kernels.best(scores, live, k, UNSEEN, found, found_scores)
    return found[:count], found_scores[:count]
