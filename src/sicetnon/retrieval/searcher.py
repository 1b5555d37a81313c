"""Searching a local index: questions in, rankings out."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.index import Index
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval import kernels
from sicetnon.retrieval.feedback import Feedback
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.scoring import Score

_ALL_LIVE = np.empty(0, dtype=np.uint8)
_SAMPLE_STEP = 32


class Retriever(Protocol):
    """Anything that finds documents for topics."""

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic, or fewer."""


class LocalRetriever:
    """Ranks the documents of an index by a sum of scores.

    Every document that holds a term of the question is found. Documents with equal scores stand
    in the order of their ids, so that the same question always has the same answer.

    Args:
        index: An opened index.
        scores: What is summed.
        feedback: Widens a question by terms of the documents that it finds first.
        threads: Topics searched at a time; all cores when left out.
    """

    def __init__(
        self,
        index: Index,
        scores: Sequence[Score],
        feedback: Feedback | None = None,
        threads: int | None = None,
    ):
        self.index, self.feedback = index, feedback
        self._scores = [score.bind(index) for score in scores]
        self._analyzer = index.analysis.analyzer()
        self._analyzer_lock = threading.Lock()
        self._threads = threads or os.cpu_count() or 1
        self._room = threading.local()

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic's title."""
        if len(topics) == 1 or self._threads == 1:
            return [self._retrieve(topic, k) for topic in topics]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(lambda topic: self._retrieve(topic, k), topics))

    def terms(self, text: str) -> dict[str, float]:
        """The terms of a text with how often each occurs, in the order of the text."""
        with self._analyzer_lock:
            return {term: float(n) for term, n in Counter(self._analyzer.terms_of(text)).items()}

    def search(
        self, query: Mapping[str, float], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best documents for weighted terms.

        Args:
            query: Terms, as the index's analysis makes them, with their weights.
            k: How many documents are wanted.

        Returns:
            Their numbers and scores, best first.
        """
        found, scores = [], []
        for number, segment in enumerate(self.index.segments):
            total = self._segment_scores(number, query)
            live = _ALL_LIVE if segment.live is None else segment.live
            best, best_scores = _best(total, live, k)
            found.append(best + segment.base)
            scores.append(best_scores)
        return self._ordered(np.concatenate(found), np.concatenate(scores), k)

    def _retrieve(self, topic: Topic, k: int) -> Ranking:
        query: Mapping[str, float] = self.terms(topic.title)
        if self.feedback is not None and query:
            first, scores = self.search(query, self.feedback.documents)
            texts = [record.default_text() for record in self.index.records(first)]
            query = self.feedback.expand(
                query, [self.terms(text) for text in texts], scores, self._scores[0]
            )
        return Ranking(topic, *self.search(query, k))

    def _segment_scores(self, number: int, query: Mapping[str, float]) -> NDArray[np.float64]:
        size = len(self.index.segments[number])
        total = self._empty_scores("total", size)
        if len(self._scores) == 1 and self._scores[0].weight == 1.0:
            self._scores[0].add(number, query, total)
            return total
        for score in self._scores:
            part = self._empty_scores("part", size)
            score.add(number, query, part)
            kernels.add_scores(total, part, score.weight)
        return total

    def _empty_scores(self, name: str, size: int) -> NDArray[np.float64]:
        """An array of `UNSEEN`, kept for the next question since new memory is slow to get."""
        room: NDArray[np.float64] | None = getattr(self._room, name, None)
        if room is None or room.size < size:
            room = np.empty(size)
            setattr(self._room, name, room)
        room[:size] = UNSEEN
        return room[:size]

    def _ordered(
        self, found: NDArray[np.int64], scores: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        order = np.lexsort((found, -scores))[:k]
        return found[order], scores[order]


def _best(
    scores: NDArray[np.float64], live: NDArray[np.uint8], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k best documents, unordered, with their scores.

    A sample of the scores says where the k-th best must about lie, so that few documents need to
    be compared; when it lies, all are.
    """
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
