"""Judgments of votes: one label of the labels that assessors gave a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from sicetnon.errors import UsageError

Combination = Literal["majority", "median", "lowest"]
COMBINATIONS: tuple[Combination, ...] = ("majority", "median", "lowest")


def combine(labels: Sequence[str], by: Combination, is_graded: bool) -> str | None:
    """The label of a document.

    Args:
        labels: The labels that it got, at least one.
        by: `majority`: the label that most gave; of grades that as many gave, the lowest.
            `median`: the middle grade, the lower one of two. `lowest`: the lowest grade.
        is_graded: Whether labels are numbers.

    Returns:
        The label; None where as many gave one word as another.

    Raises:
        UsageError: Words have no median and no lowest.
    """
    if not is_graded and by != "majority":
        raise UsageError(f"found --by {by} for labels that are words; expected majority")
    if by == "majority":
        counts = Counter(labels)
        most = max(counts.values())
        first = [label for label, count in counts.items() if count == most]
        if len(first) > 1 and not is_graded:
            return None
        return min(first, key=int) if is_graded else first[0]
    ordered = sorted(labels, key=int)
    return ordered[0] if by == "lowest" else ordered[(len(ordered) - 1) // 2]
