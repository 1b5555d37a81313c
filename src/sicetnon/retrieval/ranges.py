"""Kernels that leave documents out, by what no score exceeds in a range of documents.

The bounds of a query's terms are added up, many at once, and ranges whose sums are not above the
threshold are left out. The ranges of the highest sums are scored first, for a threshold (Mallia,
Suel and Tonellotto, SIGIR 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.kernels import keep, select
from sicetnon.retrieval.range_bounds import (
    BLOCK_BITS,
    RANGE_BITS,
    Bounds,
    Known,
    Sums,
    count_above,
    limit_of,
    numbers_above,
    sum_bounds,
)
from sicetnon.retrieval.tables import (
    NONE,
    Documents,
    Found,
    Postings,
    Reals,
    Terms,
    find,
    no_scores,
    offer,
    search_windows,
    those_above,
)

_RANGE = 1 << RANGE_BITS
_COLUMNS = 512
_RANGE_COST, _TERM_COST, _POSTING_COST, _DOCUMENT_COST = 25.0, 11.0, 1.0, 0.18
"""Nanoseconds for a range, and for each term in it; and, where all documents are scored, for a
posting and for a document."""


@compiled
def search_ranges(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    found: Found,
    filled: int,
    threshold: float,
    window: int,
    bounds: Bounds,
) -> tuple[int, float]:
    """Score the documents of a segment that can be among the best, and keep the best.

    The arguments and what is returned are those of `tables.search_windows`, which is called where
    it takes less time, and bounds of scores.
    """
    known = sum_bounds(postings, documents_of, terms, ranges, bounds)
    sums, scale = known[0], known[3]
    threshold = max(
        threshold, probe(postings, documents_of, terms, ranges, found[0], bounds, known)
    )
    limit = limit_of(threshold, scale)
    most = documents_of[0].size * _DOCUMENT_COST
    for term in range(len(ranges)):
        most += (ranges[term, 1] - ranges[term, 0]) * _POSTING_COST
    count = count_above(sums, limit) if limit >= 0 else sums.size
    if limit < 0 or count * (_RANGE_COST + _TERM_COST * len(ranges)) > most:
        return search_windows(
            postings, documents_of, terms, ranges, found, filled, threshold, window
        )
    numbers = numbers_above(sums, limit, count)
    return score_ranges(
        postings, documents_of, terms, ranges, bounds, known, numbers, found, filled, threshold
    )


@compiled
def probe(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    k: int,
    bounds: Bounds,
    known: Known,
) -> float:
    """A score that k documents of a segment exceed, by the ranges with the highest sums.

    To find them, the sums are the rows of a table, and the highest of each column is looked at.
    """
    sums, wanted = known[0], 2 * k + 44
    rows = sums.size // _COLUMNS
    if wanted > _COLUMNS or not rows or known[3] == 0.0:
        return UNSEEN
    highest = np.zeros(_COLUMNS, np.uint16)
    for row in range(rows):
        raise_to(highest, sums[row * _COLUMNS : (row + 1) * _COLUMNS])
    limit = int(select(highest.astype(np.float64), wanted)) - 1
    if limit < 0:
        return UNSEEN
    numbers = numbers_above(sums, limit, count_above(sums, limit))[: 4 * wanted]
    found = k, np.empty(2 * k + 64, dtype=np.int64), np.empty(2 * k + 64)
    filled, _ = score_ranges(
        postings, documents_of, terms, ranges, bounds, known, numbers, found, 0, UNSEEN
    )
    if filled < k:
        return UNSEEN
    threshold = keep(k, found[1], found[2], filled)[0]
    return threshold - abs(threshold) * 1e-12


@compiled(allocates=False)
def raise_to(highest: Sums, sums: Sums) -> None:
    """Raise numbers to others."""
    for number in range(highest.size):
        highest[number] = max(highest[number], sums[number])


@compiled
def score_ranges(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    bounds: Bounds,
    known: Known,
    numbers: NDArray[np.int64],
    found: Found,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """Score the documents of ranges, and keep the best.

    The ranges have the given numbers, and those with too low a sum are passed over; `sum_bounds`
    gives what is known of the query. The other arguments and what is returned are those of
    `search_ranges`.
    """
    rows, starts, row_of = bounds
    sums, rare, rare_starts, scale = known
    documents, table, offsets = postings[0], terms[4], terms[3]
    count, scores = documents_of[0].size, no_scores(_RANGE)
    limit = limit_of(threshold, scale)
    for number in numbers:
        if sums[number] <= limit:
            continue
        first, block = number << RANGE_BITS, number >> (BLOCK_BITS - RANGE_BITS)
        size = np.uint64(min(_RANGE, count - first))
        for term in range(row_of.size):
            row, begin = row_of[term], ranges[term, 0]
            if row < 0:
                known_scores = rare[rare_starts[term] : rare_starts[term + 1]]
                add_scored(documents, known_scores, begin, first, size, scores)
            elif rows[row, number]:
                places = begin + starts[row, block], begin + starts[row, block + 1]
                pairs = np.uint64(offsets[term]), np.uint64(offsets[term + 1])
                add_block(postings, places, pairs, first, size, table, scores)
        if those_above(scores, np.uint64(0), threshold):
            filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
            limit = limit_of(threshold, scale)
        else:
            for place in range(_RANGE):
                scores[place] = NONE
    return filled, threshold


@compiled(allocates=False)
def add_block(
    postings: Postings,
    places: tuple[np.int64, np.int64],
    pairs: tuple[np.uint64, np.uint64],
    first: int,
    size: np.uint64,
    table: Reals,
    scores: Reals,
) -> None:
    """Add the scores of a frequent term in a block to those of a range.

    `pairs` bounds the term's part of the table; postings of other ranges, and damaged ones, are
    passed over.
    """
    documents, codes = postings[0], postings[1]
    for posting in range(np.uint64(places[0]), np.uint64(places[1])):
        document = np.uint64(np.int64(documents[posting]) - first)
        pair = pairs[0] + np.uint64(codes[posting])
        if document < size and pair < pairs[1]:
            scores[document] += table[pair]


@compiled(allocates=False)
def add_scored(
    documents: NDArray[np.int32],
    known: Reals,
    begin: int,
    first: int,
    size: np.uint64,
    scores: Reals,
) -> None:
    """Add the scores of a rare term, whose postings begin at a place, to those of a range."""
    end = begin + known.size
    for place in range(find(documents, begin, end, first), end):
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        scores[document] += known[place - begin]
