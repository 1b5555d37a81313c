"""Agreement of assessors: Cohen's kappa for two of them, Krippendorff's alpha for any number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError

Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa: how far two assessors agree beyond chance, (p_o - p_e) / (1 - p_e).

    p_o is the share of equal labels, p_e the share that is expected of two assessors who draw
    labels with their own frequencies.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20 (1960).

    Args:
        first: The labels of an assessor, shape (n,).
        second: Those of the other for the same documents, shape (n,).

    Returns:
        At most 1; 0 is chance. NaN where there is no label, or both give one label throughout.

    Raises:
        UsageError: The numbers of labels differ, or one is no list of labels.
    """
    own, others = _counted(first), _counted(second)
    if len(first) != len(second):
        raise UsageError(f"found {len(first)} and {len(second)} labels; expected as many of both")
    count = len(first)
    if not count:
        return math.nan
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / count
    chance = sum((own[label] / count) * (others[label] / count) for label in own | others)
    return math.nan if chance == 1 else (observed - chance) / (1 - chance)


def krippendorff_alpha(units: Sequence[Sequence[float]], level: Level = "nominal") -> float:
    """Krippendorff's alpha: 1 - D_o / D_e, the observed by the expected disagreement.

    Source: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011): the coincidence
    matrix, and the metrics of nominal, ordinal and interval data.

    Args:
        units: For each document the labels that it got, in any order; documents with fewer than
            two do not count. Words are given as numbers, whose order matters to no nominal value.
        level: How labels differ: `nominal`: equal or not; `ordinal`: by the number of labels
            between them; `interval`: by the square of their difference.

    Returns:
        At most 1; 0 is chance. NaN where no document has two labels, or all labels are equal.

    Raises:
        UsageError: A label is no number, or there is no such level.
    """
    if level not in get_args(Level):
        raise UsageError(f"found the level {level!r}; expected of {', '.join(get_args(Level))}")
    paired = [unit for unit in map(_numbers, _each(units)) if len(unit) > 1]
    values = sorted({value for unit in paired for value in unit})
    if len(values) < 2:
        return math.nan
    place = {value: at for at, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.bincount([place[value] for value in unit], minlength=len(values))
        pairs = np.outer(counts, counts) - np.diag(counts)
        coincidences += pairs / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    differences = _differences(np.array(values, dtype=np.float64), totals, level)
    size = totals.sum()
    expected = (np.outer(totals, totals) * differences).sum() / (size - 1)
    return float(1 - (coincidences * differences).sum() / expected)


def _counted(labels: object) -> Counter[Hashable]:
    try:
        return Counter(_each(labels))
    except TypeError:  # one is a list
        raise UsageError("found a list among the labels; expected words or numbers") from None


def _numbers(unit: object) -> list[float]:
    values = [float(value) if isinstance(value, Real) else math.nan for value in _each(unit)]
    if not all(map(math.isfinite, values)):
        raise UsageError(f"found {unit!r:.80} as labels of a document; expected numbers")
    return values


def _each(values: Any) -> Sequence[Any]:
    """A list, refused if it is something else."""
    if isinstance(values, str | Mapping) or not isinstance(values, Collection):
        raise UsageError(f"found {type(values).__name__}; expected a list of labels")
    return list(values)


def _differences(
    values: NDArray[np.float64], totals: NDArray[np.float64], level: Level
) -> NDArray[np.float64]:
    """The squared difference of each two labels, shape (labels, labels)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        squared: NDArray[np.float64] = np.subtract.outer(values, values) ** 2
        return squared
    # the labels from one to the other, the two ends by half
    middles = np.cumsum(totals) - totals / 2
    steps: NDArray[np.float64] = np.subtract.outer(middles, middles) ** 2
    return steps
