"""Statistics of a term and of the collection, for weighting models."""

from __future__ import annotations

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
