"""What a weighting model knows of a term and of the collection."""

from __future__ import annotations

from typing import NamedTuple


class TermStatistics(NamedTuple):
    """The distribution of a term over the collection.

    Attributes:
        documents: Documents that hold it.
        occurrences: How often it occurs in all.
    """

    documents: int
    occurrences: float


class CollectionStatistics(NamedTuple):
    """The size of the collection.

    Attributes:
        documents: Number of documents.
        occurrences: Terms in all of them.
        average_length: Terms per document.
    """

    documents: int
    occurrences: float
    average_length: float
