"""The compiled loops of the searcher. `plain` has the same functions in numpy."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.index.posting_codec import first_bit
from sicetnon.retrieval.formulas import (
    UNSEEN,
    Accumulate,
    Formula,
    WindowPostings,
    log_ratio_matched,
    matched,
)

Reals = NDArray[np.float64]

_LOGS = 1 << 8
"""Number of logarithms that `cached_log` keeps; a power of 2."""
_SPREAD = 997.0
"""Distance between the places of the frequencies 1 and 2. An odd distance spreads whole frequencies
over all places; a large one separates tenths."""
_HIGHEST = 1e15
"""Upper bound of the number that is converted into a place: 64 bits hold it."""
_MERGED = 1 << 12
"""Documents per window of `merge_forms`: their sums fit into a core's first cache."""


@functools.cache
def accumulator(formula: Formula) -> Accumulate:
    """The loop that adds the scores of a term, by a formula, to those of its documents.

    The loop returns whether all documents of the postings are among those that have a score.
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
    """ln(1 + a · tf), kept for the frequencies seen last: most postings have one of a few.

    Args:
        tf: The frequency, above 0.
        a: The constant of the term.
        logs: Changed: frequencies, 0 for none, and their logarithms, shape (2, `_LOGS`).
    """
    place = np.uint64(min(tf * _SPREAD, _HIGHEST)) & np.uint64(_LOGS - 1)
    if logs[0, place] != tf:
        logs[0, place], logs[1, place] = tf, math.log(1.0 + a * tf)
    return float(logs[1, place])


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


@compiled(allocates=False)
def add_document_scores(scores: Reals, document_scores: Reals, weight: float) -> None:
    """Add a weighted score of its own to every document with a score."""
    for document in range(scores.size):
        if scores[document] != UNSEEN:
            scores[document] += weight * document_scores[document]


@compiled(allocates=False)
def add_scores(scores: Reals, part: Reals, weight: float) -> None:
    """Add weighted scores to others; a document without a score in one of them has 0 there."""
    for document in range(scores.size):
        if part[document] != UNSEEN:
            known = scores[document]
            score = weight * part[document]
            scores[document] = score if known == UNSEEN else known + score


@compiled(allocates=False)
def add_saturated(scores: Reals, sums: Reals, weight: float, k1: float) -> None:
    """Add weight · sum / (k1 + sum) to every document with a sum."""
    for document in range(scores.size):
        if sums[document] != UNSEEN:
            score = weight * sums[document] / (k1 + sums[document])
            known = scores[document]
            scores[document] = score if known == UNSEEN else known + score


@compiled(allocates=False)
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
    """Keep the best of these documents and those before; of equal ones those with lower numbers.

    Args:
        scores: Shape (documents,), `UNSEEN` for those without a score.
        live: 0 for deleted documents; of size 0 when none is.
        first: The number of the first document, above those of all documents before.
        k: Number of documents; at least 1.
        found: Changed: document numbers, rising; longer than k.
        found_scores: Changed: their scores; as long as `found`.
        filled: Number of documents in `found`; it may be above k.
        threshold: Documents with this score or a lower one cannot be among the best.

    Returns:
        The new number of documents in `found`, and the new threshold.
    """
    for document in range(scores.size):
        score = scores[document]
        if score > threshold and not (live.size and not live[document]):
            if filled == found.size:
                threshold, filled = keep(k, found, found_scores, filled)
                if score <= threshold:
                    continue
            found[filled], found_scores[filled] = document + first, score
            filled += 1
    return filled, threshold


@compiled
def keep(k: int, found: NDArray[np.int64], found_scores: Reals, filled: int) -> tuple[float, int]:
    """Keep the k best of the documents found so far, in their order: the last score, and k."""
    threshold = select(found_scores[:filled].copy(), k)
    equal = k
    for place in range(filled):
        equal -= found_scores[place] > threshold
    kept = 0
    for place in range(filled):
        score = found_scores[place]
        if score > threshold or (score == threshold and equal > 0):
            equal -= score == threshold
            found[kept], found_scores[kept] = found[place], score
            kept += 1
    return threshold, kept


@compiled(allocates=False)
def select(values: Reals, rank: int) -> float:
    """The value of a rank, the highest being 1; the values are reordered (Hoare's quickselect)."""
    low, high, wanted = 0, values.size - 1, rank - 1
    while low < high:
        right, left = part(values, low, high)
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return float(values[wanted])


@compiled(allocates=False)
def part(values: Reals, low: int, high: int) -> tuple[int, int]:
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
