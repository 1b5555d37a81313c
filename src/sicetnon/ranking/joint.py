"""Fuse retrievers."""

from __future__ import annotations

from collections.abc import Sequence

from sicetnon.ranking.fusion import Fusion, fuse_rankings
from sicetnon.records import Ranking, Retriever, Topic


class Joint:
    """A retriever that fuses the rankings of others, as runs are fused.

    Args:
        retrievers: The other retrievers.
        fusion: The method; reciprocal rank fusion without weights when left out.
        depth: Number of documents that each of them finds at least.
    """

    def __init__(
        self, retrievers: Sequence[Retriever], fusion: Fusion | None = None, depth: int = 1000
    ):
        self._retrievers, self._fusion = tuple(retrievers), fusion or Fusion()
        self._shares = self._fusion.shares(len(self._retrievers)).tolist()
        self._depth = depth

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic."""
        depth = max(k, self._depth)
        found = [retriever.retrieve(topics, depth) for retriever in self._retrievers]
        return [
            fuse_rankings(list(zip(rankings, self._shares, strict=True)), self._fusion, k)
            for rankings in zip(*found, strict=True)
        ]
