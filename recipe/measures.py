"""Measures of predictions, with intervals by bootstrap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Measure = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


def pearson(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Pearson's correlation; 0 if one side is constant."""
    if np.ptp(found) == 0 or np.ptp(wanted) == 0:
        return 0.0
    return float(np.corrcoef(found, wanted)[0, 1])


def spearman(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Spearman's correlation."""
    from scipy.stats import rankdata

    return pearson(rankdata(found), rankdata(wanted))


def accuracy(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Accuracy."""
    return float((found == wanted).mean())


def f1(found: NDArray[np.float64], wanted: NDArray[np.float64], of: float = 1.0) -> float:
    """F1 of one class."""
    both = float(((found == of) & (wanted == of)).sum())
    either = float((found == of).sum() + (wanted == of).sum())
    return 2 * both / either if either else 0.0


def macro_f1(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Macro-F1 over the classes in the labels or the predictions."""
    return float(np.mean([f1(found, wanted, each) for each in np.union1d(found, wanted)]))


def area_under_curve(found: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """AUC: the share of pairs with the positive above the negative; ties count half."""
    from scipy.stats import rankdata

    positive = wanted > 0
    many, few = int(positive.sum()), int((~positive).sum())
    if not many or not few:
        return 0.5
    ranks = rankdata(found)
    return float((ranks[positive].sum() - many * (many + 1) / 2) / (many * few))


def interval(
    measure: Measure,
    found: ArrayLike,
    wanted: ArrayLike,
    samples: int = 500,
    seed: int = 20,
) -> tuple[float, float, float]:
    """A measure with its 95% interval, by bootstrap over rows.

    Args:
        measure: The measure.
        found: Predictions [rows].
        wanted: Labels [rows].
        samples: How many samples are drawn.
        seed: What they are drawn with.
    """
    rows, labels = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(samples):
        drawn = rng.integers(0, len(rows), len(rows))
        values.append(measure(rows[drawn], labels[drawn]))
    low, high = np.percentile(values, [2.5, 97.5])
    return measure(rows, labels), float(low), float(high)
