"""Exhaustive scoring by one weighting model, term at a time in windows of documents.

A formula sees a posting by its frequency and the length of its document alone. The index numbers
the distinct pairs of both for each frequent term (`index.posting_cache`). The score of each pair is
put into a table once per term and query, and looked up for each posting, whatever the formula. The
scores of rare terms are computed posting by posting. The score of a pair is the same number
wherever it is computed, so that the scores are those of `reference`, to the last bit.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.index.posting_codec import first_bit
from sicetnon.jit import compiled, eight_bytes, inlined, prefetch
from sicetnon.retrieval.formulas import matched, saturation, score_formula
from sicetnon.retrieval.kernels import keep_best

PostingArrays: TypeAlias = tuple[
    NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16], tuple[int, int]
]
"""Documents; codes; frequencies, posting after posting, the column that counts, number of columns.
"""
DocumentArrays: TypeAlias = tuple[NDArray[np.int32], Reals, Reals, float, NDArray[np.uint8], int]
"""Lengths; for each length the norm and the score of a document (none: of size 0); the weight of
these scores; 0 for each deleted document (none: of size 0); the number of the first document."""
Pairs: TypeAlias = tuple[NDArray[np.uint16], NDArray[np.int32]]
"""The frequencies and lengths of the pairs of all terms."""
QueryTerms: TypeAlias = tuple[int, float, Reals, NDArray[np.int64], Reals]
"""The number of the formula; the weight of an occurrence; for each term its weight and the
constants of the formula, shape (terms, 3), and where the scores of its pairs begin in the table,
shape (terms + 1,); the table."""
TopDocs: TypeAlias = tuple[int, NDArray[np.int64], Reals]
"""Number of documents wanted; numbers and scores of those found, rising by number."""

NONE = -0.0
"""The score of a document without any of the terms: the number that changes no other by addition.
Scores of terms are never this number, but 0.0, nor are their sums."""
GROUP = 64
"""Documents of a window are looked at in groups of this size."""
_AT_A_TIME = 16
"""Postings that are added without a look at each, whether it is in the window."""
_16, _32, _48 = np.uint64(16), np.uint64(32), np.uint64(48)
_LOW_HALF, _LOW_QUARTER = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)
_LINE = 16
"""Documents of postings in a line of the caches."""
_MOST_FETCHED = 1 << 12
"""Pairs of the next term that are fetched while those of a term are looked at."""
_AHEAD = 384
"""Prefetch distance in postings (64 and 256 measured slower, to 2,048 as fast)."""


@inlined
def is_none(score: float) -> bool:
    """Whether a document has none of the terms."""
    return score == 0.0 and math.copysign(1.0, score) < 0.0


@compiled
def score_pairs(
    pairs: Pairs, lists: NDArray[np.int64], formula: tuple[int, float, Reals], norms: Reals
) -> tuple[NDArray[np.int64], NDArray[np.int64], Reals]:
    """Compute the scores of all pairs of some terms.

    Args:
        pairs: The pairs of the segment.
        lists: For each term the begin and end of its postings, and of its pairs, shape (terms, 4).
        formula: The first three of `QueryTerms`.
        norms: The norm for each length.

    Returns:
        The begin and end of each term's postings, shape (terms, 2). Where the scores of each
        term's pairs begin, shape (terms + 1,); of size 0 if a pair has a length that no document
        can have. The scores.
    """
    count = lists.shape[0]
    starts = np.zeros(count + 1, np.int64)
    for term in range(count):
        starts[term + 1] = starts[term] + lists[term, 3] - lists[term, 2]
    table = np.empty(starts[count])
    terms = formula[0], formula[1], formula[2], starts, table
    for term in range(count):
        if term + 1 < count:
            begin, end = lists[term + 1, 2], lists[term + 1, 3]
            fetch(pairs[1], pairs[0], begin, min(end - begin, _MOST_FETCHED))
        begin, end = lists[term, 2], lists[term, 3]
        if formula[0] == 0:
            is_sound = fill_saturated(pairs, terms, term, begin, end, norms)
        else:
            is_sound = fill_other(pairs, terms, term, begin, end, norms)
        if not is_sound:
            return lists[:, :2].copy(), starts[:0], table
    # numba would compile every kernel again for a slice that is not contiguous
    return lists[:, :2].copy(), starts, table


@compiled(allocates=False)
def fill_saturated(
    pairs: Pairs, terms: QueryTerms, term: int, begin: int, end: int, norms: Reals
) -> bool:
    """Compute the scores of a term's pairs by the formula `saturation`.

    The norms are looked up first: processors divide several numbers at a time, but look up one.

    Returns:
        Whether all pairs have a length that a document can have.
    """
    frequencies, lengths = pairs
    _, occurrence, constants, starts, table = terms
    weight, a, b = constants[term]
    size, start, first = np.uint64(norms.size), np.uint64(starts[term]), np.uint64(begin)
    count = np.uint64(end) - first
    for pair in range(count):
        length = np.uint64(lengths[first + pair])
        if length >= size:
            return False
        table[start + pair] = norms[length]
    for pair in range(count):
        frequency = np.float64(frequencies[first + pair])
        score = weight * saturation(occurrence * frequency, table[start + pair], a, b) + 0.0
        table[start + pair] = score if frequency > 0.0 else NONE
    return True


@compiled(allocates=False)
def fill_other(
    pairs: Pairs, terms: QueryTerms, term: int, begin: int, end: int, norms: Reals
) -> bool:
    """Compute the scores of a term's pairs by another formula."""
    frequencies, lengths = pairs
    number, occurrence, constants, starts, table = terms
    weight, a, b = constants[term]
    size, place = np.uint64(norms.size), np.uint64(starts[term])
    last, logarithm = 0.0, 0.0
    for pair in range(np.uint64(begin), np.uint64(end)):
        frequency, length = np.float64(frequencies[pair]), np.uint64(lengths[pair])
        if length >= size:
            return False
        tf, norm = occurrence * frequency, norms[length]
        if number != 2:
            score = score_formula(number, tf, norm, a, b)
        else:
            # `log_ratio_matched`: pairs of equal frequency stand together
            if frequency != last:
                last, logarithm = frequency, math.log(1.0 + a * tf)
            score = matched(logarithm, norm, b)
        table[place] = weight * score + 0.0 if frequency > 0.0 else NONE
        place += np.uint64(1)
    return True


@compiled(allocates=False)
def add_window(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    places: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: int,
    size: int,
    scores: Reals,
) -> None:
    """Add the scores of the documents of a window.

    Args:
        postings: The postings of the segment.
        documents_of: Its documents.
        terms: The terms.
        places: The place of each term's next posting; changed.
        ends: The end of each term's postings.
        first: The first document of the window.
        size: The number of its documents.
        scores: `NONE` before, and then for a document without any of the terms; as long as the
            window, or longer.
    """
    documents, codes = postings[:2]
    starts, table, window_end = terms[3], terms[4], first + size
    for term in range(places.size):
        place, end = places[term], ends[term]
        if starts[term] < starts[term + 1]:
            places[term] = add_paired(
                documents, codes, table, starts[term], place, end, first, window_end, scores
            )
        else:
            places[term] = add_computed(
                postings, documents_of, terms, term, place, end, first, window_end, scores
            )


# In the loops below, places are unsigned: numba takes negative ones to count from the end, which
# costs a quarter of the time. Documents rise, and all documents and codes are known ones, as was
# seen when they were unpacked.


@inlined(allocates=False)
def add_paired(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    table: Reals,
    start: int,
    begin: int,
    end: int,
    first: int,
    window_end: int,
    scores: Reals,
) -> np.int64:
    """Add the scores of a term with pairs to a window; return the position after them.

    Many postings are added at a time where the last of them is in the window.
    """
    # unsigned, and from the first score of the term on: fewer instructions for each posting
    own, base = table[start:], np.uint64(first)
    place, stop, many = np.uint64(begin), np.uint64(end), np.uint64(_AT_A_TIME)
    while place + many <= stop and documents[place + many - np.uint64(1)] < window_end:
        prefetch(documents, place + np.uint64(_AHEAD))
        prefetch(codes, place + np.uint64(_AHEAD))
        for group in range(many // np.uint64(4)):
            at = place + np.uint64(4) * group
            lower, upper = eight_bytes(documents, at), eight_bytes(documents, at + np.uint64(2))
            four_codes = eight_bytes(codes, at)
            scores[(lower & _LOW_HALF) - base] += own[four_codes & _LOW_QUARTER]
            scores[(lower >> _32) - base] += own[(four_codes >> _16) & _LOW_QUARTER]
            scores[(upper & _LOW_HALF) - base] += own[(four_codes >> _32) & _LOW_QUARTER]
            scores[(upper >> _32) - base] += own[four_codes >> _48]
        place += many
    while place < stop and documents[place] < window_end:
        scores[np.uint64(documents[place]) - base] += own[np.uint64(codes[place])]
        place += np.uint64(1)
    return np.int64(place)


@compiled(allocates=False)
def add_computed(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    term: int,
    begin: int,
    end: int,
    first: int,
    window_end: int,
    scores: Reals,
) -> np.int64:
    """Add the scores of a term without pairs to a window; return the position after them."""
    documents, _, frequencies, (column, columns) = postings
    lengths, norms = documents_of[:2]
    number, occurrence, constants = terms[:3]
    weight, a, b = constants[term]
    place, stop = np.uint64(begin), np.uint64(end)
    while place < stop and documents[place] < window_end:
        frequency = np.uint64(frequencies[place * np.uint64(columns) + np.uint64(column)])
        if frequency:
            document = np.uint64(documents[place])
            norm = norms[np.uint64(lengths[document])]
            tf = occurrence * np.float64(frequency)
            score = weight * score_formula(number, tf, norm, a, b) + 0.0
            scores[document - np.uint64(first)] += score
        place += np.uint64(1)
    return np.int64(place)


@compiled(allocates=False)
def offer(
    documents_of: DocumentArrays,
    first: int,
    scores: Reals,
    top: TopDocs,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """Keep the best of the documents of a window and those before; the scores become `NONE`.

    Returns:
        The new number of documents found, and the new threshold.
    """
    lengths, _, document_scores, document_weight, live, base = documents_of
    k, numbers, values = top
    for group in range(scores.size // GROUP):
        begin = np.uint64(group * GROUP)
        if threshold >= 0.0:
            above = mask_above(scores, begin, threshold)
        else:  # the score of a document without any of the terms would be above it
            above = mask_held(scores, begin)
        while above:
            place = begin + np.uint64(first_bit(above))
            above &= above - np.uint64(1)
            score, document = scores[place], first + int(place)
            if is_none(score) or (live.size and not live[document]):
                continue
            if document_scores.size:
                score += document_weight * document_scores[lengths[document]]
            if score > threshold:
                if filled == numbers.size:
                    threshold, filled = keep_best(k, numbers, values, filled)
                    if score <= threshold:
                        continue
                numbers[filled], values[filled] = base + document, score
                filled += 1
        for bit in range(GROUP):
            scores[begin + np.uint64(bit)] = NONE
    return filled, threshold


@inlined
def mask_above(scores: NDArray[Any], begin: np.uint64, threshold: Any) -> np.uint64:
    """A bit for each score of a group above a threshold: a few comparisons of many numbers."""
    above = np.uint64(0)
    for place in range(GROUP):
        bit = np.uint64(place)
        above |= np.uint64(scores[begin + bit] > threshold) << bit
    return above


@inlined
def mask_held(scores: Reals, begin: np.uint64) -> np.uint64:
    """A bit for each document of a group with one of the terms."""
    held = np.uint64(0)
    for place in range(GROUP):
        bit = np.uint64(place)
        held |= np.uint64(not is_none(scores[begin + bit])) << bit
    return held


@compiled
def search_windows(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    ranges: NDArray[np.int64],
    top: TopDocs,
    filled: int,
    threshold: float,
    window: int,
) -> tuple[int, float]:
    """Score all documents of a segment, and keep the best.

    Args:
        postings: The postings of the segment.
        documents_of: Its documents.
        terms: The terms, with the scores of their pairs.
        ranges: The begin and end of each term's postings, shape (terms, 2).
        top: The documents found so far; changed.
        filled: Their number.
        threshold: Documents with this score or a lower one cannot be among the best.
        window: Documents per window.

    Returns:
        The new number of documents found, and the new threshold.
    """
    documents = documents_of[0].size
    places, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    scores = no_scores(min(window, documents))
    for first in range(0, documents, window):
        size = min(window, documents - first)
        add_window(postings, documents_of, terms, places, ends, first, size, scores)
        filled, threshold = offer(documents_of, first, scores, top, filled, threshold)
    return filled, threshold


@inlined
def no_scores(window: int) -> Reals:
    """The scores of a window of documents before any is known: whole groups of them."""
    return np.full((window + GROUP - 1) // GROUP * GROUP, NONE)


@compiled(allocates=False)
def fetch(numbers: NDArray[np.int32], codes: NDArray[np.uint16], begin: int, count: int) -> None:
    """Fetch postings or pairs from memory, many at a time: to wait for each takes longer."""
    for place in range(np.uint64(begin), np.uint64(begin + count), np.uint64(_LINE)):
        prefetch(numbers, place)
        prefetch(codes, place)


@compiled(allocates=False)
def find(documents: NDArray[np.int32], begin: int, end: int, document: int) -> int:
    """The place of the first document from a number on."""
    while begin < end:
        middle = (begin + end) >> 1
        if documents[middle] < document:
            begin = middle + 1
        else:
            end = middle
    return begin
