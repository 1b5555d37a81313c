"""A worker that searches an index on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sicetnon.cluster.searching import Found
from sicetnon.cluster.terms import ClusterPostings
from sicetnon.retrieval.scoring import Scoring

if TYPE_CHECKING:
    from sicetnon.cluster.reader import ClusterReader


class ClusterWorker:
    """Searches with some scores; threads may share it.

    Args:
        index: The index.
        scores: The parts of the score.
    """

    def __init__(self, index: ClusterReader, scores: tuple[Scoring, ...]):
        self._index, self._scores = index, scores

    @property
    def statistics(self) -> ClusterPostings:
        """Statistics of terms over all fields."""
        return self._index.postings({}, 1.0)

    def search(self, query: Mapping[str, float], k: int) -> Found:
        """See `LocalRetriever.search`."""
        return self.search_each([query], k)[0]

    def search_each(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Found]:
        """See `BatchWorker.search_each`."""
        return self._index.searched(self._scores, queries, k)
