"""Compiled kernels that unpack postings from bits; `packing` tells what stands there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.index import plain_packing
from sicetnon.index.packing import usual_shift
from sicetnon.index.plain_packing import COUNTED_FROM, HEADER, MOST_SHIFT

# what the plain way takes, in seconds per record and per posting
_HEADER, _RECORD, _POSTING = 5e-6, 2e-5, 5e-8

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Its 64 parts of 6 bits, one for each place in it, all differ."""
_PLACES = np.empty(64, dtype=np.uint8)
_PLACES[[(int(_DE_BRUIJN) << n & (1 << 64) - 1) >> 58 for n in range(64)]] = range(64)


@inlined
def first_bit(bits: np.uint64) -> int:
    """The place of the lowest bit that is set (Leiserson, Prokop and Randall, 1998)."""
    lowest = bits & (~bits + np.uint64(1))
    return int(_PLACES[(lowest * _DE_BRUIJN) >> np.uint64(58)])


@compiled(allocates=False)
def take(words: NDArray[np.uint64], position: int, width: int) -> int:
    """The value of some bits, 63 at most; the word behind them must be there."""
    word, bit = np.uint64(position >> 6), np.uint64(position & 63)
    low = words[word] >> bit
    high = (words[word + np.uint64(1)] << np.uint64(1)) << (np.uint64(63) - bit)
    return int((low | high) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@compiled(allocates=False)
def take_gamma(words: NDArray[np.uint64], position: int, end: int) -> tuple[int, int]:
    """The number at a position, 0 where there is none, and the position behind it."""
    zeros, most = 0, min(2 * MOST_SHIFT + 1, end - position)
    while zeros < most and not take(words, position + zeros, 1):
        zeros += 1
    behind = position + 2 * zeros + 1
    if zeros > 2 * MOST_SHIFT or behind > end:
        return 0, position
    if not zeros:  # nothing stands behind it, perhaps no word either
        return 1, behind
    return 1 << zeros | take(words, position + zeros + 1, zeros), behind


@compiled(
    plain=plain_packing.read_headers,
    seconds=lambda _, begins, *__: _HEADER * begins.size,
    allocates=False,
)
def read_headers(
    words: NDArray[np.uint64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    count: int,
    headers: NDArray[np.int64],
) -> bool:
    """Read the headers of records.

    Args:
        words: The stream of bits; one word more than the records need.
        begins: The position of each record, shape (records,).
        ends: Their ends, none before its beginning, and none behind the last word but one.
        count: The number of all documents.
        headers: Written: the number of postings, the shifts of gaps and of the numbers of patterns,
            the position behind the header, and the occurrences in each field, which are 0 where
            the record has none. Shape (records, `HEADER` + fields).

    Returns:
        Whether they can be such headers, of no more postings than can stand behind them.
    """
    for term in range(begins.size):
        headers[term, :] = 0
        if begins[term] == ends[term]:
            continue
        size, position = take_gamma(words, begins[term], ends[term])
        shift, position = take_gamma(words, position, ends[term])
        if not (1 <= size <= count and 1 <= shift <= MOST_SHIFT + 1):
            return False
        gap_shift = usual_shift(size, count)
        if size >= COUNTED_FROM:
            gap_shift, position = take_gamma(words, position, ends[term])
            gap_shift -= 1
            if not 0 <= gap_shift <= MOST_SHIFT:
                return False
            for field in range(HEADER, headers.shape[1]):
                total, position = take_gamma(words, position, ends[term])
                if not total:
                    return False
                headers[term, field] = total - 1
        # before anybody takes memory for them
        if position + size * (gap_shift + shift + 1) > ends[term]:
            return False
        headers[term, 0], headers[term, 1] = size, gap_shift
        headers[term, 2], headers[term, 3] = shift - 1, position
    return True


@compiled(
    plain=plain_packing.unpack_postings,
    seconds=lambda _, headers, *rest: _RECORD * len(headers) + _POSTING * rest[-1].size,
    allocates=False,
)
def unpack_postings(
    words: NDArray[np.uint64],
    headers: NDArray[np.int64],
    ends: NDArray[np.int64],
    count: int,
    known: int,
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
) -> bool:
    """Read the documents of records, and the numbers of their patterns.

    Args:
        words: The stream of bits; one word more than the records need.
        headers: The headers of the records, as `read_headers` read them.
        ends: Their ends.
        count: The number of all documents.
        known: The number of all patterns.
        offsets: The place of the first posting of each; there must be room for all.
        documents: Written, rising for each record.
        numbers: Written.

    Returns:
        Whether they can be such records. Where not, anything may have been written.
    """
    for term in range(ends.size):
        size, gap_shift = int(headers[term, 0]), int(headers[term, 1])
        shift, position = int(headers[term, 2]), int(headers[term, 3])
        if not size:
            continue
        begin, end = offsets[term], ends[term]
        found, patterns = documents[begin : begin + size], numbers[begin : begin + size]
        behind = read_ones(words, position + size * gap_shift, end, found)
        if behind < 0 or behind + size * (shift + 1) > end:
            return False
        if read_ones(words, behind + size * shift, end, patterns) != end:
            return False
        if not (
            join_documents(words, position, gap_shift, count, found)
            and join_numbers(words, behind, shift, known, patterns)
        ):
            return False
    return True


@compiled(allocates=False)
def read_ones(words: NDArray[np.uint64], begin: int, end: int, places: NDArray[np.int32]) -> int:
    """Find some bits that are set, from a position on.

    Args:
        words: The stream of bits.
        begin: The position.
        end: The position that they must not reach, above the first.
        places: Written: for each the number of bits before it that are not set.

    Returns:
        The position behind the last of them, or -1 where there are too few.
    """
    word, last, found = np.uint64(begin >> 6), np.uint64((end - 1) >> 6), 0
    base = (begin & ~63) - begin
    bits = words[word] & (~np.uint64(0) << np.uint64(begin & 63))
    while True:
        while bits:
            places[np.uint64(found)] = base + first_bit(bits)
            base -= 1
            found += 1
            if found == places.size:
                behind = begin + base + first_bit(bits) + found + 1
                return behind if behind <= end else -1
            bits &= bits - np.uint64(1)
        if word == last:
            return -1
        word += np.uint64(1)
        base += 64
        bits = words[word]


@compiled(allocates=False)
def join_documents(
    words: NDArray[np.uint64], position: int, shift: int, count: int, found: NDArray[np.int32]
) -> bool:
    """Make documents of the zeros before the ends of their gaps; whether all are below a count."""
    zeros, document, are_gaps = 0, -1, True
    for place in range(found.size):
        gap = (int(found[place]) - zeros) << shift
        if shift:
            gap |= take(words, position, shift)
            position += shift
        are_gaps &= 0 <= gap < count
        zeros = int(found[place])
        document += gap + 1
        found[place] = document
    return are_gaps and document < count


@compiled(allocates=False)
def join_numbers(
    words: NDArray[np.uint64], position: int, shift: int, known: int, patterns: NDArray[np.int32]
) -> bool:
    """Make numbers of patterns of the zeros before their ends; whether all are known."""
    zeros, are_known = 0, True
    for place in range(patterns.size):
        number = (int(patterns[place]) - zeros) << shift
        if shift:
            number |= take(words, position, shift)
            position += shift
        are_known &= 0 <= number < known
        zeros = int(patterns[place])
        patterns[place] = number
    return are_known
