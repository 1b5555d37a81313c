"""Statistics of a term and of the collection, for weighting models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TermStatistics(NamedTuple):
    """The distribution of a term over the collection.

    Attributes:
        documents: Number of documents with the term.
        occurrences: Number of its occurrences in all documents.
    """

    documents: int
    occurrences: float


class CollectionStatistics(NamedTuple):
    """The size of the collection.

    Attributes:
        documents: Number of documents.
        occurrences: Number of terms in all documents.
        average_length: Number of terms per document.
    """

    documents: int
    occurrences: float
    average_length: float


def weighted_occurrences(
    field_weights: Sequence[float],
    own: Sequence[int],
    others: Sequence[int] = (),
    other_forms: float = 0.0,
) -> float:
    """The weighted occurrences of a term and of the other forms of its stem.

    Whole numbers are added first: the same sum to the last bit in any segment or cluster.

    Args:
        field_weights: The weight of each field.
        own: Occurrences of the term itself in each field.
        others: Occurrences of all other forms in each field.
        other_forms: Their weight.
    """
    weighted = [
        sum(w * count for w, count in zip(field_weights, counts, strict=False))
        for counts in (own, others)
    ]
    return weighted[0] + other_forms * weighted[1]
