"""Kernels that leave documents out, by what no score exceeds in a range of documents.

The bounds of a query's terms are added up, many at once, and ranges whose sums are not above the
threshold are left out. The ranges of the highest sums are scored first, for a threshold (Mallia,
Suel and Tonellotto, SIGIR 2024).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.kernels import keep, select
from sicetnon.retrieval.range_bounds import (
    BLOCK_BITS,
    RANGE_BITS,
    Bounds,
    Kept,
    Query,
    Sums,
    count_above,
    keep_above,
    limit_of,
    score_at,
    sum_bounds,
    weigh,
)
from sicetnon.retrieval.tables import (
    GROUP,
    NONE,
    Documents,
    Found,
    Postings,
    Reals,
    Terms,
    add_window,
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

_KEPT_SHARE = 4
"""One range of so many in a slice can be kept: a bound of memory, not of time."""

Pending: TypeAlias = tuple[int, int, int, Kept, float]
"""Some documents that follow one another, not yet scored: the first and the end; the number of
postings in them; those of their ranges that may have to be scored; the factor of `Slice`."""


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
    sliced: int,
) -> tuple[int, float]:
    """Score the documents of a segment that can be among the best, and keep the best.

    The arguments and what is returned are those of `tables.search_windows`, which is called where
    scores have no bounds; and bounds of scores, and the number of documents in a slice: whole
    groups of ranges.
    """
    query = postings, documents_of, terms, ranges, bounds
    weights, scale = weigh(query)
    if scale == 0.0:
        return search_windows(
            postings, documents_of, terms, ranges, found, filled, threshold, window
        )
    return search_slices(query, (weights, scale), found, filled, threshold, window, sliced)


@compiled
def search_slices(
    query: Query,
    weighed: tuple[NDArray[np.uint16], float],
    found: Found,
    filled: int,
    threshold: float,
    window: int,
    sliced: int,
) -> tuple[int, float]:
    """As `search_ranges`, with the weights of the terms' bounds and the factor of `Slice`.

    Bounds are added up for one slice of the documents after the other, and the ranges that may have
    to be scored are kept, as many as there is room for: more documents take no more memory.
    """
    (weights, scale), documents, terms = weighed, query[1][0].size, len(query[3])
    sums = np.zeros(ranges_of(min(sliced, documents)), np.uint16)
    room = whole_groups(sums.size // _KEPT_SHARE)
    numbers, kept_sums = np.empty(room, np.int32), np.empty(room, np.uint16)
    kept_count, pending_begin, pending_postings = 0, 0, 0
    for begin in range(0, documents, sliced):
        end = min(begin + sliced, documents)
        part = begin, end, sums[: ranges_of(end - begin)], scale
        postings = sum_bounds(query, weights, part)
        if begin == 0:
            threshold = max(threshold, probe(query, found[0], part[2], numbers[:0], scale))
        above = count_above(part[2], limit_of(threshold, scale))
        most = min(room, worth(postings, end - begin, terms))
        if pending_begin < begin and (kept_count + above > room or above > most):
            kept = numbers[:kept_count], kept_sums[:kept_count]
            pending = pending_begin, begin, pending_postings, kept, scale
            filled, threshold = search_pending(query, found, filled, threshold, window, pending)
            pending_begin, pending_postings, kept_count = begin, 0, 0
            above = count_above(part[2], limit_of(threshold, scale))
        if above > most:
            filled, threshold = score_windows(query, found, filled, threshold, window, begin, end)
            pending_begin = end
        else:
            limit, kept = limit_of(threshold, scale), (numbers, kept_sums)
            kept_count = keep_above(begin >> RANGE_BITS, part[2], limit, kept, kept_count)
            pending_postings += postings
    if pending_begin + sliced < documents:
        kept_sums[kept_count : whole_groups(kept_count)] = 0
        kept = numbers[:kept_count], kept_sums[: whole_groups(kept_count)]
        threshold = max(threshold, probe(query, found[0], kept[1], kept[0], scale))
    kept = numbers[:kept_count], kept_sums[:kept_count]
    pending = pending_begin, documents, pending_postings, kept, scale
    return search_pending(query, found, filled, threshold, window, pending)


@compiled(allocates=False)
def ranges_of(documents: int) -> int:
    """The number of ranges of so many documents: whole groups of them."""
    return whole_groups((documents + _RANGE - 1) >> RANGE_BITS)


@compiled(allocates=False)
def whole_groups(ranges: int) -> int:
    """A number of ranges, rounded up to whole groups."""
    return (ranges + GROUP - 1) // GROUP * GROUP


@compiled(allocates=False)
def worth(postings: int, documents: int, terms: int) -> int:
    """The number of ranges that take as long to score as all of some documents.

    Args:
        postings: The number of postings in these documents.
        documents: The number of documents.
        terms: The number of terms.
    """
    cost = documents * _DOCUMENT_COST + postings * _POSTING_COST
    return int(cost / (_RANGE_COST + _TERM_COST * terms))


@compiled
def search_pending(
    query: Query, found: Found, filled: int, threshold: float, window: int, pending: Pending
) -> tuple[int, float]:
    """As `search_ranges`, for documents not yet scored, in the way that takes less time.

    All of them are scored where the threshold leaves none out.
    """
    begin, end, postings, kept, scale = pending
    limit = limit_of(threshold, scale)
    if limit >= 0 and count_above(kept[1], limit) <= worth(postings, end - begin, len(query[3])):
        return score_ranges(query, kept, scale, limit, found, filled, threshold)
    return score_windows(query, found, filled, threshold, window, begin, end)


@compiled
def score_windows(
    query: Query, found: Found, filled: int, threshold: float, window: int, begin: int, end: int
) -> tuple[int, float]:
    """As `search_ranges`: score all documents from one on to another, and keep the best."""
    postings, documents_of, terms, ranges, _ = query
    nexts, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    # not by the starts of blocks: those of a file that has changed since may lie before a window
    for term in range(len(nexts)):
        nexts[term] = find(postings[0], nexts[term], ends[term], begin)
    scores = no_scores(min(window, end - begin))
    for first in range(begin, end, window):
        size = min(window, end - first)
        add_window(postings, documents_of, terms, nexts, ends, first, size, scores)
        filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
    return filled, threshold


@compiled
def probe(query: Query, k: int, sums: Sums, numbers: NDArray[np.int32], scale: float) -> float:
    """A score that k documents exceed, by a few ranges of the highest sums.

    Args:
        query: The query.
        k: The number of documents.
        sums: The sums of some ranges: whole groups of them, filled up with 0.
        numbers: The numbers of these ranges; of size 0 for the first ones of the segment.
        scale: The factor of `Slice`.
    """
    wanted = 2 * k + 44
    limit = highest_limit(sums, wanted)
    if limit < 0:
        return UNSEEN
    few = np.empty(4 * wanted, np.int32), np.empty(4 * wanted, np.uint16)
    count = keep_above(0, sums, limit, few, 0)
    if numbers.size:
        for place in range(count):
            few[0][place] = numbers[few[0][place]]
    found = k, np.empty(2 * k + 64, dtype=np.int64), np.empty(2 * k + 64)
    few = few[0][:count], few[1][:count]
    filled, _ = score_ranges(query, few, scale, 0, found, 0, UNSEEN)
    if filled < k:
        return UNSEEN
    threshold = keep(k, found[1], found[2], filled)[0]
    # below the score itself, of 0 too: these documents are looked for again
    return threshold - abs(threshold) * 1e-12 - 1e-300


@compiled
def highest_limit(sums: Sums, wanted: int) -> int:
    """A limit that about as many sums exceed as are wanted, or more; -1 if there are too few.

    Many sums are the rows of a table, and the highest of each column is looked at.
    """
    rows = sums.size // _COLUMNS
    if wanted > min(_COLUMNS, sums.size):
        return -1
    if not rows:
        return int(select(sums.astype(np.float64), wanted)) - 1
    highest = np.zeros(_COLUMNS, np.uint16)
    for row in range(rows):
        raise_to(highest, sums[row * _COLUMNS : (row + 1) * _COLUMNS])
    return int(select(highest.astype(np.float64), wanted)) - 1


@compiled(allocates=False)
def raise_to(highest: Sums, sums: Sums) -> None:
    """Raise numbers to others."""
    for number in range(highest.size):
        highest[number] = max(highest[number], sums[number])


@compiled
def score_ranges(
    query: Query,
    kept: Kept,
    scale: float,
    limit: int,
    found: Found,
    filled: int,
    threshold: float,
) -> tuple[int, float]:
    """Score the documents of ranges whose sums are above a limit, and keep the best.

    The limit, 0 or more, rises with the threshold. What is returned is that of `search_ranges`.
    """
    postings, documents_of, terms, ranges, (rows, starts, row_of) = query
    table, offsets = terms[4], terms[3]
    count, scores = documents_of[0].size, no_scores(_RANGE)
    for place in range(kept[0].size):
        if kept[1][place] <= limit:
            continue
        number = int(kept[0][place])
        first, block = number << RANGE_BITS, number >> (BLOCK_BITS - RANGE_BITS)
        size = np.uint64(min(_RANGE, count - first))
        for term in range(row_of.size):
            row, (begin, end) = row_of[term], (ranges[term, 0], ranges[term, 1])
            if row < 0:
                add_scored(query, term, first, size, scores)
            elif rows[row, number]:
                # a file that has changed since may have fewer postings
                places = (
                    min(begin + starts[row, block], end),
                    min(begin + starts[row, block + 1], end),
                )
                pairs = np.uint64(offsets[term]), np.uint64(offsets[term + 1])
                add_block(postings, places, pairs, first, size, table, scores)
        if those_above(scores, np.uint64(0), threshold):
            filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
            limit = max(limit, limit_of(threshold, scale))
        else:
            for document in range(_RANGE):
                scores[document] = NONE
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


@inlined(allocates=False)
def add_scored(query: Query, term: int, first: int, size: np.uint64, scores: Reals) -> None:
    """Add the scores of a rare term to those of a range."""
    postings, documents_of, terms, ranges, _ = query
    documents, (begin, end) = postings[0], (ranges[term, 0], ranges[term, 1])
    for place in range(find(documents, begin, end, first), end):
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        scores[document] += score_at(postings, documents_of, terms, term, place)
