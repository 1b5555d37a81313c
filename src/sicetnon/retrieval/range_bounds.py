"""Kernels that bound the scores in ranges of documents, and add up the bounds of a query's terms.

For a frequent term a byte bounds the scores in each range of 32 documents (Ding and Suel, SIGIR
2011; Mallia, Siedlaczek, Suel and Zahran, CIKM 2019).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.unpacking import first_bit
from sicetnon.retrieval.formulas import by_number
from sicetnon.retrieval.tables import GROUP, NONE, Documents, Postings, Reals, Terms, those_above

RANGE_BITS, BLOCK_BITS = 5, 8
"""Bits of a document's number within its range, and within its block: the postings of a term in a
range are looked for among those in the block."""
_MOST_BOUND, _MOST_SUM = 255, (1 << 16) - 1

Sums: TypeAlias = NDArray[np.uint16]
Bounds: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]
"""Rows of terms, as `bound_term` writes them: the bounds of ranges and the starts of blocks; for
each term of the query its row, or -1 for a rare term."""

Known: TypeAlias = tuple[Sums, Reals, NDArray[np.int64], float]
"""For each range the sum of its bounds; the scores of the postings of rare terms, and where those
of each term begin, shape (terms + 1,); a factor: times the factor, no score is above the sum of its
range. It is 0 where scores have no bounds, or rare postings are damaged."""


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
def sum_bounds(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    bounds: Bounds,
) -> Known:
    """Score the postings of rare terms, and add up the bounds of all terms."""
    rows, _, row_of = bounds
    sums = np.zeros((rows.shape[1] + GROUP - 1) // GROUP * GROUP, np.uint16)
    starts = np.zeros(len(ranges) + 1, np.int64)
    for term in range(len(ranges)):
        is_rare = row_of[term] < 0
        starts[term + 1] = starts[term] + is_rare * (ranges[term, 1] - ranges[term, 0])
    rare, highest, total = np.empty(starts[-1]), np.zeros(len(ranges)), 0.0
    for term in range(len(ranges)):
        scores = terms[4][terms[3][term] : terms[3][term + 1]]
        if row_of[term] < 0:
            scores = rare[starts[term] : starts[term + 1]]
            score_postings(postings, documents_of, terms, term, ranges[term, 0], scores)
        highest[term] = highest_of(scores)
        total += highest[term]
    if not 0.0 < total < math.inf:
        return sums, rare, starts, 0.0
    # weights are rounded up; times the highest bounds they add up to the highest sum, or less
    unit = (_MOST_SUM // _MOST_BOUND - len(ranges)) / total
    scale = unit * _MOST_BOUND
    for term in range(len(ranges)):
        if row_of[term] >= 0:
            add_row(sums, rows[row_of[term]], np.uint16(math.ceil(highest[term] * unit)))
    for term in range(len(ranges)):
        scores = rare[starts[term] : starts[term + 1]]
        add_rare(sums, postings[0], ranges[term, 0], scores, scale)
    return sums, rare, starts, scale


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
def score_postings(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    term: int,
    first: int,
    scores: Reals,
) -> None:
    """Score the postings of a term; a damaged one has a score that is not a number."""
    documents, codes, frequencies, (column, columns) = postings
    lengths, norms = documents_of[:2]
    number, occurrence, constants, offsets, table = terms
    weight, a, b = constants[term]
    start, known = offsets[term], offsets[term + 1] - offsets[term]
    for posting in range(scores.size):
        place = first + posting
        document, code = documents[place], np.int64(codes[place])
        scores[posting] = math.nan
        if 0 <= document < lengths.size and known and code < known:
            scores[posting] = table[start + code]
        elif 0 <= document < lengths.size and not known:
            tf = occurrence * np.float64(frequencies[place * columns + column])
            scores[posting] = NONE
            if tf > 0.0:
                score = by_number(number, tf, norms[lengths[document]], a, b)
                scores[posting] = weight * score + 0.0


@compiled(allocates=False)
def add_row(sums: Sums, row: NDArray[np.uint8], weight: np.uint16) -> None:
    """Add the weighted bounds of a frequent term."""
    for number in range(row.size):
        sums[number] += np.uint16(row[number]) * weight


@compiled(allocates=False)
def add_rare(
    sums: Sums, documents: NDArray[np.int32], begin: int, scores: Reals, scale: float
) -> None:
    """Add the scores of a rare term to the sums of their ranges."""
    for posting in range(scores.size):
        number = documents[begin + posting] >> RANGE_BITS
        if 0 <= number < sums.size and scores[posting] > 0.0:
            total = int(sums[number]) + int(scores[posting] * scale) + 1
            sums[number] = min(_MOST_SUM, total)


@compiled(allocates=False)
def limit_of(threshold: float, scale: float) -> int:
    """The highest sum of a range without a document above a threshold; -1 where there is none."""
    if not threshold * scale > 0.0:
        return -1
    # scores are rounded when they are added up, by less than this
    return int(min(threshold * scale * (1.0 - 1e-9), _MOST_SUM - 1.0))


@compiled(allocates=False)
def count_above(sums: Sums, limit: int) -> int:
    """The number of sums above a limit."""
    count, least = 0, np.uint16(limit)
    for number in range(sums.size):
        count += sums[number] > least
    return count


@compiled
def numbers_above(sums: Sums, limit: int, count: int) -> NDArray[np.int64]:
    """The numbers of the ranges whose sums are above a limit."""
    numbers, filled, least = np.empty(count, np.int64), 0, np.uint16(limit)
    for group in range(sums.size // GROUP):
        above = those_above(sums, np.uint64(group * GROUP), least)
        while above:
            numbers[filled] = group * GROUP + first_bit(above)
            filled += 1
            above &= above - np.uint64(1)
    return numbers
