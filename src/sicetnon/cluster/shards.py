"""Answers that lack shards: errors, or partial answers where those are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sicetnon.cluster.connection import ClusterError
from sicetnon.errors import counted


@dataclass(eq=False)
class Tolerance:
    """The shards that answers may lack, and those that they lacked.

    Attributes:
        is_partial: Whether answers may lack shards.
        lacking: The most shards that an answer lacked.
        shards: The number of shards that were asked then.
    """

    is_partial: bool = False
    lacking: int = 0
    shards: int = 0

    @property
    def params(self) -> dict[str, str]:
        """The parameter of a search."""
        return {"allow_partial_search_results": str(self.is_partial).lower()}

    def checked(self, answer: dict[str, Any], where: object) -> dict[str, Any]:
        """An answer of a search.

        Raises:
            ClusterError: It lacks shards, and must not, or it lacks all.
        """
        found = answer["_shards"]
        total = int(found["total"])
        lacking = max(found["failed"], total - found["successful"], bool(answer.get("timed_out")))
        if not lacking:
            return answer
        if not self.is_partial or lacking >= total:
            reasons = [
                str(each.get("reason", {}).get("reason")) for each in found.get("failures", [])
            ]
            why = f": {reasons[0][:200]}" if reasons else ""
            raise ClusterError(f"{where}: {_said(lacking, total)} in time{why}", 503)
        if lacking >= self.lacking:
            self.lacking, self.shards = lacking, total
        return answer

    def __str__(self) -> str:
        return _said(self.lacking, self.shards) if self.lacking else ""


WHOLE = Tolerance()
"""Every shard must answer."""


def _said(lacking: int, shards: int) -> str:
    return f"{lacking} of {counted(shards, 'shard')} gave no answer"
