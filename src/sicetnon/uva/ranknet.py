"""RankNet: learning to rank from pairs, with one hidden layer of ten units.

Burges et al., "Learning to Rank using Gradient Descent", 2005, in the notation of Burges, "From
RankNet to LambdaRank to LambdaMART: An Overview", 2010, section 2. The layer and the number of
epochs are those of RankLib.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.uva.predictors import Perceptron

Reals: TypeAlias = NDArray[np.float64]
PairWeights: TypeAlias = Callable[[Reals, Reals], Reals]


@dataclass(frozen=True)
class TopicFeatures:
    """The arguments of one topic: features, shape (n, d), and labels, the higher the better."""

    features: Reals
    labels: Reals


@dataclass(frozen=True)
class Training:
    """Settings of the training of a network, by Adam (Kingma and Ba, 2015)."""

    hidden: int = 10
    epochs: int = 100
    rate: float = 0.003
    decay: float = 1e-4
    seed: int = 2020


def train(
    topics: Sequence[TopicFeatures],
    training: Training | None = None,
    pair_weights: PairWeights | None = None,
) -> Perceptron:
    """Train a network to rank the arguments of each topic by their labels.

    It minimises Σ log(1 + exp(sⱼ - sᵢ)) over pairs of arguments where i is better than j.

    Args:
        topics: The arguments by topic.
        training: Settings of the training.
        pair_weights: The weight of each pair in the gradient, shape (n, n), from the scores and
            the labels of a topic; 1 throughout when left out.
    """
    training = training or Training()
    random = np.random.default_rng(training.seed)
    size = topics[0].features.shape[1]
    weights = [
        random.normal(0, 1 / np.sqrt(size), (size, training.hidden)),
        np.zeros(training.hidden),
        random.normal(0, 1 / np.sqrt(training.hidden), training.hidden),
    ]
    adam = _Adam(weights, training.rate, training.decay)
    for _ in range(training.epochs):
        for place in random.permutation(len(topics)):
            topic = topics[place]
            hidden = np.tanh(topic.features @ weights[0] + weights[1])
            slope = score_gradient(hidden @ weights[2], topic.labels, pair_weights)
            back = slope[:, None] * weights[2] * (1 - hidden**2)
            adam.step([topic.features.T @ back, back.sum(axis=0), hidden.T @ slope])
    return Perceptron(*weights)


def score_gradient(scores: Reals, labels: Reals, pair_weights: PairWeights | None = None) -> Reals:
    """∂cost/∂scores, by Burges (2010), equations 1 to 5, divided by the number of pairs."""
    is_better = (labels[:, None] > labels).astype(np.float64)
    slope: Reals = -is_better / (1 + np.exp(np.clip(scores[:, None] - scores, -50, 50)))
    if pair_weights is not None:
        slope = slope * pair_weights(scores, labels)
    gradient: Reals = (slope.sum(axis=1) - slope.sum(axis=0)) / max(float(is_better.sum()), 1.0)
    return gradient


class _Adam:
    """Kingma and Ba, 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter)."""

    def __init__(self, weights: list[Reals], rate: float, decay: float):
        self._weights, self._rate, self._decay = weights, rate, decay
        self._first = [np.zeros_like(weight) for weight in weights]
        self._second = [np.zeros_like(weight) for weight in weights]
        self._steps = 0

    def step(self, gradients: Sequence[Reals]) -> None:
        self._steps += 1
        for weight, first, second, gradient in zip(
            self._weights, self._first, self._second, gradients, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean = first / (1 - 0.9**self._steps)
            spread = np.sqrt(second / (1 - 0.999**self._steps)) + 1e-8
            weight -= self._rate * (mean / spread + self._decay * weight)
