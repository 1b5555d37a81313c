"""Classifiers and rankers of the University of Amsterdam's paper (CLEF 2020), for its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

from sicetnon.uva.learning import TopicFeatures, train_ranknet
from sicetnon.uva.predictors import SupportVectors

Features = NDArray[np.float64]
Rows = NDArray[np.float32] | Features


class Predicting(Protocol):
    """A classifier or ranker that is trained."""

    def predict(self, features: Rows) -> Features:
        """A number for each row, shape (n,)."""


Fit = Callable[[list[TopicFeatures]], Predicting]


@dataclass(frozen=True)
class Trees:
    """Trees of scikit-learn as a predictor."""

    values: Callable[[Rows], Features]

    def predict(self, features: Rows) -> Features:
        """A number for each row, shape (n,)."""
        return self.values(features)


def fit_tree(features: Rows, is_good: NDArray[np.bool_]) -> Trees:
    """A decision tree by Gini impurity; above 0 is good."""
    tree = DecisionTreeClassifier(random_state=0).fit(features, is_good)
    return Trees(lambda rows: tree.predict_proba(rows)[:, 1] - 0.5)


def fit_forest(features: Features, labels: Features, trees: int) -> Trees:
    """Random forests of regression trees, RankLib's pointwise use of them."""
    forest = RandomForestRegressor(trees, max_features=0.3, random_state=0).fit(features, labels)
    return Trees(forest.predict)


CLASSIFIERS: tuple[Callable[[Rows, NDArray[np.bool_]], Predicting], ...]
CLASSIFIERS = (fit_tree, SupportVectors.fit)


def swap_gains(scores: Features, labels: Features) -> Features:
    """|ΔnDCG| when two arguments are swapped, times n, shape (n, n): LambdaRank's weights.

    Burges, "From RankNet to LambdaRank to LambdaMART: An Overview", 2010, section 4.
    """
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    discounts, gains = 1 / np.log2(ranks + 2), 2**labels - 1
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(len(gains)) + 2)).sum()
    change = np.abs((gains[:, None] - gains) * (discounts[:, None] - discounts))
    weights: Features = change * len(scores) / (ideal or 1.0)
    return weights


def rankers() -> dict[str, Fit]:
    """The three models of the paper, and none."""

    def forest(topics: list[TopicFeatures]) -> Predicting:
        rows = np.vstack([topic.features for topic in topics])
        return fit_forest(rows, np.concatenate([topic.labels for topic in topics]), 100)

    class Chance:
        def predict(self, features: Rows) -> Features:
            return np.random.default_rng(len(features)).random(len(features))

    return {
        "RankNet": train_ranknet,
        "random forest": forest,
        "LambdaRank": lambda topics: train_ranknet(topics, pair_weights=swap_gains),
        "(any order)": lambda _: Chance(),
    }
