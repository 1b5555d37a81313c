"""The formulas of the weighting models, and the compiled loops that apply them to postings.

Each formula is a plain function of a term frequency, a document's norm (a function of its length)
and two constants of the term; `weighting` computes norms and constants. Python can call it, too.

Formulas and loops share this file, since numba's cache notices changes by the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined

UNSEEN = -np.inf
"""The score of a document without any term of the query."""

LOG2_E = math.log2(math.e)

Formula = Callable[[float, float, float, float], float]
Accumulate = Callable[
    [
        NDArray[np.int32], NDArray[np.uint16], tuple[float, ...], NDArray[np.float64],
        NDArray[np.float64], float, float, float,
    ],
    bool,
]  # fmt: skip
"""Returns whether all documents of the postings are among those that have a score."""


def accumulator(function: Formula) -> Accumulate:
    """The compiled loop that adds the scores of a term, by a formula, to those of its documents."""

    @compiled
    def accumulate(
        documents: NDArray[np.int32],
        frequencies: NDArray[np.uint16],
        field_weights: tuple[float, ...],
        norms: NDArray[np.float64],
        scores: NDArray[np.float64],
        query_weight: float,
        a: float,
        b: float,
    ) -> bool:
        are_there = True
        for posting in range(documents.size):
            tf = 0.0
            for field in range(len(field_weights)):
                tf += field_weights[field] * frequencies[posting, field]
            document = documents[posting]
            # a damaged index may hold any number; it must not write outside the array
            is_there = 0 <= document < scores.size
            are_there &= is_there
            if is_there and tf > 0.0:
                score = query_weight * function(tf, norms[document], a, b)
                known = scores[document]
                scores[document] = score if known == UNSEEN else known + score
        return are_there

    return accumulate


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
    return max(b, math.log(1.0 + a * tf) + norm)


@inlined
def hypergeometric_popper(tf: float, norm: float, a: float, b: float) -> float:
    """(1 − f)²/(tf + 1) · (tf · log2(a · f) + ½ · log2(2π · tf · (1 − f))), f = tf/norm."""
    share = tf / norm
    if share >= 1.0:
        return 0.0
    gain = tf * math.log2(a * share) + 0.5 * math.log2(2.0 * math.pi * tf * (1.0 - share))
    return (1.0 - share) ** 2 / (tf + 1.0) * gain


@inlined
def hypergeometric_laplace(tf: float, norm: float, a: float, b: float) -> float:
    """(tf·log2(a·f) + (norm − tf)·log2(1 − f) + ½·log2(2π·tf·(1 − f))) / (tf + ½), f = tf/norm.

    f is kept below 1, where the formula would be without bounds.
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


accumulate_saturation = accumulator(saturation)
accumulate_log_ratio = accumulator(log_ratio)
accumulate_log_ratio_matched = accumulator(log_ratio_matched)
accumulate_hypergeometric_popper = accumulator(hypergeometric_popper)
accumulate_hypergeometric_laplace = accumulator(hypergeometric_laplace)
accumulate_poisson_laplace = accumulator(poisson_laplace)
accumulate_pivoted = accumulator(pivoted)
accumulate_normalised = accumulator(normalised)
accumulate_presence = accumulator(presence)
