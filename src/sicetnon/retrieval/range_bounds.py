"""Kernels that bound the scores in ranges of documents, and add up the bounds of a query's terms.

For a frequent term a byte bounds the scores in each range of 32 documents (Ding and Suel, SIGIR
2011; Mallia, Siedlaczek, Suel and Zahran, CIKM 2019).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.index.posting_codec import first_bit
from sicetnon.retrieval.formulas import by_number
from sicetnon.retrieval.tables import (
    GROUP,
    NONE,
    Documents,
    Postings,
    Reals,
    Terms,
    find,
    those_above,
)

RANGE_BITS, BLOCK_BITS = 5, 8
"""Bits of a document's number within its range, and within its block: the postings of a term in a
range are looked for among those in the block."""
_BLOCK = 1 << BLOCK_BITS
_MOST_BOUND, _MOST_SUM = 255, (1 << 16) - 1

Sums: TypeAlias = NDArray[np.uint16]
Bounds: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]
"""Rows of terms, as `bound_term` writes them: the bounds of ranges and the starts of blocks; for
each term of the query its row, or -1 for a rare term."""

Query: TypeAlias = tuple[Postings, Documents, Terms, NDArray[np.int64], Bounds]
"""The postings and documents of a segment, the terms of the query with the begin and end of each
one's postings, shape (terms, 2), and their bounds."""
Slice: TypeAlias = tuple[int, int, Sums, float]
"""Some documents that follow one another: the first and the end, both those of a block or of all;
for each range the sum of its bounds; a factor: times the factor, no score is above the sum of its
range."""
Kept: TypeAlias = tuple[NDArray[np.int32], Sums]
"""The numbers of some ranges, rising, and their sums."""


@compiled
def bound_term(
    postings: Postings,
    scores: Reals,
    begin: int,
    end: int,
    documents: int,
    row: NDArray[np.uint8],
    starts: NDArray[np.int32],
) -> bool:
    """Find the bounds of a term's scores.

    Args:
        postings: The postings of the segment.
        scores: The scores of the term's pairs.
        begin: The place of its first posting.
        end: The end of its postings.
        documents: The number of documents of the segment.
        row: Written for each range: 0 without postings; else at least 1, and at least the share of
            each score in the highest one, in parts of 255.
        starts: Written for each block, and the end: the number of postings before it.

    Returns:
        Whether the postings are in order, and of pairs of the term.
    """
    highest = highest_of(scores)
    shares = np.ones(scores.size, np.uint8)
    for code in range(scores.size):
        if scores[code] > 0.0:
            shares[code] = min(_MOST_BOUND, int(scores[code] / highest * _MOST_BOUND) + 1)
    row[:] = 0
    block, least = 0, 0
    for place in range(begin, end):
        document, code = int(postings[0][place]), int(postings[1][place])
        if document < least or document >= documents or code >= scores.size:
            return False
        least = document + 1
        while block <= document >> BLOCK_BITS:
            starts[block] = place - begin
            block += 1
        at = np.uint64(document) >> np.uint64(RANGE_BITS)
        row[at] = max(row[at], shares[code])
    starts[block:] = end - begin
    return True


@compiled
def weigh(query: Query) -> tuple[NDArray[np.uint16], float]:
    """The weight of each term's bounds, and the factor of `Slice`: 0 where there are no bounds."""
    offsets, table, ranges = query[2][3], query[2][4], query[3]
    highest, total = np.zeros(len(ranges)), 0.0
    for term in range(len(ranges)):
        if offsets[term] < offsets[term + 1]:
            highest[term] = highest_of(table[offsets[term] : offsets[term + 1]])
        else:
            highest[term] = highest_computed(query, term)
        total += highest[term]
    weights = np.zeros(len(ranges), np.uint16)
    if not 0.0 < total < math.inf:
        return weights, 0.0
    # weights are rounded up; times the highest bounds they add up to the highest sum, or less
    unit = (_MOST_SUM // _MOST_BOUND - len(ranges)) / total
    for term in range(len(ranges)):
        weights[term] = np.uint16(math.ceil(highest[term] * unit))
    return weights, unit * _MOST_BOUND


@compiled(allocates=False)
def sum_bounds(query: Query, weights: NDArray[np.uint16], part: Slice) -> int:
    """Add up the bounds of all terms in the ranges of a slice, whose sums are written.

    Sums behind its last range are 0.

    Returns:
        The number of postings in the slice.
    """
    rows, starts, row_of = query[4]
    begin, end, sums, _ = part
    sums[:] = 0
    first, count = begin >> RANGE_BITS, 0
    last = min(first + sums.size, rows.shape[1])
    for term in range(row_of.size):
        row = row_of[term]
        if row >= 0:
            add_row(sums, rows[row][first:last], weights[term])
            blocks = begin >> BLOCK_BITS, (end + _BLOCK - 1) >> BLOCK_BITS
            count += starts[row, blocks[1]] - starts[row, blocks[0]]
    # last: they are added up to the highest sum and no further
    for term in range(row_of.size):
        if row_of[term] < 0:
            count += add_rare(query, term, part)
    return count


@compiled(allocates=False)
def highest_of(scores: Reals) -> float:
    """The highest score, 0 at least; not a number where one is none."""
    highest = 0.0
    for score in scores:
        if math.isnan(score):
            return math.nan
        highest = max(highest, score)
    return highest


@compiled(allocates=False)
def highest_computed(query: Query, term: int) -> float:
    """The highest score of a term without pairs, as `highest_of`."""
    postings, documents_of, terms, ranges, _ = query
    highest = 0.0
    for place in range(ranges[term, 0], ranges[term, 1]):
        score = score_at(postings, documents_of, terms, term, place)
        if math.isnan(score):
            return math.nan
        highest = max(highest, score)
    return highest


@inlined(allocates=False)
def score_at(
    postings: Postings, documents_of: Documents, terms: Terms, term: int, place: int
) -> float:
    """The score of a term's posting; not a number for a damaged one."""
    documents, codes, frequencies, (column, columns) = postings
    lengths, norms = documents_of[:2]
    number, occurrence, constants, offsets, table = terms
    weight, a, b = constants[term]
    start, known = offsets[term], offsets[term + 1] - offsets[term]
    document, code, score = documents[place], np.int64(codes[place]), math.nan
    if 0 <= document < lengths.size and known and code < known:
        score = table[start + code]
    elif 0 <= document < lengths.size and not known:
        tf = occurrence * np.float64(frequencies[place * columns + column])
        score = NONE
        if tf > 0.0:
            score = weight * by_number(number, tf, norms[lengths[document]], a, b) + 0.0
    return score


@compiled(allocates=False)
def add_row(sums: Sums, row: NDArray[np.uint8], weight: np.uint16) -> None:
    """Add the weighted bounds of a frequent term."""
    for number in range(row.size):
        sums[number] += np.uint16(row[number]) * weight


@compiled(allocates=False)
def add_rare(query: Query, term: int, part: Slice) -> int:
    """Add the scores of a rare term to the sums of their ranges; the number of its postings."""
    postings, documents_of, terms, ranges, _ = query
    begin, end, sums, scale = part
    documents, stop = postings[0], ranges[term, 1]
    first = find(documents, ranges[term, 0], stop, begin)
    place = first
    while place < stop and documents[place] < end:
        number = (int(documents[place]) - begin) >> RANGE_BITS
        score = score_at(postings, documents_of, terms, term, place)
        if 0 <= number < sums.size and score > 0.0:
            sums[number] = min(_MOST_SUM, int(sums[number]) + int(score * scale) + 1)
        place += 1
    return place - first


@compiled(allocates=False)
def limit_of(threshold: float, scale: float) -> int:
    """The highest sum of a range without a document above a threshold; -1 where there is none."""
    if not threshold * scale > 0.0:
        return -1
    # scores are rounded when they are added up, by less than this
    return int(min(threshold * scale * (1.0 - 1e-9), _MOST_SUM - 1.0))


@compiled(allocates=False)
def count_above(sums: Sums, limit: int) -> int:
    """The number of sums above a limit; all are above -1."""
    if limit < 0:
        return sums.size
    count, least = 0, np.uint16(limit)
    for number in range(sums.size):
        count += sums[number] > least
    return count


@compiled(allocates=False)
def keep_above(first: int, sums: Sums, limit: int, kept: Kept, count: int) -> int:
    """Keep the ranges whose sums are above a limit, as long as there is room.

    Args:
        first: The number of the first range.
        sums: The sums of it and those that follow: whole groups of them.
        limit: The limit; all sums are above -1.
        kept: The ranges that are kept; changed.
        count: Their number.

    Returns:
        Their new number.
    """
    numbers, kept_sums = kept
    for group in range(0, sums.size, GROUP):
        above = ~np.uint64(0)
        if limit >= 0:
            above = those_above(sums, np.uint64(group), np.uint16(limit))
        while above and count < numbers.size:
            place = np.uint64(group + first_bit(above))
            above &= above - np.uint64(1)
            numbers[count], kept_sums[count] = first + np.int64(place), sums[place]
            count += 1
    return count
