"""What learned parameters predict, in numpy alone: no training library is needed to use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.uva.parameters import Arrays, Parameters

Values = NDArray[np.float64]
_ROWS = 256


class Predictor(Protocol):
    """Gives one number for each row of features, shape (rows, features); the higher the better."""

    def predict(self, features: NDArray[Any]) -> Values:
        """Shape (rows,)."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that must be kept."""


@dataclass(frozen=True)
class SupportVectors:
    """A support vector machine with a Gaussian kernel (Cortes and Vapnik, 1995).

    f(x) = b + Σ aᵢ·exp(-γ·|x - vᵢ|²); above 0 is the better of two classes.
    """

    vectors: NDArray[np.float32]
    weights: Values
    intercept: float
    gamma: float

    def predict(self, features: NDArray[Any]) -> Values:
        """See `Predictor.predict`."""
        vectors = self.vectors.astype(np.float64)
        squares = (vectors**2).sum(axis=1)
        values = np.empty(len(features))
        for begin in range(0, len(features), _ROWS):
            rows = np.asarray(features[begin : begin + _ROWS], dtype=np.float64)
            distances = (rows**2).sum(axis=1)[:, None] + squares - 2 * rows @ vectors.T
            kernel = np.exp(-self.gamma * np.maximum(distances, 0))
            values[begin : begin + _ROWS] = kernel @ self.weights + self.intercept
        return values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Predictor.arrays`."""
        numbers = np.array([self.intercept, self.gamma])
        return {"vectors": self.vectors, "weights": self.weights, "numbers": numbers}


@dataclass(frozen=True)
class Forest:
    """The mean of regression or decision trees (Breiman, 2001). One tree is a forest, too.

    Trees are laid one behind the other; a node is a leaf where its feature is below 0.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    leaves: NDArray[np.float64]

    def predict(self, features: NDArray[Any]) -> Values:
        """See `Predictor.predict`."""
        # trees compare single numbers with thresholds, as they were trained
        rows = np.asarray(features, dtype=np.float32)
        every = np.arange(len(rows))
        total = np.zeros(len(rows))
        for root in self.roots:
            nodes = np.full(len(rows), root)
            while (inner := self.features[nodes] >= 0).any():
                tested = rows[every, np.maximum(self.features[nodes], 0)]
                is_left = tested <= self.thresholds[nodes]
                below = np.where(is_left, self.lefts[nodes], self.rights[nodes])
                nodes = np.where(inner, below, nodes)
            total += self.leaves[nodes]
        return total / len(self.roots)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Predictor.arrays`."""
        return dict(vars(self))


@dataclass(frozen=True)
class Perceptron:
    """One hidden layer: f(x) = w₂·tanh(W₁x + b₁)."""

    first: NDArray[np.float64]
    first_bias: NDArray[np.float64]
    second: NDArray[np.float64]

    def predict(self, features: NDArray[Any]) -> Values:
        """See `Predictor.predict`."""
        hidden = np.tanh(np.asarray(features, dtype=np.float64) @ self.first + self.first_bias)
        return hidden @ self.second

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Predictor.arrays`."""
        return dict(vars(self))


def predictor_of(parameters: Parameters) -> Predictor:
    """The predictor that parameters are for.

    Raises:
        DataError: The card names none, or arrays are missing.
    """
    arrays, kind = parameters.arrays, parameters.card.kind
    try:
        if kind == "svm":
            intercept, gamma = arrays["numbers"].tolist()
            return SupportVectors(arrays["vectors"], arrays["weights"], intercept, gamma)
        if kind == "forest":
            return Forest(**_own(arrays, Forest))
        if kind == "perceptron":
            return Perceptron(**_own(arrays, Perceptron))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the parameters {parameters.card.name} lack {error}") from None
    raise DataError(f"the parameters {parameters.card.name} are of an unknown kind {kind!r}")


def _own(arrays: Arrays, kind: type[Forest] | type[Perceptron]) -> dict[str, Any]:
    return {name: arrays[name] for name in kind.__dataclass_fields__}
