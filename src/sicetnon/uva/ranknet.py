"""RankNet and LambdaRank: learning to rank from pairs, with one hidden layer of ten.

Burges et al., "Learning to Rank using Gradient Descent", 2005; Burges, Ragno and Le, "Learning to
Rank with Nonsmooth Cost Functions", 2006; as told by Burges, "From RankNet to LambdaRank to
LambdaMART: An Overview", 2010, sections 2 to 4. RankLib's layer and number of epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sicetnon.uva.predictors import Perceptron

Method = Literal["ranknet", "lambdarank"]


@dataclass(frozen=True)
class TopicFeatures:
    """The arguments of one topic: features, shape (n, d), and labels, the higher the better."""

    features: NDArray[np.float64]
    labels: NDArray[np.float64]


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Attributes:
        hidden: Units of the hidden layer.
        epochs: Passes over all topics.
        rate: Of Adam (Kingma and Ba, 2015).
        decay: Weight decay.
        seed: Of the first weights and the order of topics.
    """

    hidden: int = 10
    epochs: int = 100
    rate: float = 0.003
    decay: float = 1e-4
    seed: int = 2020


def train(
    topics: Sequence[TopicFeatures], method: Method, training: Training | None = None
) -> Perceptron:
    """Train a network to rank the arguments of each topic by their labels.

    Args:
        topics: The arguments by topic.
        method: `ranknet` minimises Σ log(1 + exp(sⱼ - sᵢ)) over pairs where i is better than j;
            `lambdarank` weighs each pair by how much nDCG changes when the two are swapped.
        training: How.
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
            slope = score_gradient(hidden @ weights[2], topic.labels, method)
            back = slope[:, None] * weights[2] * (1 - hidden**2)
            adam.step([topic.features.T @ back, back.sum(axis=0), hidden.T @ slope])
    return Perceptron(*weights)


def score_gradient(
    scores: NDArray[np.float64], labels: NDArray[np.float64], method: Method
) -> NDArray[np.float64]:
    """∂cost/∂scores, by Burges (2010), equations 1 to 5, divided by the number of pairs.

    Args:
        scores: Of the arguments of a topic, shape (n,).
        labels: Likewise.
        method: As in `train`.
    """
    is_better = (labels[:, None] > labels).astype(np.float64)
    slope: NDArray[np.float64] = -is_better / (
        1 + np.exp(np.clip(scores[:, None] - scores, -50, 50))
    )
    if method == "lambdarank":
        slope = slope * _swap_gains(scores, labels)
    gradient: NDArray[np.float64] = (slope.sum(axis=1) - slope.sum(axis=0)) / max(
        float(is_better.sum()), 1.0
    )
    return gradient


def _swap_gains(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """|ΔnDCG| when two arguments are swapped, times n; gain 2^label - 1."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    discounts, gains = 1 / np.log2(ranks + 2), 2**labels - 1
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(len(gains)) + 2)).sum()
    change = np.abs((gains[:, None] - gains) * (discounts[:, None] - discounts))
    return change * len(scores) / (ideal or 1.0)


class _Adam:
    """Kingma and Ba, 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter)."""

    def __init__(self, weights: list[NDArray[np.float64]], rate: float, decay: float):
        self._weights, self._rate, self._decay = weights, rate, decay
        self._first = [np.zeros_like(weight) for weight in weights]
        self._second = [np.zeros_like(weight) for weight in weights]
        self._steps = 0

    def step(self, gradients: Sequence[NDArray[np.float64]]) -> None:
        self._steps += 1
        for weight, first, second, gradient in zip(
            self._weights, self._first, self._second, gradients, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean = first / (1 - 0.9**self._steps)
            spread = np.sqrt(second / (1 - 0.999**self._steps)) + 1e-8
            weight -= self._rate * (mean / spread + self._decay * weight)
