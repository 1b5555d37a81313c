"""Predictors with learned parameters. They need numpy alone; training needs scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, needing
from sicetnon.uva.parameters import LearnedParameters

Values = NDArray[np.float64]
_ROWS = 256


class Predictor(Protocol):
    """Gives one number for each row of features; the higher the better."""

    def predict(self, features: NDArray[Any]) -> Values:
        """A number per row, shape (rows,), from features of shape (rows, features)."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The learned parameters by name."""


@dataclass(frozen=True)
class SupportVectors:
    """A support vector machine with a Gaussian kernel (Cortes and Vapnik, 1995).

    f(x) = b + Σ aᵢ·exp(-γ·|x - vᵢ|²); above 0 is the better of two classes.
    """

    vectors: NDArray[np.float32]
    weights: Values
    intercept: float
    gamma: float

    @classmethod
    def fit(cls, features: NDArray[Any], is_good: NDArray[np.bool_]) -> Self:
        """Train with scikit-learn's defaults: C = 1, γ = 1 / (dimensions · variance).

        Args:
            features: Shape (rows, dimensions).
            is_good: Which rows are of the better class, shape (rows,).
        """
        with needing("Training", "uva"):
            from sklearn.svm import SVC
        rows = np.asarray(features, dtype=np.float64)
        svm = SVC(kernel="rbf", C=1.0, gamma="scale").fit(rows, is_good)
        gamma = 1 / (rows.shape[1] * rows.var())
        vectors = svm.support_vectors_.astype(np.float32)
        return cls(vectors, svm.dual_coef_[0], float(svm.intercept_[0]), gamma)

    def predict(self, features: NDArray[Any]) -> Values:
        """A number per row, shape (rows,)."""
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
        """The learned parameters by name."""
        numbers = np.array([self.intercept, self.gamma])
        return {"vectors": self.vectors, "weights": self.weights, "numbers": numbers}


@dataclass(frozen=True)
class Perceptron:
    """One hidden layer: f(x) = w₂·tanh(W₁x + b₁)."""

    first: NDArray[np.float64]
    first_bias: NDArray[np.float64]
    second: NDArray[np.float64]

    def predict(self, features: NDArray[Any]) -> Values:
        """A number per row, shape (rows,)."""
        hidden = np.tanh(np.asarray(features, dtype=np.float64) @ self.first + self.first_bias)
        return hidden @ self.second

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The learned parameters by name."""
        return dict(vars(self))


def predictor_of(parameters: LearnedParameters) -> Predictor:
    """The predictor with learned parameters."""
    arrays, card = parameters.arrays, parameters.card
    try:
        if card.kind == "svm":
            intercept, gamma = arrays["numbers"].tolist()
            return SupportVectors(arrays["vectors"], arrays["weights"], intercept, gamma)
        if card.kind == "perceptron":
            return Perceptron(arrays["first"], arrays["first_bias"], arrays["second"])
    except (KeyError, ValueError) as error:
        raise DataError(f"the parameters {card.name} lack {error}") from None
    raise DataError(f"the parameters {card.name} are of an unknown kind {card.kind!r}")
