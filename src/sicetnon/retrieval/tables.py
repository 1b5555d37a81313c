"""Kernels for exhaustive scoring by one weighting model, window after window.

BM25 is computed, and so is `DirichletLM` but for its logarithms. Of other formulas, values are
looked up. A formula sees a document only by its
length, and most frequencies are small. A long list of postings therefore holds far fewer pairs of
frequency and length than postings. The formula's value for each such pair is put into a table once
per term and query, and looked up for each posting. The value of a pair is the same number wherever
it comes from, so that the scores are those of `exhaustive`, to the last bit.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.retrieval.formulas import UNSEEN, by_number, log_ratio_matched, saturation
from sicetnon.retrieval.kernels import keep, select

Reals: TypeAlias = NDArray[np.float64]
Postings: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint16], tuple[int, int]]
"""Documents, frequencies, posting after posting, the column that counts, number of columns."""
Documents: TypeAlias = tuple[
    NDArray[np.int32], NDArray[np.uint16], Reals, Reals, float, NDArray[np.uint8], int
]
"""Lengths; the same, 65,535 at most; for each length the norm and the score of a document (none: of
size 0); the weight of these scores; 0 for each deleted document (none: of size 0); the number of
the first document."""
Terms: TypeAlias = tuple[int, Reals, NDArray[np.bool_], Reals]
"""The number of the formula; for each term its weight, the formula's constants and the weight of an
occurrence, shape (terms, 4); whether it has a table; tables, shape (terms, frequencies, lengths).
"""
Found: TypeAlias = tuple[int, NDArray[np.int64], Reals]
"""Number of documents wanted; numbers and scores of those found, rising by number."""

NONE = -0.0
"""The score of a document without any of the terms: the number that changes no other by addition.
Scores of terms are never this number, but 0.0, nor are their sums."""
MOST_SHORT = 65_535
"""The highest length in 16 bits; it stands for all that are higher."""
GROUP_BITS = 4
"""Documents of a window are looked at in groups of 16."""
_SAMPLES, _SAMPLE_SIZE = 4, 2048


@inlined
def is_none(score: float) -> bool:
    """Whether a document has none of the terms."""
    return score == 0.0 and math.copysign(1.0, score) < 0.0


@compiled
def fill_tables(terms: Terms, norms: Reals) -> None:
    """Fill the tables of the terms that have one.

    For `log_ratio_matched` a table holds the logarithm for each frequency.
    """
    number, constants, has_table, tables = terms
    lengths = min(tables.shape[2], norms.size)
    for term in range(tables.shape[0]):
        if number == 2:
            _, a, _, occurrence = constants[term]
            for frequency in range(tables.shape[2]):
                tables[term, 0, frequency] = math.log(1.0 + a * (occurrence * frequency))
        elif has_table[term]:
            weight, a, b, occurrence = constants[term]
            tables[term, 0, :] = NONE
            for frequency in range(1, tables.shape[1]):
                tf = occurrence * frequency
                for length in range(lengths):
                    value = weight * by_number(number, tf, norms[length], a, b)
                    tables[term, frequency, length] = value + 0.0


@compiled
def add_window(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    places: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: int,
    threshold: float,
    scores: Reals,
    marks: NDArray[np.uint8],
) -> None:
    """Score the documents of a window, and mark the groups of those above a threshold.

    Args:
        postings: The postings of the segment.
        documents_of: Its documents.
        terms: The terms, with their tables.
        places: The place of each term's next posting; changed.
        ends: The end of each term's postings.
        first: The first document of the window.
        threshold: Groups of documents with higher scores are marked.
        scores: Output: `NONE` for a document without any of the terms, shape (window,).
        marks: Set to 1 for each group with a score above the threshold.
    """
    scores[:] = NONE
    for term in range(places.size):
        if terms[0] == 0:
            places[term] = add_saturated(
                postings, documents_of, terms, term, places[term], ends[term], first, threshold,
                scores, marks,
            )  # fmt: skip
        elif terms[0] == 2:
            places[term] = add_log_ratio(
                postings, documents_of, terms, term, places[term], ends[term], first, threshold,
                scores, marks,
            )  # fmt: skip
        else:
            places[term] = add_looked_up(
                postings, documents_of, terms, term, places[term], ends[term], first, threshold,
                scores, marks,
            )  # fmt: skip


# In the loops below, places are unsigned: numba takes negative ones to count from the end, which
# costs a quarter of the time. They stay apart since the call of other formulas, were it never made,
# costs the first two a third.


@compiled
def add_saturated(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    term: int,
    begin: int,
    end: int,
    first: int,
    threshold: float,
    scores: Reals,
    marks: NDArray[np.uint8],
) -> int:
    """Add a term's scores, by `saturation`, to those of a window.

    Returns:
        The place of the first posting behind the window.
    """
    documents, frequencies, (column, columns) = postings
    lengths, short_lengths, norms = documents_of[:3]
    weight, a, b, occurrence = terms[1][term]
    start, size = np.uint64(first), np.uint64(scores.size)
    place, stop = np.uint64(begin), np.uint64(end)
    while place < stop:
        # a lower number than the first becomes a high one, and ends the loop
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        frequency = np.uint64(frequencies[place * np.uint64(columns) + np.uint64(column)])
        length = np.uint64(short_lengths[start + document])
        place += np.uint64(1)
        if frequency == 0:
            continue
        if length == MOST_SHORT:
            length = np.uint64(lengths[start + document])
        tf = occurrence * np.float64(frequency)
        score = weight * saturation(tf, norms[length], a, b) + 0.0 + scores[document]
        scores[document] = score
        if score > threshold:
            marks[document >> np.uint64(GROUP_BITS)] = 1
    return int(place)


@compiled
def add_log_ratio(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    term: int,
    begin: int,
    end: int,
    first: int,
    threshold: float,
    scores: Reals,
    marks: NDArray[np.uint8],
) -> int:
    """Add a term's scores, by `log_ratio_matched`, to those of a window.

    Returns:
        The place of the first posting behind the window.
    """
    documents, frequencies, (column, columns) = postings
    lengths, short_lengths, norms = documents_of[:3]
    weight, a, b, occurrence = terms[1][term]
    start, size = np.uint64(first), np.uint64(scores.size)
    place, stop = np.uint64(begin), np.uint64(end)
    logarithms = terms[3][term].ravel()
    while place < stop:
        # a lower number than the first becomes a high one, and ends the loop
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        frequency = np.uint64(frequencies[place * np.uint64(columns) + np.uint64(column)])
        length = np.uint64(short_lengths[start + document])
        place += np.uint64(1)
        if frequency == 0:
            continue
        if length == MOST_SHORT:
            length = np.uint64(lengths[start + document])
        if frequency < logarithms.size:
            score = max(b, logarithms[frequency] + norms[length])
        else:
            score = log_ratio_matched(occurrence * np.float64(frequency), norms[length], a, b)
        score = weight * score + 0.0 + scores[document]
        scores[document] = score
        if score > threshold:
            marks[document >> np.uint64(GROUP_BITS)] = 1
    return int(place)


@compiled
def add_looked_up(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    term: int,
    begin: int,
    end: int,
    first: int,
    threshold: float,
    scores: Reals,
    marks: NDArray[np.uint8],
) -> int:
    """Add a term's scores, by its table and any formula, to those of a window.

    Returns:
        The place of the first posting behind the window.
    """
    documents, frequencies, (column, columns) = postings
    lengths, short_lengths, norms = documents_of[:3]
    number, constants, has_table, tables = terms
    weight, a, b, occurrence = constants[term]
    table, width = tables[term].ravel(), np.uint64(tables.shape[2])
    most = np.uint64(tables.shape[1] if has_table[term] else 0)
    start, size = np.uint64(first), np.uint64(scores.size)
    place, stop = np.uint64(begin), np.uint64(end)
    while place < stop:
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        frequency = np.uint64(frequencies[place * np.uint64(columns) + np.uint64(column)])
        length = np.uint64(short_lengths[start + document])
        place += np.uint64(1)
        if frequency < most and length < width:
            score = table[frequency * width + length]
        elif frequency:
            norm, tf = norms[lengths[start + document]], occurrence * np.float64(frequency)
            score = weight * by_number(number, tf, norm, a, b) + 0.0
        else:
            continue
        score += scores[document]
        scores[document] = score
        if score > threshold:
            marks[document >> np.uint64(GROUP_BITS)] = 1
    return int(place)


@compiled
def offer_marked(
    documents_of: Documents,
    first: int,
    scores: Reals,
    marks: NDArray[np.uint8],
    found: Found,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """Keep the best of the documents in marked groups and those before; marks become 0.

    Returns:
        The new number of documents found, and the new threshold.
    """
    lengths, _, _, document_scores, document_weight, live, base = documents_of
    k, numbers, values = found
    for group in range(((scores.size - 1) >> GROUP_BITS) + 1):
        if not marks[group]:
            continue
        marks[group] = 0
        begin = group << GROUP_BITS
        for place in range(begin, min(begin + (1 << GROUP_BITS), scores.size)):
            score = scores[place]
            if not score > threshold or is_none(score) or (live.size and not live[first + place]):
                continue
            if document_scores.size:
                score += document_weight * document_scores[lengths[first + place]]
            if score > threshold:
                if filled == numbers.size:
                    threshold, filled = keep(k, numbers, values, filled)
                    if score <= threshold:
                        continue
                numbers[filled], values[filled] = base + first + place, score
                filled += 1
    return filled, threshold


@compiled
def search_windows(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    found: Found,
    filled: int,
    threshold: float,
    window: int,
) -> tuple[int, float]:
    """Score all documents of a segment, and keep the best.

    Args:
        postings: The postings of the segment.
        documents_of: Its documents.
        terms: The terms, with their tables.
        ranges: The begin and end of each term's postings, shape (terms, 2).
        found: The documents found so far; changed.
        filled: Their number.
        threshold: Documents with this score or a lower one cannot be among the best.
        window: Documents per window.

    Returns:
        The new number of documents found, -1 for damaged postings, and the new threshold.
    """
    size = documents_of[0].size
    places, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    scores = np.empty(min(window, size))
    marks = np.zeros((scores.size >> GROUP_BITS) + 1, dtype=np.uint8)
    for first in range(0, size, scores.size):
        here = scores[: min(scores.size, size - first)]
        add_window(postings, documents_of, terms, places, ends, first, threshold, here, marks)
        filled, threshold = offer_marked(documents_of, first, here, marks, found, filled, threshold)
    return filled, threshold


@compiled
def estimate(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    k: int,
) -> float:
    """A score that k documents of a segment exceed, most probably, by a sample of them.

    The sample is taken at equal distances, since neighbours may be alike.
    """
    lengths, _, _, document_scores, document_weight, live, _ = documents_of
    expected = k * _SAMPLES * _SAMPLE_SIZE / lengths.size
    rank = int(expected + 3.0 * np.sqrt(expected)) + 2
    sample, scores = np.empty(_SAMPLES * _SAMPLE_SIZE), np.empty(_SAMPLE_SIZE)
    marks = np.empty(_SAMPLE_SIZE, dtype=np.uint8)
    places, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    filled, distance = 0, lengths.size // _SAMPLES
    for number in range(_SAMPLES):
        first = number * distance
        for term in range(places.size):
            places[term] = find(postings[0], places[term], ends[term], first)
        add_window(postings, documents_of, terms, places, ends, first, np.inf, scores, marks)
        for place in range(_SAMPLE_SIZE):
            score = scores[place]
            if not is_none(score) and not (live.size and not live[first + place]):
                if document_scores.size:
                    score += document_weight * document_scores[lengths[first + place]]
                sample[filled] = score
                filled += 1
    return select(sample[:filled], rank) if rank <= filled else UNSEEN


@compiled
def find(documents: NDArray[np.int32], begin: int, end: int, document: int) -> int:
    """The place of the first document from a number on."""
    while begin < end:
        middle = (begin + end) >> 1
        if documents[middle] < document:
            begin = middle + 1
        else:
            end = middle
    return begin
