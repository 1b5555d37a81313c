"""Lengths of documents, and the norms that weighting models make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.segment import Segment

Reals: TypeAlias = NDArray[np.float64]
OfLengths: TypeAlias = Callable[[Reals], Reals]
"""A function of the lengths of documents."""

_MOST_LENGTH = 1 << 20
"""Values by length are made up to this length."""


class Lengths:
    """The lengths of an index's documents over weighted fields.

    Args:
        segments: The segments of the index.
        weights: The weight of each field, shape (fields,).

    Attributes:
        weight: The weight that all fields have but those of weight 0; None where weights differ.
    """

    def __init__(self, segments: Sequence[Segment], weights: Reals):
        self._segments, self._weights = segments, weights
        used = np.flatnonzero(weights)
        alike = len(set(weights[used].tolist())) == 1
        self._fields: tuple[int, ...] = tuple(used.tolist())
        self.weight = float(weights[used[0]]) if alike else None

    @property
    def column(self) -> tuple[bool, int] | None:
        """Whether the frequencies are those over all fields, and their column; None if neither."""
        if self.weight is None or self.most is None:
            return None
        if len(self._fields) == len(self._weights):
            return True, 0
        return (False, self._fields[0]) if len(self._fields) == 1 else None

    def counts(self, place: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The number of terms in the fields with a weight, for each document of a segment.

        Returns:
            The numbers, and the same in 16 bits: 65,535 for all that are higher.
        """
        return self._segments[place].lengths_of(self._fields)

    @cached_property
    def most(self) -> int | None:
        """The highest of all counts; None where it is too high for values by length."""
        if self.weight is None:
            return None
        most = max(
            (int(self.counts(n)[0].max(initial=0)) for n in range(len(self._segments))), default=0
        )
        return most if most <= _MOST_LENGTH else None

    def by_length(self, function: OfLengths) -> Reals | None:
        """The values of a function for all counts from 0; None where there are too many."""
        if self.weight is None or self.most is None:
            return None
        return function(np.arange(self.most + 1, dtype=np.float64) * self.weight)

    def by_document(self, function: OfLengths, place: int) -> Reals:
        """The values of a function for each document of a segment."""
        values = self.by_length(function)
        if values is not None:
            return values[self.counts(place)[0]]
        return function(self._segments[place].lengths @ self._weights)


class DocumentValues:
    """The values of a function of documents' lengths, such as the norms of a weighting model.

    Attributes:
        lengths: The lengths.
        by_length: The value for each count of terms; None where lengths are no such counts.
    """

    def __init__(self, lengths: Lengths, function: OfLengths):
        self.lengths, self._function = lengths, function
        self.by_length = lengths.by_length(function)
        self._of: dict[int, Reals] = {}

    def __getitem__(self, place: int) -> Reals:
        """The values of a segment's documents, shape (documents,); made when first asked for."""
        if place not in self._of:
            self._of[place] = self.lengths.by_document(self._function, place)
        return self._of[place]
