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
    Slice,
    Sums,
    count_above,
    keep_above,
    keep_higher,
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
"""One range of so many in a slice can be kept; where more would be, to score all is faster."""

Part: TypeAlias = tuple[int, int, NDArray[np.int64], Kept, float]
"""Some documents that follow one another: the first and the end; the begin and end of each term's
postings in them, shape (terms, 2); those of their ranges that may have to be scored; the factor of
`Slice`."""


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
    ranges, (weights, scale), documents = query[3], weighed, query[1][0].size
    places, waiting = ranges.copy(), ranges.copy()
    sums = np.zeros(ranges_of(min(sliced, documents)), np.uint16)
    room, count, since = max(sums.size // _KEPT_SHARE, GROUP), 0, 0
    numbers, own = np.empty(room, np.int32), np.empty(room, np.uint16)
    for begin in range(0, documents, sliced):
        end = min(begin + sliced, documents)
        one = begin, end, places, sums[: ranges_of(end - begin)], scale
        sum_bounds(query, weights, one)
        if begin == 0:
            threshold = max(threshold, probe_slice(query, found[0], one))
        above = count_above(one[3], limit_of(threshold, scale))
        most = min(room, worth(places, end - begin))
        if since < begin and (count + above > room or above > most):
            waiting[:, 1] = places[:, 0]
            part = since, begin, waiting, (numbers[:count], own[:count]), scale
            filled, threshold = search_part(query, found, filled, threshold, window, part)
            waiting[:, 0], since, count = places[:, 0], begin, 0
            above = count_above(one[3], limit_of(threshold, scale))
        if above > most:
            part = begin, end, places, (numbers[:0], own[:0]), 0.0
            filled, threshold = search_part(query, found, filled, threshold, window, part)
            waiting[:, 0], since = places[:, 1], end
        else:
            count = keep_above(one, limit_of(threshold, scale), (numbers, own), count)
    waiting[:, 1] = ranges[:, 1]
    part = since, documents, waiting, (numbers[:count], own[:count]), scale
    if since + sliced < documents:
        threshold = max(threshold, probe_part(query, found[0], part))
    return search_part(query, found, filled, threshold, window, part)


@compiled(allocates=False)
def ranges_of(documents: int) -> int:
    """The number of ranges of so many documents: whole groups of them."""
    ranges = (documents + _RANGE - 1) >> RANGE_BITS
    return (ranges + GROUP - 1) // GROUP * GROUP


@compiled(allocates=False)
def worth(places: NDArray[np.int64], documents: int) -> int:
    """The number of ranges that take as long to score as all of some documents.

    Args:
        places: The begin and end of each term's postings in these documents.
        documents: Their number.
    """
    cost = documents * _DOCUMENT_COST
    for term in range(len(places)):
        cost += (places[term, 1] - places[term, 0]) * _POSTING_COST
    return int(cost / (_RANGE_COST + _TERM_COST * len(places)))


@compiled
def search_part(
    query: Query, found: Found, filled: int, threshold: float, window: int, part: Part
) -> tuple[int, float]:
    """As `search_ranges`, for a part of the documents, in the way that takes less time.

    All of them are scored where the threshold or the factor leaves none out.
    """
    begin, end, places, kept, scale = part
    limit = limit_of(threshold, scale)
    if limit >= 0 and count_above(kept[1], limit) <= worth(places, end - begin):
        return score_ranges(query, kept, scale, limit, found, filled, threshold)
    postings, documents_of, terms, _, _ = query
    nexts, ends = places[:, 0].copy(), places[:, 1].copy()
    scores = no_scores(min(window, end - begin))
    for first in range(begin, end, window):
        size = min(window, end - first)
        add_window(postings, documents_of, terms, nexts, ends, first, size, scores)
        filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
    return filled, threshold


@compiled
def probe_slice(query: Query, k: int, one: Slice) -> float:
    """A score that k documents exceed, by the ranges of a slice with the highest sums."""
    limit, most = highest_limit(one[3], 2 * k + 44), 8 * k + 176
    few = np.empty(most, np.int32), np.empty(most, np.uint16)
    count = keep_above(one, limit, few, 0) if limit >= 0 else 0
    return probe(query, k, (few[0][:count], few[1][:count]), one[4])


@compiled
def probe_part(query: Query, k: int, part: Part) -> float:
    """As `probe_slice`, by the ranges kept of a part."""
    kept, scale = part[3], part[4]
    limit, most = highest_limit(kept[1], 2 * k + 44), 8 * k + 176
    few = np.empty(most, np.int32), np.empty(most, np.uint16)
    count = keep_higher(kept, limit, few) if limit >= 0 else 0
    return probe(query, k, (few[0][:count], few[1][:count]), scale)


@compiled
def probe(query: Query, k: int, few: Kept, scale: float) -> float:
    """A score that k of the documents of a few ranges exceed."""
    found = k, np.empty(2 * k + 64, dtype=np.int64), np.empty(2 * k + 64)
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
            row, begin = row_of[term], ranges[term, 0]
            if row < 0:
                add_scored(query, term, first, size, scores)
            elif rows[row, number]:
                places = begin + starts[row, block], begin + starts[row, block + 1]
                pairs = np.uint64(offsets[term]), np.uint64(offsets[term + 1])
                add_block(postings, places, pairs, first, size, table, scores)
        if those_above(scores, np.uint64(0), threshold):
            filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
            limit = max(limit, limit_of(threshold, scale))
        else:
            for one in range(_RANGE):
                scores[one] = NONE
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
