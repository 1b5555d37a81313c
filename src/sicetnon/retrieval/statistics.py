"""Statistics of a term and of the collection, for weighting models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    field_weights: Sequence[float], forms: Mapping[str, tuple[float, Sequence[int]]]
) -> float:
    """The weighted occurrences of a term: Σ weight of form · Σ weight of field · occurrences.

    Forms are added in alphabetical order: the same sum to the last bit wherever documents are kept.

    Args:
        field_weights: The weight of each field.
        forms: For each form of the term its weight and its occurrences in each field.
    """
    total = 0.0
    for form in sorted(forms):
        weight, counts = forms[form]
        total += weight * sum(w * count for w, count in zip(field_weights, counts, strict=True))
    return total
