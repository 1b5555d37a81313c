"""Pruning: searches that leave documents out, by upper bounds of scores or a sampled threshold.

For a frequent term a byte bounds the scores in each range of 32 documents (Ding and Suel, SIGIR
2011; Mallia, Siedlaczek, Suel and Zahran, CIKM 2019). The bounds of a query's terms are added up,
many at once, and ranges whose sums are not above the threshold are left out. The ranges of the
highest sums are scored first, for a threshold (Mallia, Suel and Tonellotto, SIGIR 2024). A search
for many documents takes its threshold from a sample of the documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.index.posting_cache import PAIRED_FROM, default_cache_bytes
from sicetnon.index.posting_codec import first_bit
from sicetnon.index.segment import Segment
from sicetnon.jit import compiled, inlined
from sicetnon.retrieval.formulas import UNSEEN, score_formula
from sicetnon.retrieval.kernels import keep_best, select
from sicetnon.retrieval.term_at_a_time import (
    GROUP,
    NONE,
    DocumentArrays,
    PostingArrays,
    QueryTerms,
    TopDocs,
    add_window,
    fetch,
    find,
    mask_above,
    no_scores,
    offer,
    search_windows,
)

RANGE_BITS, BLOCK_BITS = 5, 8
"""Bits of a document's number within its range, and within its block: the postings of a term in a
range are looked for among those in the block."""
_BLOCK = 1 << BLOCK_BITS


_RANGE = 1 << RANGE_BITS
_MOST_BOUND, _MOST_SUM = 255, (1 << 16) - 1


MOST_BYTES, _SHARE = 1 << 29, 8
"""Memory for the bounds of one weighting model, in one thread; and, where that is less, the share
of it in the memory for unpacked postings."""
_RANGES_PER_POSTING = 16
"""A term is frequent, and has bounds, from one posting for so many ranges."""
_COLUMNS = 512
_RANGE_COST, _TERM_COST, _POSTING_COST, _DOCUMENT_COST = 25.0, 11.0, 1.0, 0.18
"""Nanoseconds for a range, and for each term in it; and, where all documents are scored, for a
posting and for a document."""

_KEPT_SHARE = 4
"""One range of so many in a slice can be selected: a bound of memory, not of time."""

_SAMPLES, _SAMPLE_SIZE = 2, 3072

Sums: TypeAlias = NDArray[np.uint16]
Bounds: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]
"""Rows of terms, as `bound_term` writes them: the bounds of ranges and the starts of blocks; for
each term of the query its row, or -1 for a rare term."""

BoundedQuery: TypeAlias = tuple[
    PostingArrays, DocumentArrays, QueryTerms, NDArray[np.int64], Bounds
]
"""The postings and documents of a segment, the terms of the query with the begin and end of each
one's postings, shape (terms, 2), and their bounds."""
Slice: TypeAlias = tuple[int, int, Sums, float]
"""Some documents that follow one another: the first and the end, both those of a block or of all;
for each range the sum of its bounds; a factor: times the factor, no score is above the sum of its
range."""
Selection: TypeAlias = tuple[NDArray[np.int32], Sums]
"""The numbers of some ranges, rising, and their sums."""

Pending: TypeAlias = tuple[int, int, int, Selection, float]
"""Some documents that follow one another, not yet scored: the first and the end; the number of
postings in them; those of their ranges that may have to be scored; the factor of `Slice`."""


@compiled
def search_sampled(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    ranges: NDArray[np.int64],
    top: TopDocs,
    filled: int,
    threshold: float,
    window: int,
) -> tuple[int, float]:
    """Score all documents of a segment, and keep the best, from a threshold that is estimated.

    The arguments and what is returned are those of `search_windows`, which is called again without
    the estimate if that was too high.
    """
    k, numbers, scores = top
    guess = estimate(postings, documents_of, terms, ranges, k)
    if guess > threshold:
        before = numbers[:filled].copy(), scores[:filled].copy()
        now, reached = search_windows(
            postings, documents_of, terms, ranges, top, filled, guess, window
        )
        if np.count_nonzero(scores[:now] > guess) >= k:
            return now, reached
        numbers[:filled], scores[:filled] = before
    return search_windows(postings, documents_of, terms, ranges, top, filled, threshold, window)


@compiled
def estimate(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    ranges: NDArray[np.int64],
    k: int,
) -> float:
    """A score that k documents of a segment exceed, most probably, by a sample of them.

    The sample is taken at equal distances, since neighbours may be alike.
    """
    documents = documents_of[0].size
    expected = k * _SAMPLES * _SAMPLE_SIZE / documents
    rank = int(expected + 3.0 * np.sqrt(expected)) + 2
    top = rank, np.empty(2 * rank, dtype=np.int64), np.empty(2 * rank)
    scores = no_scores(_SAMPLE_SIZE)
    places, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    filled, threshold = 0, UNSEEN
    for number in range(_SAMPLES):
        first = number * (documents // _SAMPLES)
        for term in range(places.size):
            if first:
                places[term] = find(postings[0], places[term], ends[term], first)
            count = ends[term] - ranges[term, 0]
            fetch(postings[0], postings[1], places[term], count * _SAMPLE_SIZE // documents)
        add_window(postings, documents_of, terms, places, ends, first, _SAMPLE_SIZE, scores)
        filled, threshold = offer(documents_of, first, scores, top, filled, threshold)
    return keep_best(rank, top[1], top[2], filled)[0] if filled >= rank else UNSEEN


@compiled
def bound_term(
    postings: PostingArrays,
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
def weigh(query: BoundedQuery) -> tuple[NDArray[np.uint16], float]:
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
def sum_bounds(query: BoundedQuery, weights: NDArray[np.uint16], part: Slice) -> int:
    """Add up the bounds of all terms in the ranges of a slice, whose sums are written.

    Sums after its last range are 0.

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
def highest_computed(query: BoundedQuery, term: int) -> float:
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
    postings: PostingArrays, documents_of: DocumentArrays, terms: QueryTerms, term: int, place: int
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
            score = weight * score_formula(number, tf, norms[lengths[document]], a, b) + 0.0
    return score


@compiled(allocates=False)
def add_row(sums: Sums, row: NDArray[np.uint8], weight: np.uint16) -> None:
    """Add the weighted bounds of a frequent term."""
    for number in range(row.size):
        sums[number] += np.uint16(row[number]) * weight


@compiled(allocates=False)
def add_rare(query: BoundedQuery, term: int, part: Slice) -> int:
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
def keep_above(first: int, sums: Sums, limit: int, kept: Selection, count: int) -> int:
    """Keep the ranges whose sums are above a limit, as long as there is room.

    Args:
        first: The number of the first range.
        sums: The sums of it and those that follow: whole groups of them.
        limit: The limit; all sums are above -1.
        kept: The selected ranges; changed.
        count: Their number.

    Returns:
        Their new number.
    """
    numbers, kept_sums = kept
    for group in range(0, sums.size, GROUP):
        above = ~np.uint64(0)
        if limit >= 0:
            above = mask_above(sums, np.uint64(group), np.uint16(limit))
        while above and count < numbers.size:
            place = np.uint64(group + first_bit(above))
            above &= above - np.uint64(1)
            numbers[count], kept_sums[count] = first + np.int64(place), sums[place]
            count += 1
    return count


class BoundsCache:
    """The bounds of one weighting model's scores in the segments of an index.

    Args:
        segments: The segments.
    """

    def __init__(self, segments: Sequence[Segment]):
        self._documents = sum(map(len, segments))
        self._of: dict[int, _SegmentBounds] = {}

    def bounds(
        self, place: int, segment: Segment, numbers: Sequence[int], postings: PostingArrays,
        terms: QueryTerms, places: NDArray[np.int64],
    ) -> Bounds | None:  # fmt: skip
        """The bounds of the terms of a query, or None if a frequent term has none (yet).

        A term has bounds from the second query with it on, since they take as long to
        make as it takes to score the term. They hold for any weight above 0 of the term.

        Args:
            place: The place of the segment.
            segment: The segment.
            numbers: The numbers of the terms there.
            postings: The postings of the terms.
            terms: The terms.
            places: The begin and end of each term's postings, shape (terms, 2).
        """
        if place not in self._of:
            most_bytes = min(MOST_BYTES, default_cache_bytes() // _SHARE)
            most_bytes = most_bytes * len(segment) // self._documents
            self._of[place] = _SegmentBounds(segment, most_bytes)
        return self._of[place].bounds(numbers, postings, terms, places)


class _SegmentBounds:
    def __init__(self, segment: Segment, most_bytes: int):
        self._segment = segment
        count, blocks = -(-len(segment) >> RANGE_BITS), -(-len(segment) >> BLOCK_BITS)
        self._frequent_from = max(count // _RANGES_PER_POSTING, PAIRED_FROM)
        capacity = max(most_bytes // (count + 4 * blocks), 1)
        # the system gives memory for those rows alone that are written
        self._rows = np.empty((capacity, count), np.uint8)
        self._starts = np.empty((capacity, blocks + 1), np.int32)
        self._row_of: dict[int, int] = {}
        self._asked: set[int] = set()

    def bounds(
        self,
        numbers: Sequence[int],
        postings: PostingArrays,
        terms: QueryTerms,
        places: NDArray[np.int64],
    ) -> Bounds | None:
        sizes = (places[:, 1] - places[:, 0]).tolist()
        terms_of = {
            number: term
            for term, (number, size) in enumerate(zip(numbers, sizes, strict=True))
            if size >= self._frequent_from
        }
        new = terms_of.keys() - self._row_of.keys()
        if not new <= self._asked or len(terms_of) > len(self._rows):
            self._asked |= new
            return None
        for number in terms_of.keys() - new:  # the most recently used terms stay longest
            self._row_of[number] = self._row_of.pop(number)
        for number in new:
            term = terms_of[number]
            if not self._make(number, postings, terms, term, places[term]):
                return None
        row_of = np.full(len(places), -1)
        for number, term in terms_of.items():
            row_of[term] = self._row_of[number]
        return self._rows, self._starts, row_of

    def _make(
        self,
        number: int,
        postings: PostingArrays,
        terms: QueryTerms,
        term: int,
        places: NDArray[np.int64],
    ) -> bool:
        """Make the bounds of a term, if it has pairs."""
        scores = terms[4][terms[3][term] : terms[3][term + 1]]
        if not len(scores):
            return False
        (begin, end), row = places.tolist(), len(self._row_of)
        if row == len(self._rows):
            row = self._row_of.pop(next(iter(self._row_of)))
        documents = len(self._segment)
        is_sound = bound_term(
            postings, scores, begin, end, documents, self._rows[row], self._starts[row]
        )
        if not is_sound:
            self._row_of.clear()  # the row belongs to no term, and rows are counted
            raise self._segment.wrong_posting()
        self._row_of[number] = row
        return True


@compiled
def search_ranges(
    postings: PostingArrays,
    documents_of: DocumentArrays,
    terms: QueryTerms,
    ranges: NDArray[np.int64],
    top: TopDocs,
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
        return search_windows(postings, documents_of, terms, ranges, top, filled, threshold, window)
    return search_slices(query, (weights, scale), top, filled, threshold, window, sliced)


@compiled
def search_slices(
    query: BoundedQuery,
    weighed: tuple[NDArray[np.uint16], float],
    top: TopDocs,
    filled: int,
    threshold: float,
    window: int,
    sliced: int,
) -> tuple[int, float]:
    """Search slice by slice, with the weights of the terms' bounds and the factor of `Slice`.

    Bounds are added up for one slice of the documents after the other, and the ranges that may have
    to be scored are selected, as many as there is room for: more documents take no more memory.
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
            threshold = max(threshold, probe(query, top[0], part[2], numbers[:0], scale))
        above = count_above(part[2], limit_of(threshold, scale))
        most = min(room, worth(postings, end - begin, terms))
        if pending_begin < begin and (kept_count + above > room or above > most):
            kept = numbers[:kept_count], kept_sums[:kept_count]
            pending = pending_begin, begin, pending_postings, kept, scale
            filled, threshold = search_pending(query, top, filled, threshold, window, pending)
            pending_begin, pending_postings, kept_count = begin, 0, 0
            above = count_above(part[2], limit_of(threshold, scale))
        if above > most:
            filled, threshold = score_windows(query, top, filled, threshold, window, begin, end)
            pending_begin = end
        else:
            limit, kept = limit_of(threshold, scale), (numbers, kept_sums)
            kept_count = keep_above(begin >> RANGE_BITS, part[2], limit, kept, kept_count)
            pending_postings += postings
    if pending_begin + sliced < documents:
        kept_sums[kept_count : whole_groups(kept_count)] = 0
        kept = numbers[:kept_count], kept_sums[: whole_groups(kept_count)]
        threshold = max(threshold, probe(query, top[0], kept[1], kept[0], scale))
    kept = numbers[:kept_count], kept_sums[:kept_count]
    pending = pending_begin, documents, pending_postings, kept, scale
    return search_pending(query, top, filled, threshold, window, pending)


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
    query: BoundedQuery,
    top: TopDocs,
    filled: int,
    threshold: float,
    window: int,
    pending: Pending,
) -> tuple[int, float]:
    """Score documents not yet scored, in the way that takes less time.

    All of them are scored where the threshold leaves none out.
    """
    begin, end, postings, kept, scale = pending
    limit = limit_of(threshold, scale)
    if limit >= 0 and count_above(kept[1], limit) <= worth(postings, end - begin, len(query[3])):
        return score_ranges(query, kept, scale, limit, top, filled, threshold)
    return score_windows(query, top, filled, threshold, window, begin, end)


@compiled
def score_windows(
    query: BoundedQuery,
    top: TopDocs,
    filled: int,
    threshold: float,
    window: int,
    begin: int,
    end: int,
) -> tuple[int, float]:
    """Score all documents from one on to another, and keep the best."""
    postings, documents_of, terms, ranges, _ = query
    nexts, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    # not by the starts of blocks: those of a file that has changed since may lie before a window
    for term in range(len(nexts)):
        nexts[term] = find(postings[0], nexts[term], ends[term], begin)
    scores = no_scores(min(window, end - begin))
    for first in range(begin, end, window):
        size = min(window, end - first)
        add_window(postings, documents_of, terms, nexts, ends, first, size, scores)
        filled, threshold = offer(documents_of, first, scores, top, filled, threshold)
    return filled, threshold


@compiled
def probe(
    query: BoundedQuery, k: int, sums: Sums, numbers: NDArray[np.int32], scale: float
) -> float:
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
    top = k, np.empty(2 * k + 64, dtype=np.int64), np.empty(2 * k + 64)
    few = few[0][:count], few[1][:count]
    filled, _ = score_ranges(query, few, scale, 0, top, 0, UNSEEN)
    if filled < k:
        return UNSEEN
    threshold = keep_best(k, top[1], top[2], filled)[0]
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
    query: BoundedQuery,
    kept: Selection,
    scale: float,
    limit: int,
    top: TopDocs,
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
        if mask_above(scores, np.uint64(0), threshold):
            filled, threshold = offer(documents_of, first, scores, top, filled, threshold)
            limit = max(limit, limit_of(threshold, scale))
        else:
            for document in range(_RANGE):
                scores[document] = NONE
    return filled, threshold


@compiled(allocates=False)
def add_block(
    postings: PostingArrays,
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
def add_scored(query: BoundedQuery, term: int, first: int, size: np.uint64, scores: Reals) -> None:
    """Add the scores of a rare term to those of a range."""
    postings, documents_of, terms, ranges, _ = query
    documents, (begin, end) = postings[0], (ranges[term, 0], ranges[term, 1])
    for place in range(find(documents, begin, end, first), end):
        document = np.uint64(np.int64(documents[place]) - first)
        if document >= size:
            break
        scores[document] += score_at(postings, documents_of, terms, term, place)
