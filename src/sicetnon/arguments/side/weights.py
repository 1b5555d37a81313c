"""Logistic models in a JSON file: named features in, probabilities out."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.formats.files import read_all

Columns: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Features by name, each of shape (rows,)."""

SHIPPED = Path(__file__).parents[2] / "models" / "sides" / "sides.json"


class Logistic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A logistic regression."""

    intercept: float
    weights: dict[str, float]

    def probabilities(self, columns: Columns) -> NDArray[np.float64]:
        """The probability of each row, shape (rows,)."""
        sums = self.intercept + sum(weight * columns[name] for name, weight in self.weights.items())
        found: NDArray[np.float64] = 1 / (1 + np.exp(-np.asarray(sums, dtype=np.float64)))
        return found


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two steps: whether a text takes a side, and if it does, the probability of FOR."""

    sided: Logistic
    favours: Logistic


class SideWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `sides.json`.

    Attributes:
        model: The identity of the debate model that they were fitted to.
        conclusion: For conclusions alone.
        tagged: For texts whose stance towards their conclusion is known.
        untagged: For texts whose conclusion is known, but not their stance towards it.
        alone: For texts without a conclusion.
    """

    model: str
    conclusion: Weights
    tagged: Weights
    untagged: Weights
    alone: Weights


@functools.cache
def side_weights(path: Path = SHIPPED) -> SideWeights:
    """The weights of a file; the shipped ones when left out.

    Raises:
        DataError: The file cannot be used.
    """
    try:
        return msgspec.json.decode(read_all(path), type=SideWeights)
    except ValueError as error:
        message = f"the weights of sides cannot be used: {error}; install sicetnon again"
        raise DataError(message, path) from None
