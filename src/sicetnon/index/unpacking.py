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

_PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_AT_A_TIME = 4
"""Bits that `read_ones` finds before it asks whether there are more: to ask for each takes longer
than to find one too many."""
_MOST_ZEROS = (1 << 31) - 128


@inlined
def count_bits(bits: np.uint64) -> np.uint64:
    """The number of bits that are set; compilers know this form, and take one instruction."""
    pairs = bits - ((bits >> np.uint64(1)) & _PAIRS)
    nibbles = (pairs & _NIBBLES) + ((pairs >> np.uint64(2)) & _NIBBLES)
    return np.uint64((((nibbles + (nibbles >> np.uint64(4))) & _BYTES) * _SUM) >> np.uint64(56))


@inlined
def first_bit(bits: np.uint64) -> np.int64:
    """The place of the lowest bit that is set: the number of those below it."""
    return np.int64(count_bits(~bits & (bits - np.uint64(1))))


@inlined(allocates=False)
def bits_at(words: NDArray[np.uint64], position: np.uint64) -> np.uint64:
    """The 64 bits from a position on; the word behind them must be there."""
    word, bit = position >> np.uint64(6), position & np.uint64(63)
    first, second = np.uint64(words[word]), np.uint64(words[word + np.uint64(1)])
    return first >> bit | (second << np.uint64(1)) << (np.uint64(63) - bit)


@compiled(allocates=False)
def take_gamma(words: NDArray[np.uint64], position: int, end: int) -> tuple[int, int]:
    """The number at a position, 0 where there is none, and the position behind it."""
    if position >= end:
        return 0, position
    bits = bits_at(words, np.uint64(position))
    if not bits:
        return 0, position
    zeros = int(first_bit(bits))
    behind = position + 2 * zeros + 1
    if zeros > 2 * MOST_SHIFT or behind > end:
        return 0, position
    if not zeros:  # nothing stands behind it, perhaps no word either
        return 1, behind
    rest = bits_at(words, np.uint64(position + zeros + 1)) & ~(~np.uint64(0) << np.uint64(zeros))
    return 1 << zeros | int(rest), behind


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
        The position behind the last of them, or -1 where there are too few, or too many zeros.
    """
    word, last = np.uint64(begin >> 6), np.uint64((end - 1) >> 6)
    base, found, wanted = (begin & ~63) - begin, np.uint64(0), np.uint64(places.size)
    bits = words[word] & (~np.uint64(0) << np.uint64(begin & 63))
    while True:
        stop = found + count_bits(bits)
        if stop + np.uint64(_AT_A_TIME) <= wanted:
            for first in range(found, stop, np.uint64(_AT_A_TIME)):
                for place in range(first, first + np.uint64(_AT_A_TIME)):
                    places[place] = base + first_bit(bits) - np.int64(place)
                    bits &= bits - np.uint64(1)
            found = stop
        else:
            while bits and found < wanted:
                places[found] = base + first_bit(bits) - np.int64(found)
                bits &= bits - np.uint64(1)
                found += np.uint64(1)
            if found == wanted:
                behind = begin + int(places[places.size - 1]) + places.size
                return behind if behind <= end else -1
        if word == last or base - np.int64(found) > _MOST_ZEROS:
            return -1
        word += np.uint64(1)
        base += 64
        bits = words[word]


@compiled(allocates=False)
def join_documents(
    words: NDArray[np.uint64], position: int, shift: int, count: int, found: NDArray[np.int32]
) -> bool:
    """Make documents of the zeros before the ends of their gaps; whether all are below a count."""
    width, at, others, document = np.uint64(shift), np.uint64(position), np.int64(-1), np.int64(-1)
    kept, each = ~(~np.uint64(0) << width), 64 // max(shift, 1)
    for first in range(0, found.size, each):
        bits = bits_at(words, at)
        for place in range(first, min(first + each, found.size)):
            others += np.int64(bits & kept) + 1
            # the zeros are those of this gap and of all before
            document = (np.int64(found[place]) << shift) + others
            found[place] = document
            bits >>= width
        at += width * np.uint64(each)
    # documents rise, and so the last one is the highest
    return bool(document < count)


@compiled(allocates=False)
def join_numbers(
    words: NDArray[np.uint64], position: int, shift: int, known: int, patterns: NDArray[np.int32]
) -> bool:
    """Make numbers of patterns of the zeros before their ends; whether all are known."""
    width, at, zeros, highest = np.uint64(shift), np.uint64(position), np.int64(0), np.int64(0)
    kept = ~(~np.uint64(0) << width)
    for place in range(patterns.size):
        number = np.int64(patterns[place]) - zeros
        zeros = np.int64(patterns[place])
        if shift:
            number = number << shift | np.int64(bits_at(words, at) & kept)
            at += width
        highest = max(highest, number)
        patterns[place] = number
    return bool(highest < known)


def _plainly_looked_up(
    values: NDArray[np.uint16], numbers: NDArray[np.int32], found: NDArray[np.uint16]
) -> None:
    """The same as `look_up`."""
    found[:] = values[numbers]


@compiled(
    plain=_plainly_looked_up,
    seconds=lambda *given: _POSTING * given[1].size,
    allocates=False,
)
def look_up(
    values: NDArray[np.uint16], numbers: NDArray[np.int32], found: NDArray[np.uint16]
) -> None:
    """Write the values that have some numbers; numpy would copy the numbers first."""
    for place in range(numbers.size):
        found[place] = values[np.uint64(numbers[place])]
