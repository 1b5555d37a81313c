"""Kernels that leave documents out, by what no score exceeds in a range of documents.

For a frequent term a byte bounds the scores in each range of 32 documents. The bytes of a query's
terms are added up, many at once, and ranges whose sums are not above the threshold are left out
(Ding and Suel, SIGIR 2011; Mallia, Siedlaczek, Suel and Zahran, CIKM 2019). The ranges of the
highest sums are scored first, for a threshold (Mallia, Suel and Tonellotto, SIGIR 2024).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.unpacking import first_bit
from sicetnon.retrieval.formulas import UNSEEN, by_number
from sicetnon.retrieval.kernels import keep, select
from sicetnon.retrieval.tables import (
    GROUP,
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

RANGE_BITS, BLOCK_BITS = 5, 8
"""Bits of a document's number within its range, and within its block: the postings of a term in a
range are looked for among those in the block."""
RANGE = 1 << RANGE_BITS
_MOST_BOUND, _MOST_SUM = 255, (1 << 16) - 1
_COLUMNS = 512
_RANGE_COST, _TERM_COST, _POSTING_COST, _DOCUMENT_COST = 25.0, 11.0, 1.0, 0.18
"""Nanoseconds for a range, and for each term in it; and, where all documents are scored, for a
posting and for a document."""

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

    Nothing is called for a posting, or a range without a document above the threshold: a call
    takes as long as the postings of a term in a range.

    Args:
        postings: The postings of the segment.
        documents_of: Its documents.
        terms: The terms, with the scores of their pairs.
        ranges: The begin and end of each term's postings, shape (terms, 2).
        bounds: The bounds of the terms' scores.
        known: What is known of the query.
        numbers: The numbers of ranges; those with too low a sum are passed over.
        found: The documents found so far; changed.
        filled: Their number.
        threshold: Documents with this score or a lower one cannot be among the best.

    Returns:
        The new number of documents found, and the new threshold.
    """
    rows, starts, row_of = bounds
    sums, rare, rare_starts, scale = known
    documents, codes, table, offsets = postings[0], postings[1], terms[4], terms[3]
    count, scores = documents_of[0].size, no_scores(RANGE)
    limit = limit_of(threshold, scale)
    for number in numbers:
        if sums[number] <= limit:
            continue
        first, block = number << RANGE_BITS, number >> (BLOCK_BITS - RANGE_BITS)
        size = np.uint64(min(RANGE, count - first))
        for term in range(row_of.size):
            row, begin, zero = row_of[term], ranges[term, 0], np.uint64(offsets[term])
            if row < 0:
                known_scores = rare[rare_starts[term] : rare_starts[term + 1]]
                add_scored(documents, known_scores, begin, first, size, scores)
            elif rows[row, number]:
                stop, pairs = (
                    np.uint64(begin + starts[row, block + 1]),
                    np.uint64(offsets[term + 1]),
                )
                for posting in range(np.uint64(begin + starts[row, block]), stop):
                    document = np.uint64(np.int64(documents[posting]) - first)
                    pair = zero + np.uint64(codes[posting])
                    if document < size and pair < pairs:
                        scores[document] += table[pair]
        if those_above(scores, np.uint64(0), threshold):
            filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
            limit = limit_of(threshold, scale)
        else:
            for place in range(RANGE):
                scores[place] = NONE
    return filled, threshold


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
