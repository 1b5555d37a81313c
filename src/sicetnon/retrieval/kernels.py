"""The loops of the searcher: accumulation of scores, counts, and the best k documents.

Each loop stands under its twin in numpy, which is its specification and its oracle, and serves
small pieces of work.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.index.posting_codec import first_bit
from sicetnon.jit import compiled, inlined
from sicetnon.retrieval.formulas import (
    UNSEEN,
    Accumulate,
    Formula,
    WindowPostings,
    formula_values,
    log_ratio_matched,
    matched,
    weighted_frequencies,
)

_LOGS = 1 << 8
"""Number of logarithms that `cached_log` holds; a power of 2."""
_SPREAD = 997.0
"""Distance between the places of the frequencies 1 and 2. An odd distance spreads whole frequencies
over all places; a large one separates tenths."""
_HIGHEST = 1e15
"""Upper bound of the number that is converted into a place: 64 bits hold it."""
_MERGED = 1 << 12
"""Documents per window of `merge_forms`: their sums fit into a core's first cache."""


_SORTING_SECONDS = 3e-8
"""Seconds that numpy takes for a score."""
_MOST_MOVES = 16


def _add(scores: Reals, places: NDArray[np.int64], values: Reals) -> None:
    known = scores[places]
    scores[places] = np.where(known == UNSEEN, 0.0, known) + values


@functools.cache
def _numpy_accumulator(formula: Formula) -> Accumulate:

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
        tf = weighted_frequencies(frequencies, field_weights)
        is_there = tf > 0.0
        places, tf = places[is_there], tf[is_there]
        _add(scores, places, query_weight * formula_values(formula, tf, norms[places], a, b))
        return True

    return accumulate


@functools.cache
def accumulator(formula: Formula) -> Accumulate:
    """The loop that adds the scores of a term, by a formula, to those of its documents.

    The loop returns whether all documents of the postings are in the window.
    """
    takes_log = formula is log_ratio_matched

    @compiled
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
        logs, are_there = np.zeros((2, _LOGS if takes_log else 0)), True
        for posting in range(np.uint64(documents.size)):
            tf = 0.0
            for field in range(len(field_weights)):
                if field_weights[field] != 0.0:
                    tf += field_weights[field] * frequencies[posting, np.uint64(field)]
            # a damaged index may hold any number; it must not write outside the array
            document = np.uint64(np.int64(documents[posting]) - first)
            is_there = bool(document < np.uint64(scores.size))
            are_there &= is_there
            if is_there and tf > 0.0:
                if takes_log:
                    score = matched(cached_log(tf, a, logs), norms[document], b)
                else:
                    score = formula(tf, norms[document], a, b)
                score *= query_weight
                known = scores[document]
                scores[document] = score if known == UNSEEN else known + score
        return are_there

    return accumulate


@inlined(allocates=False)
def cached_log(tf: float, a: float, logs: Reals) -> float:
    """ln(1 + a · tf), cached for the last frequencies: most postings have one of a few.

    Args:
        tf: The frequency, above 0.
        a: The constant of the term.
        logs: Changed: frequencies, 0 for none, and their logarithms, shape (2, `_LOGS`).
    """
    place = np.uint64(min(tf * _SPREAD, _HIGHEST)) & np.uint64(_LOGS - 1)
    if logs[0, place] != tf:
        logs[0, place], logs[1, place] = tf, math.log(1.0 + a * tf)
    return float(logs[1, place])


def _numpy_count_documents(
    documents: NDArray[np.int32],
    frequencies: NDArray[Any],
    field_weights: tuple[float, ...],
    live: NDArray[np.uint8],
) -> int:
    if live.size and not (0 <= documents.min(initial=0) <= documents.max(initial=0) < live.size):
        return -1
    is_there = weighted_frequencies(frequencies, field_weights) > 0.0
    if live.size:
        is_there &= live[documents] != 0
    return int(is_there.sum())


@compiled(allocates=False)
def count_documents(
    documents: NDArray[np.int32],
    frequencies: NDArray[Any],
    field_weights: tuple[float, ...],
    live: NDArray[np.uint8],
) -> int:
    """Count the live documents in which a term occurs.

    Args:
        documents: The documents that hold the term, shape (postings,).
        frequencies: Its frequencies, shape (postings, fields).
        field_weights: The weight of each field.
        live: 0 for deleted documents; of size 0 when none is.

    Returns:
        The number of documents, or -1 after one that there is not.
    """
    count = 0
    for posting in range(documents.size):
        if live.size:
            if not 0 <= documents[posting] < live.size:
                return -1
            if not live[documents[posting]]:
                continue
        tf = 0.0
        for field in range(len(field_weights)):
            tf += field_weights[field] * frequencies[posting, field]
        count += tf > 0.0
    return count


def _numpy_count_distinct(documents: NDArray[np.int32], size: int) -> int:
    if documents.min(initial=0) < 0 or documents.max(initial=-1) >= size:
        return -1
    # numpy hashes numbers to find the different ones, which takes a hundred times as long
    held = np.zeros(size, np.bool_)
    held[documents] = True
    return int(np.count_nonzero(held))


@compiled
def count_distinct(documents: NDArray[np.int32], size: int) -> int:
    """The number of different documents among some; -1 where one is not from 0 and below a size."""
    held, count = np.zeros(size, np.bool_), 0
    for place in range(documents.size):
        document = documents[place]
        if not 0 <= document < size:
            return -1
        count += not held[document]
        held[document] = True
    return count


def _numpy_merge_forms(
    documents: NDArray[np.int32],
    frequencies: Reals,
    offsets: NDArray[np.int64],
    form_weights: Reals,
) -> tuple[NDArray[np.int32], Reals]:
    is_there = frequencies > 0.0
    merged, places = np.unique(documents[is_there], return_inverse=True)
    total = np.zeros(len(merged))
    # unlike an assignment, this adds what one document has more than once, in order
    np.add.at(total, places, (np.repeat(form_weights, np.diff(offsets)) * frequencies)[is_there])
    return merged, total


@compiled
def merge_forms(
    documents: NDArray[np.int32],
    frequencies: Reals,
    offsets: NDArray[np.int64],
    form_weights: Reals,
) -> tuple[NDArray[np.int32], Reals]:
    """Add up the frequencies of the forms of a term.

    Args:
        documents: The documents that hold each form, rising, one form after the other, shape
            (postings,).
        frequencies: The frequencies of the forms over weighted fields, shape (postings,).
        offsets: Where the postings of each form begin, and the last end, shape (forms + 1,).
        form_weights: The weight of an occurrence of each form, shape (forms,).

    Returns:
        The documents of all forms, rising, and their sums. A sum is added up in the order of the
        forms.
    """
    merged, total = np.empty(documents.size, np.int32), np.empty(documents.size)
    sums, held = np.zeros(_MERGED), np.zeros(_MERGED // 64, np.uint64)
    places, count = offsets[:-1].copy(), 0
    while True:
        first = least_document(documents, places, offsets)
        if first < 0:
            return merged[:count], total[:count]
        for form in range(places.size):
            place, end = places[form], offsets[form + 1]
            while place < end:
                at = np.uint64(np.int64(documents[place]) - first)
                if at >= _MERGED:  # so is a number below the first one
                    break
                if frequencies[place] > 0.0:
                    sums[at] += form_weights[form] * frequencies[place]
                    held[at >> np.uint64(6)] |= np.uint64(1) << (at & np.uint64(63))
                place += 1
            places[form] = place
        for word in range(held.size):
            while held[word]:
                at = np.uint64(64 * word + first_bit(held[word]))
                held[word] &= held[word] - np.uint64(1)
                merged[count], total[count], sums[at] = first + np.int64(at), sums[at], 0.0
                count += 1


@compiled(allocates=False)
def least_document(
    documents: NDArray[np.int32], places: NDArray[np.int64], offsets: NDArray[np.int64]
) -> int:
    """The lowest of the next documents of some lists; -1 where none is left."""
    least = -1
    for number in range(places.size):
        if places[number] < offsets[number + 1]:
            document = int(documents[places[number]])
            least = document if least < 0 else min(least, document)
    return least


def _numpy_add_document_scores(scores: Reals, document_scores: Reals, weight: float) -> None:
    places = np.flatnonzero(scores != UNSEEN)
    scores[places] += weight * document_scores[places]


@compiled(allocates=False)
def add_document_scores(scores: Reals, document_scores: Reals, weight: float) -> None:
    """Add a weighted score of its own to every document with a score."""
    for document in range(scores.size):
        if scores[document] != UNSEEN:
            scores[document] += weight * document_scores[document]


def _numpy_add_scores(scores: Reals, part: Reals, weight: float) -> None:
    places = np.flatnonzero(part != UNSEEN)
    _add(scores, places, weight * part[places])


@compiled(allocates=False)
def add_scores(scores: Reals, partition: Reals, weight: float) -> None:
    """Add weighted scores to others; a document without a score in one of them has 0 there."""
    for document in range(scores.size):
        if partition[document] != UNSEEN:
            known = scores[document]
            score = weight * partition[document]
            scores[document] = score if known == UNSEEN else known + score


def _numpy_add_saturated(scores: Reals, sums: Reals, weight: float, k1: float) -> None:
    places = np.flatnonzero(sums != UNSEEN)
    _add(scores, places, weight * sums[places] / (k1 + sums[places]))


@compiled(allocates=False)
def add_saturated(scores: Reals, sums: Reals, weight: float, k1: float) -> None:
    """Add weight · sum / (k1 + sum) to every document with a sum."""
    for document in range(scores.size):
        if sums[document] != UNSEEN:
            score = weight * sums[document] / (k1 + sums[document])
            known = scores[document]
            scores[document] = score if known == UNSEEN else known + score


def _numpy_best(
    scores: Reals,
    live: NDArray[np.uint8],
    first: int,
    k: int,
    top: NDArray[np.int64],
    top_scores: Reals,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    is_scored = scores > UNSEEN
    if live.size:
        is_scored &= live != 0
    places = np.flatnonzero(is_scored)
    numbers = np.concatenate((top[:filled], places + first))
    values = np.concatenate((top_scores[:filled], scores[places]))
    order = np.sort(np.lexsort((numbers, -values))[:k])
    top[: len(order)], top_scores[: len(order)] = numbers[order], values[order]
    return len(order), threshold


@compiled(allocates=False)
def best(
    scores: Reals,
    live: NDArray[np.uint8],
    first: int,
    k: int,
    top: NDArray[np.int64],
    top_scores: Reals,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """Keep the best of these documents and those before; of equal ones those with lower numbers.

    Args:
        scores: Shape (documents,), `UNSEEN` for those without a score.
        live: 0 for deleted documents; of size 0 when none is.
        first: The number of the first document, above those of all documents before.
        k: Number of documents; at least 1.
        top: Changed: document numbers, rising; longer than k.
        top_scores: Changed: their scores; as long as `top`.
        filled: Number of documents in `top`; it may be above k.
        threshold: Documents with this score or a lower one cannot be among the best.

    Returns:
        The new number of documents in `top`, and the new threshold.
    """
    for document in range(scores.size):
        score = scores[document]
        if score > threshold and not (live.size and not live[document]):
            if filled == top.size:
                threshold, filled = keep_best(k, top, top_scores, filled)
                if score <= threshold:
                    continue
            top[filled], top_scores[filled] = document + first, score
            filled += 1
    return filled, threshold


@compiled
def keep_best(k: int, top: NDArray[np.int64], top_scores: Reals, filled: int) -> tuple[float, int]:
    """Keep the k best of the documents found so far, in their order: the last score, and k."""
    threshold = select(top_scores[:filled].copy(), k)
    equal = k
    for place in range(filled):
        equal -= top_scores[place] > threshold
    kept = 0
    for place in range(filled):
        score = top_scores[place]
        if score > threshold or (score == threshold and equal > 0):
            equal -= score == threshold
            top[kept], top_scores[kept] = top[place], score
            kept += 1
    return threshold, kept


@compiled(allocates=False)
def select(values: Reals, rank: int) -> float:
    """The value of a rank, the highest being 1; the values are reordered (Hoare's quickselect)."""
    low, high, wanted = 0, values.size - 1, rank - 1
    while low < high:
        right, left = partition(values, low, high)
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return float(values[wanted])


@compiled(allocates=False)
def partition(values: Reals, low: int, high: int) -> tuple[int, int]:
    """Move the higher values between two places, inclusive, before the lower ones.

    Returns:
        The last place of the higher values, and the first place of the lower ones.
    """
    middle = (low + high) >> 1
    # the median of three is no outlier, and ends both inner loops
    if values[middle] > values[low]:
        values[middle], values[low] = values[low], values[middle]
    if values[high] > values[low]:
        values[high], values[low] = values[low], values[high]
    if values[high] > values[middle]:
        values[high], values[middle] = values[middle], values[high]
    pivot, left, right = values[middle], low, high
    while left <= right:
        while values[left] > pivot:
            left += 1
        while values[right] < pivot:
            right -= 1
        if left <= right:
            values[left], values[right] = values[right], values[left]
            left += 1
            right -= 1
    return right, left


def _numpy_order(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The same as `_bucket_order`, always."""
    return np.argsort(-scores, kind="stable")


def order_by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places of scores, the highest first, of equal ones in their order, shape as `scores`."""
    order = _bucket_order(scores)
    return order if len(order) == len(scores) else _numpy_order(scores)


@compiled(numpy=_numpy_order, seconds=lambda scores: _SORTING_SECONDS * scores.size)
def _bucket_order(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The order of scores; empty if scores are not finite, or most of them are nearly equal.

    As many buckets as scores are filled, and what they hold is sorted by insertion.
    """
    count, nothing = scores.size, np.empty(0, np.int64)
    highest, lowest = range_of(scores)
    width = highest - lowest
    if not 0.0 <= width < np.inf:
        return nothing
    scale = count / width if width > 0.0 else 0.0
    if not scale < np.inf:
        return nothing
    ends, buckets = np.zeros(count + 2, np.int64), np.empty(count, np.int64)
    for place in range(count):
        # the division and the product may be rounded up
        buckets[place] = min(int((highest - scores[place]) * scale), count)
        ends[buckets[place] + 1] += 1
    for bucket in range(count):
        ends[bucket + 1] += ends[bucket]
    order = np.empty(count, np.int64)
    for place in range(count):
        order[ends[buckets[place]]] = place
        ends[buckets[place]] += 1
    moves = _MOST_MOVES * count
    for rank in range(1, count):
        place, to = order[rank], rank
        while to > 0 and scores[order[to - 1]] < scores[place]:
            order[to] = order[to - 1]
            to -= 1
        order[to] = place
        moves -= rank - to
        if moves < 0:
            return nothing
    return order


@inlined
def range_of(scores: NDArray[np.float64]) -> tuple[float, float]:
    """The highest and the lowest of some scores; infinite where one is no number.

    numpy's functions for this would load much of numba, and scipy.
    """
    highest, lowest = -np.inf, np.inf
    for score in scores:
        if np.isnan(score):
            return np.inf, -np.inf
        highest, lowest = max(highest, score), min(lowest, score)
    return highest, lowest


class Loops(NamedTuple):
    """The loops of the searcher, compiled or in numpy.

    Both give the same numbers to the last bit: each sum is made in the same order, and logarithms
    are Python's. Small pieces of work are done in numpy, since compiled loops take longer to load.
    """

    accumulator: Callable[[Formula], Accumulate]
    count_documents: Callable[..., int]
    count_distinct: Callable[[NDArray[np.int32], int], int]
    merge_forms: Callable[..., tuple[NDArray[np.int32], Reals]]
    add_document_scores: Callable[[Reals, Reals, float], None]
    add_scores: Callable[[Reals, Reals, float], None]
    add_saturated: Callable[[Reals, Reals, float, float], None]
    best: Callable[..., tuple[int, float]]


COMPILED = Loops(
    accumulator,
    count_documents,
    count_distinct,
    merge_forms,
    add_document_scores,
    add_scores,
    add_saturated,
    best,
)
NUMPY = Loops(
    _numpy_accumulator,
    _numpy_count_documents,
    _numpy_count_distinct,
    _numpy_merge_forms,
    _numpy_add_document_scores,
    _numpy_add_scores,
    _numpy_add_saturated,
    _numpy_best,
)
