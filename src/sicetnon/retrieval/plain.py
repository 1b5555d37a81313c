"""The loops of the searcher in numpy: the specification of those in `kernels`, and their oracle.

The functions of both modules have the same names and arguments, and give the same numbers to the
last bit: each sum is made in the same order, and logarithms are Python's. Small pieces of work are
done here, since compiled loops take longer to load.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.retrieval import formulas
from sicetnon.retrieval.formulas import UNSEEN, Accumulate, Formula, WindowPostings

Reals = NDArray[np.float64]


def weighted(frequencies: NDArray[Any], field_weights: tuple[float, ...]) -> Reals:
    """The weighted sum of each posting's frequencies, field after field, shape (postings,)."""
    tf = np.zeros(len(frequencies))
    for field, weight in enumerate(field_weights):
        tf = tf + weight * frequencies[:, field].astype(np.float64)
    return tf


@functools.cache
def accumulator(formula: Formula) -> Accumulate:
    """See `kernels.accumulator`."""

    def accumulate(
        postings: WindowPostings,
        first: int,
        norms: Reals,
        scores: Reals,
        query_weight: float,
        a: float,
        b: float,
    ) -> bool:
        documents, frequencies, field_weights = postings
        places = documents.astype(np.int64) - first
        if places.min(initial=0) < 0 or places.max(initial=-1) >= len(scores):
            return False
        tf = weighted(frequencies, field_weights)
        is_there = tf > 0.0
        places, tf = places[is_there], tf[is_there]
        _add(scores, places, query_weight * _each(formula, tf, norms[places], a, b))
        return True

    return accumulate


def _each(formula: Formula, tf: Reals, norms: Reals, a: float, b: float) -> Reals:
    """A formula's value for each posting; not a number where a damaged index allows none."""
    if formula in _ARITHMETIC:
        # numpy divides and adds as compiled code does; its logarithms may differ in the last bit
        with np.errstate(all="ignore"):
            return np.broadcast_to(formula(tf, norms, a, b), tf.shape)  # type: ignore[arg-type]
    if formula is formulas.log_ratio_matched:
        return _each_log_ratio_matched(tf, norms, a, b)

    def value(tf: float, norm: float) -> float:
        try:
            return formula(tf, norm, a, b)
        except (ArithmeticError, ValueError):
            return math.nan

    pairs = zip(tf.tolist(), norms.tolist(), strict=True)
    return np.array([value(*pair) for pair in pairs], dtype=np.float64)


_ARITHMETIC: tuple[Formula, ...] = (
    formulas.saturation,
    formulas.normalised,
    formulas.presence,
)
"""Formulas without logarithms, which take arrays as well as numbers."""


def _each_log_ratio_matched(tf: Reals, norms: Reals, a: float, b: float) -> Reals:
    """`formulas.log_ratio_matched`, with one logarithm for each distinct frequency."""
    known, places = np.unique(tf, return_inverse=True)
    logarithms = np.array([_logarithm(1.0 + a * each) for each in known.tolist()], dtype=np.float64)
    return np.maximum(b, logarithms[places] + norms)


def _logarithm(value: float) -> float:
    return math.log(value) if value > 0 else math.nan


def _add(scores: Reals, places: NDArray[np.int64], values: Reals) -> None:
    known = scores[places]
    scores[places] = np.where(known == UNSEEN, 0.0, known) + values


def count_documents(
    documents: NDArray[np.int32],
    frequencies: NDArray[Any],
    field_weights: tuple[float, ...],
    live: NDArray[np.uint8],
) -> int:
    """See `kernels.count_documents`."""
    if live.size and not (0 <= documents.min(initial=0) <= documents.max(initial=0) < live.size):
        return -1
    is_there = weighted(frequencies, field_weights) > 0.0
    if live.size:
        is_there &= live[documents] != 0
    return int(is_there.sum())


def count_distinct(documents: NDArray[np.int32], size: int) -> int:
    """See `kernels.count_distinct`."""
    if documents.min(initial=0) < 0 or documents.max(initial=-1) >= size:
        return -1
    # numpy hashes numbers to find the different ones, which takes a hundred times as long
    held = np.zeros(size, np.bool_)
    held[documents] = True
    return int(np.count_nonzero(held))


def merge_forms(
    documents: NDArray[np.int32],
    frequencies: Reals,
    offsets: NDArray[np.int64],
    form_weights: Reals,
) -> tuple[NDArray[np.int32], Reals]:
    """See `kernels.merge_forms`."""
    is_there = frequencies > 0.0
    merged, places = np.unique(documents[is_there], return_inverse=True)
    total = np.zeros(len(merged))
    # unlike an assignment, this adds what one document has more than once, in order
    np.add.at(total, places, (np.repeat(form_weights, np.diff(offsets)) * frequencies)[is_there])
    return merged, total


def add_document_scores(scores: Reals, document_scores: Reals, weight: float) -> None:
    """See `kernels.add_document_scores`."""
    places = np.flatnonzero(scores != UNSEEN)
    scores[places] += weight * document_scores[places]


def add_scores(scores: Reals, part: Reals, weight: float) -> None:
    """See `kernels.add_scores`."""
    places = np.flatnonzero(part != UNSEEN)
    _add(scores, places, weight * part[places])


def add_saturated(scores: Reals, sums: Reals, weight: float, k1: float) -> None:
    """See `kernels.add_saturated`."""
    places = np.flatnonzero(sums != UNSEEN)
    _add(scores, places, weight * sums[places] / (k1 + sums[places]))


def best(
    scores: Reals,
    live: NDArray[np.uint8],
    first: int,
    k: int,
    found: NDArray[np.int64],
    found_scores: Reals,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """See `kernels.best`; the threshold stays as it is."""
    is_found = scores > UNSEEN
    if live.size:
        is_found &= live != 0
    places = np.flatnonzero(is_found)
    numbers = np.concatenate((found[:filled], places + first))
    values = np.concatenate((found_scores[:filled], scores[places]))
    order = np.sort(np.lexsort((numbers, -values))[:k])
    found[: len(order)], found_scores[: len(order)] = numbers[order], values[order]
    return len(order), threshold
