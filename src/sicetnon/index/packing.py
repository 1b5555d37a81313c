"""Compiled kernels that pack postings into bits; `unpacking` has those that unpack them.

The record of a term stands in a stream of bits. The lowest bit of a word comes first. It holds

1. the number of postings, the shift of the numbers of patterns plus 1, and from `COUNTED_FROM`
   postings on the shift of the gaps plus 1 and the occurrences of the term in each field plus 1, in
   Elias' gamma code;
2. the gaps between its documents: how many documents stand between each and the one before;
3. the numbers of the patterns, which are rows of frequencies.

Gaps and numbers stand in Rice code: the lowest bits of each, as many as the shift says, and then
for each as many zeros as the rest says, and a one.

Elias, IEEE Transactions on Information Theory 21, 1975; Rice, JPL 79-22, 1979; for postings Witten,
Moffat and Bell, "Managing Gigabytes", 1999.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, inlined
from sicetnon.index import plain_packing
from sicetnon.index.plain_packing import COUNTED_FROM, MOST_SHIFT

# what the plain way takes, in seconds per term and per posting
_TERM, _POSTING = 5e-5, 1e-6
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@compiled(allocates=False)
def usual_shift(postings: int, documents: int) -> int:
    """The shift of the gaps between the documents of a rare term."""
    shift = 0
    while 2 * documents // (3 * postings) >> (shift + 1):
        shift += 1
    return shift


@compiled(allocates=False)
def gamma_bits(number: int) -> int:
    """The bits of Elias' gamma code of a number from 1."""
    bits = 1
    while number > 1:
        number >>= 1
        bits += 2
    return bits


@inlined(allocates=False)
def _slot_of(
    rows: NDArray[np.uint16],
    row: int,
    patterns: NDArray[np.uint16],
    found: NDArray[np.int32],
) -> np.uint64:
    """The slot of a hash table with the number of the same pattern, or the free one for it."""
    hashed, mask = np.uint64(0), np.uint64(found.size - 1)
    for field in range(rows.shape[1]):
        hashed = (hashed ^ np.uint64(rows[row, field])) * _PRIME
    slot = (hashed >> np.uint64(32)) & mask
    while found[slot] >= 0:
        number, same = found[slot], True
        for field in range(rows.shape[1]):
            same &= patterns[number, field] == rows[row, field]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled(
    plain=plain_packing.number_patterns,
    seconds=lambda frequencies, *_: _POSTING * len(frequencies),
)
def number_patterns(
    frequencies: NDArray[np.uint16],
    patterns: NDArray[np.uint16],
    known: int,
    numbers: NDArray[np.int32],
) -> int:
    """Number the distinct rows of frequencies.

    Args:
        frequencies: Shape (postings, fields).
        patterns: The rows by number; new ones are written. Shape (room, fields).
        known: The number of rows before.
        numbers: Written: the number of each posting's row.

    Returns:
        The number of rows after, or -1 where there is no room for them.
    """
    slots = 1
    while slots < 2 * (patterns.shape[0] + 1):
        slots *= 2
    found = np.full(slots, -1, dtype=np.int32)
    for number in range(known):
        found[_slot_of(patterns, number, patterns, found)] = number
    for posting in range(frequencies.shape[0]):
        slot = _slot_of(frequencies, posting, patterns, found)
        if found[slot] < 0:
            if known == patterns.shape[0]:
                return -1
            found[slot], patterns[known, :] = known, frequencies[posting, :]
            known += 1
        numbers[posting] = found[slot]
    return known


@compiled(
    plain=plain_packing.plan_records,
    seconds=lambda offsets, documents, *_: _TERM * offsets.size + _POSTING * documents.size,
    allocates=False,
)
def plan_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    count: int,
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    """Choose how postings are stored, and find the end of each record.

    Args:
        offsets: The beginning of the postings of each term, and the last end.
        documents: Their documents, rising for each term, shape (postings,).
        numbers: The numbers of their patterns.
        totals: Occurrences, shape (terms, fields).
        count: The number of all documents.
        shifts: Written: the shifts for which the gaps and the numbers of each term take the fewest
            bits, shape (terms, 2). The gaps of a rare term have the usual shift.
        ends: The position of the first record, then written: the end of each, shape (terms + 1,).
    """
    position = ends[0]
    for term in range(len(shifts)):
        begin, end = int(offsets[term]), int(offsets[term + 1])
        size = end - begin
        if size:
            shift, best = best_shift(numbers, begin, end)
            position += gamma_bits(size) + gamma_bits(shift + 1) + best
            usual = usual_shift(size, count)
            if size >= COUNTED_FROM:
                usual, best = best_gap_shift(documents, begin, end, usual)
                position += gamma_bits(usual + 1)
                for field in range(totals.shape[1]):
                    position += gamma_bits(totals[term, field] + 1)
            else:
                best = gap_bits(documents, begin, end, usual)
            position += best
            shifts[term, 0], shifts[term, 1] = usual, shift
        ends[term + 1] = position


@compiled(allocates=False)
def best_shift(values: NDArray[np.int32], begin: int, end: int) -> tuple[int, int]:
    """The shift for which values take the fewest bits in Rice code, and their number."""
    size, rest = end - begin, 0
    for place in range(begin, end):
        rest += int(values[place])
    best, found, shift = size + rest, 0, 1
    while size * (shift + 1) < best:
        rest = 0
        for place in range(begin, end):
            rest += int(values[place]) >> shift
        if size * (shift + 1) + rest < best:
            best, found = size * (shift + 1) + rest, shift
        shift += 1
    return found, best


@compiled(allocates=False)
def best_gap_shift(
    documents: NDArray[np.int32], begin: int, end: int, first: int
) -> tuple[int, int]:
    """The shift for which gaps take the fewest bits, and their number.

    The bits fall with the shift as long as half of the gaps have more, and rise then.
    """
    found, best = first, gap_bits(documents, begin, end, first)
    while found:
        bits = gap_bits(documents, begin, end, found - 1)
        if bits > best:
            break
        found, best = found - 1, bits
    while found < MOST_SHIFT:
        bits = gap_bits(documents, begin, end, found + 1)
        if bits >= best:
            break
        found, best = found + 1, bits
    return found, best


@compiled(allocates=False)
def gap_bits(documents: NDArray[np.int32], begin: int, end: int, shift: int) -> int:
    """The bits that the gaps between the documents of a term take in Rice code."""
    before, bits = -1, (end - begin) * (shift + 1)
    for place in range(begin, end):
        bits += (int(documents[place]) - before - 1) >> shift
        before = int(documents[place])
    return bits


@compiled(allocates=False)
def put(words: NDArray[np.uint64], position: int, value: int, width: int) -> int:
    """Write the lowest bits of a value where all bits are 0; the position behind them."""
    if width:
        word, bit = position >> 6, np.uint64(position & 63)
        kept = np.uint64(value) & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))
        words[word] |= kept << bit
        over = (kept >> np.uint64(1)) >> (np.uint64(63) - bit)
        if over:
            words[word + 1] |= over
    return position + width


@compiled(allocates=False)
def put_gamma(words: NDArray[np.uint64], position: int, number: int) -> int:
    """Write Elias' gamma code of a number from 1; the position behind it."""
    width = gamma_bits(number) >> 1
    position = put(words, position + width, 1, 1)
    return put(words, position, number, width)


@compiled(
    plain=plain_packing.pack_records,
    seconds=lambda offsets, documents, *_: _TERM * offsets.size + _POSTING * documents.size,
    allocates=False,
)
def pack_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None:
    """Write the records of terms.

    Args:
        offsets: The beginning of the postings of each term, and the last end.
        documents: Their documents, rising for each term, shape (postings,).
        numbers: The numbers of their patterns.
        totals: Occurrences, shape (terms, fields).
        shifts: As `plan_records` chose them.
        ends: The position of the first record, and the end of each.
        words: The stream of bits; those from the first record on are 0, and are written.
    """
    for term in range(len(shifts)):
        begin, end, position = int(offsets[term]), int(offsets[term + 1]), int(ends[term])
        gap_shift, shift, size = int(shifts[term, 0]), int(shifts[term, 1]), end - begin
        if not size:
            continue
        position = put_gamma(words, position, size)
        position = put_gamma(words, position, shift + 1)
        if size >= COUNTED_FROM:
            position = put_gamma(words, position, gap_shift + 1)
            for field in range(totals.shape[1]):
                position = put_gamma(words, position, int(totals[term, field]) + 1)
        high, before = position + size * gap_shift, -1
        for place in range(begin, end):
            gap = int(documents[place]) - before - 1
            before = int(documents[place])
            position = put(words, position, gap, gap_shift)
            high = put_one(words, high + (gap >> gap_shift))
        position, high = high, high + size * shift
        for place in range(begin, end):
            number = int(numbers[place])
            position = put(words, position, number, shift)
            high = put_one(words, high + (number >> shift))


@compiled(allocates=False)
def put_one(words: NDArray[np.uint64], position: int) -> int:
    """Set a bit; the position behind it."""
    words[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    return position + 1
