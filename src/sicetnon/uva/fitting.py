"""Training support vector machines and trees by scikit-learn (extra `train`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import MissingExtraError
from sicetnon.uva.predictors import Forest, SupportVectors

TREES = 300


def fit_svm(
    features: NDArray[Any], is_good: NDArray[np.bool_], cost: float = 1.0
) -> SupportVectors:
    """A support vector machine with scikit-learn's defaults: Gaussian kernel, C = 1.

    The kernel's γ is 1 / (dimensions · variance of the features).

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    svm = _library("svm").SVC(kernel="rbf", C=cost, gamma="scale")
    rows = np.asarray(features, dtype=np.float64)
    svm.fit(rows, is_good)
    gamma = 1 / (rows.shape[1] * rows.var())
    return SupportVectors(
        svm.support_vectors_.astype(np.float32), svm.dual_coef_[0], float(svm.intercept_[0]), gamma
    )


def fit_tree(features: NDArray[Any], is_good: NDArray[np.bool_], seed: int = 0) -> Forest:
    """A decision tree by Gini impurity, nodes of two or more split; predicts ½ and more for good.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    trees = _library("tree")
    tree = trees.DecisionTreeClassifier(criterion="gini", min_samples_split=2, random_state=seed)
    tree.fit(features, is_good)
    inner = tree.tree_
    counts = inner.value[:, 0, :]
    # above 0 is the better class, as with support vector machines
    return _joined([inner], [counts[:, 1] / counts.sum(axis=1) - 0.5])


def fit_forest(
    features: NDArray[Any], labels: NDArray[np.float64], trees: int = TREES, seed: int = 0
) -> Forest:
    """Random forests of regression trees: RankLib's pointwise use of them, 300 bags.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    forest = _library("ensemble").RandomForestRegressor(
        n_estimators=trees, max_features=0.3, min_samples_leaf=1, random_state=seed
    )
    forest.fit(features, labels)
    inner = [tree.tree_ for tree in forest.estimators_]
    return _joined(inner, [tree.value[:, 0, 0] for tree in inner])


def _joined(trees: list[Any], leaves: list[NDArray[np.float64]]) -> Forest:
    sizes = [tree.node_count for tree in trees]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))

    def joined(parts: list[Any], kind: Any) -> NDArray[Any]:
        return np.concatenate(parts).astype(kind)

    return Forest(
        starts.astype(np.int32),
        joined([tree.feature for tree in trees], np.int32),
        joined([tree.threshold for tree in trees], np.float64),
        joined([t.children_left + s for t, s in zip(trees, starts, strict=True)], np.int32),
        joined([t.children_right + s for t, s in zip(trees, starts, strict=True)], np.int32),
        joined(leaves, np.float64),
    )


def _library(part: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"sklearn.{part}")
    except ImportError:
        raise MissingExtraError("Training", "uva") from None
