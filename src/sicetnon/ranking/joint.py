"""Fuse retrievers."""

from __future__ import annotations

from collections.abc import Sequence

from sicetnon.checks import check_number
from sicetnon.errors import UsageError
from sicetnon.ranking.fusion import Fusion, checked_fusion, fuse_rankings
from sicetnon.records import Ranking, Retriever, Topic


class Joint:
    """A retriever that fuses the rankings of others, as runs are fused.

    Args:
        retrievers: The other retrievers.
        fusion: The method; reciprocal rank fusion without weights when left out.
        depth: Number of documents that each of them finds at least.

    Raises:
        UsageError: There is something else than retrievers, or the weights are not one for each.
    """

    def __init__(
        self, retrievers: Sequence[Retriever], fusion: Fusion | None = None, depth: int = 1000
    ):
        if not isinstance(retrievers, Sequence) or not all(
            isinstance(each, Retriever) for each in retrievers
        ):
            raise UsageError(
                "found something else than a list of retrievers; expected one, such as "
                "[index.retriever(BM25()), index.retriever(DPH())]"
            )
        check_number(depth, "depth", 1)
        self._retrievers, self._fusion = tuple(retrievers), checked_fusion(fusion)
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
