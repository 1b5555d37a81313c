"""The formulas of the weighting models, for compiled loops and for numpy.

Each formula is a plain function of a term frequency, a document's norm (a function of its length)
and two constants of the term; `weighting` computes norms and constants. The loops of `kernels`
apply it to postings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.jit import inlined

UNSEEN = -np.inf
"""The score of a document without any term of the query."""

LOG2_E = math.log2(math.e)

Formula = Callable[[float, float, float, float], float]
WindowPostings: TypeAlias = tuple[NDArray[np.int32], NDArray[Any], tuple[float, ...]]
"""Documents, shape (n,), frequencies, shape (n, columns), and the weight of each column."""

Accumulate = Callable[..., bool]
"""Adds a term's scores to those of its documents: see `kernels.accumulator`."""


@inlined
def saturation(tf: float, norm: float, a: float, b: float) -> float:
    """A · tf / (tf + norm) + b: the shape of all BM25 variants."""
    return a * tf / (tf + norm) + b


@inlined
def log_ratio(tf: float, norm: float, a: float, b: float) -> float:
    """ln(1 + a · (tf / norm)): a term that occurs, against the collection alone."""
    return math.log(1.0 + a * (tf / norm))


@inlined
def log_ratio_matched(tf: float, norm: float, a: float, b: float) -> float:
    """max(b, ln(1 + a · tf) + norm)."""
    return matched(math.log(1.0 + a * tf), norm, b)


@inlined
def matched(logarithm: float, norm: float, b: float) -> float:
    """`log_ratio_matched`, where ln(1 + a · tf) is known."""
    return max(b, logarithm + norm)


@inlined
def hypergeometric_popper(tf: float, norm: float, a: float, b: float) -> float:
    """(1 − f)²/(tf + 1) · (tf · log2(a · f) + ½ · log2(2π · tf · (1 − f))), f = tf/norm."""
    share = tf / norm
    if share >= 1.0:
        return 0.0
    gain = tf * math.log2(a * share) + 0.5 * math.log2(2.0 * math.pi * tf * (1.0 - share))
    return (1.0 - share) * (1.0 - share) / (tf + 1.0) * gain


@inlined
def hypergeometric_laplace(tf: float, norm: float, a: float, b: float) -> float:
    """(tf·log2(a·f) + (norm − tf)·log2(1 − f) + ½·log2(2π·tf·(1 − f))) / (tf + ½), f = tf/norm.

    f stays below 1, where the formula would be without bounds.
    """
    share = min(tf / norm, 1.0 - 1e-9)
    gain = tf * math.log2(a * share) + (norm - tf) * math.log2(1.0 - share)
    return (gain + 0.5 * math.log2(2.0 * math.pi * tf * (1.0 - share))) / (tf + 0.5)


@inlined
def poisson_laplace(tf: float, norm: float, a: float, b: float) -> float:
    """(t·log2(t/a) + (a − t)·log2 e + ½·log2(2π·t)) / (t + 1), t = tf · norm."""
    normal = tf * norm
    gain = normal * math.log2(normal / a) + (a - normal) * LOG2_E
    return (gain + 0.5 * math.log2(2.0 * math.pi * normal)) / (normal + 1.0)


@inlined
def pivoted(tf: float, norm: float, a: float, b: float) -> float:
    """A · (1 + ln(1 + ln tf)) / norm, and less than that in proportion below tf = 1."""
    return a * (1.0 + math.log(1.0 + math.log(tf)) if tf > 1.0 else tf) / norm


@inlined
def normalised(tf: float, norm: float, a: float, b: float) -> float:
    """A · tf / norm: a field's part in BM25F."""
    return a * tf / norm


@inlined
def presence(tf: float, norm: float, a: float, b: float) -> float:
    """a, wherever the term occurs."""
    return a


FORMULAS: tuple[Formula, ...] = (
    saturation, log_ratio, log_ratio_matched, hypergeometric_popper, hypergeometric_laplace,
    poisson_laplace, pivoted, normalised, presence,
)  # fmt: skip
"""All formulas, by the number that `score_formula` knows them by."""


@inlined
def score_formula(number: int, tf: float, norm: float, a: float, b: float) -> float:
    """The value of a formula, by its place in `FORMULAS`: one kernel serves all models."""
    if number == 0:
        return saturation(tf, norm, a, b)
    if number == 1:
        return log_ratio(tf, norm, a, b)
    if number == 2:
        return log_ratio_matched(tf, norm, a, b)
    if number == 3:
        return hypergeometric_popper(tf, norm, a, b)
    if number == 4:
        return hypergeometric_laplace(tf, norm, a, b)
    if number == 5:
        return poisson_laplace(tf, norm, a, b)
    if number == 6:
        return pivoted(tf, norm, a, b)
    if number == 7:
        return normalised(tf, norm, a, b)
    return presence(tf, norm, a, b)


_ARITHMETIC: tuple[Formula, ...] = (
    saturation,
    normalised,
    presence,
)
"""Formulas without logarithms, which take arrays as well as numbers."""


def weighted_frequencies(frequencies: NDArray[Any], field_weights: tuple[float, ...]) -> Reals:
    """The weighted sum of each posting's frequencies, field after field, shape (postings,)."""
    tf = np.zeros(len(frequencies))
    for field, weight in enumerate(field_weights):
        tf = tf + weight * frequencies[:, field].astype(np.float64)
    return tf


def formula_values(formula: Formula, tf: Reals, norms: Reals, a: float, b: float) -> Reals:
    """A formula's value for each posting; not a number where a damaged index allows none."""
    if formula in _ARITHMETIC:
        # numpy divides and adds as compiled code does; its logarithms may differ in the last bit
        with np.errstate(all="ignore"):
            return np.broadcast_to(formula(tf, norms, a, b), tf.shape)  # type: ignore[arg-type]
    if formula is log_ratio_matched:
        return _log_ratio_matched_values(tf, norms, a, b)

    def value(tf: float, norm: float) -> float:
        try:
            return formula(tf, norm, a, b)
        except (ArithmeticError, ValueError):
            return math.nan

    pairs = zip(tf.tolist(), norms.tolist(), strict=True)
    return np.array([value(*pair) for pair in pairs], dtype=np.float64)


def _log_ratio_matched_values(tf: Reals, norms: Reals, a: float, b: float) -> Reals:
    """`formulas.log_ratio_matched`, with one logarithm for each distinct frequency."""
    known, places = np.unique(tf, return_inverse=True)
    logarithms = np.array([_logarithm(1.0 + a * each) for each in known.tolist()], dtype=np.float64)
    return np.maximum(b, logarithms[places] + norms)


def _logarithm(value: float) -> float:
    return math.log(value) if value > 0 else math.nan
