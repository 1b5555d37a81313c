"""The kernels of `packing` in plain numpy: what they have to do, and the way of small indexes.

Arguments and results are those of the functions of the same names there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTED_FROM = 128
"""Postings from which the record of a term holds the occurrences of the term."""
MOST_SHIFT = 31
HEADER = 4
"""Numbers in the header of a record before the occurrences of its term."""
_WORD = 64


def usual_shift(postings: int, documents: int) -> int:
    """The shift of the gaps between the documents of a rare term."""
    return max((2 * documents // (3 * postings)).bit_length() - 1, 0)


def gaps_of(documents: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of documents before each of a term that do not hold it, from the last on."""
    before = np.append(-1, documents[:-1].astype(np.int64))
    gaps: NDArray[np.int64] = documents - before - 1
    return gaps


def gamma_bits(number: int) -> int:
    """The bits of Elias' gamma code of a number from 1."""
    return 2 * int(number).bit_length() - 1


def number_patterns(
    frequencies: NDArray[np.uint16],
    patterns: NDArray[np.uint16],
    known: int,
    numbers: NDArray[np.int32],
) -> int:
    """Number the distinct rows of frequencies."""
    number_of = {tuple(row): number for number, row in enumerate(patterns[:known].tolist())}
    for place, row in enumerate(map(tuple, frequencies.tolist())):
        number = number_of.setdefault(row, len(number_of))
        if number == len(patterns):
            return -1
        if number == known:
            patterns[known] = row
            known += 1
        numbers[place] = number
    return known


def plan_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    count: int,
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    """Choose how postings are stored, and find the end of each record."""
    position = int(ends[0])
    places = offsets.tolist()
    for term in range(len(shifts)):
        here = slice(places[term], places[term + 1])
        size = here.stop - here.start
        if size:
            gaps = gaps_of(documents[here])
            usual = usual_shift(size, count)
            known = range(usual, usual + 1) if size < COUNTED_FROM else range(MOST_SHIFT + 1)
            gap_bits, gap_shift = _best(gaps, known)
            number_bits, number_shift = _best(numbers[here], range(MOST_SHIFT + 1))
            shifts[term] = gap_shift, number_shift
            header = _header(size, shifts[term].tolist(), totals[term].tolist())
            position += sum(map(gamma_bits, header)) + gap_bits + number_bits
        ends[term + 1] = position


def _best(values: NDArray[Any], shifts: range) -> tuple[int, int]:
    """The bits that values take in Rice code with the best shift, and this shift."""
    best, found = len(values) * (shifts[-1] + 2) + int(values.sum()), shifts[0]
    for shift in shifts:
        # from here on, the lowest bits alone cost as much as the best
        if len(values) * (shift + 1) >= best:
            break
        bits = len(values) * (shift + 1) + int((values >> shift).sum())
        if bits < best:
            best, found = bits, shift
    return best, found


def _header(postings: int, shifts: list[int], totals: list[int]) -> list[int]:
    """The numbers at the beginning of a record, each from 1."""
    if postings < COUNTED_FROM:
        return [postings, shifts[1] + 1]
    return [postings, shifts[1] + 1, shifts[0] + 1, *(total + 1 for total in totals)]


def pack_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None:
    """Write the records of terms."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    places = offsets.tolist()
    for term in range(len(shifts)):
        here = slice(places[term], places[term + 1])
        if here.start == here.stop:
            continue
        position, both = int(ends[term]), shifts[term].tolist()
        for number in _header(here.stop - here.start, both, totals[term].tolist()):
            position = _put(bits, position, np.array([0]), number.bit_length() - 1)
            bits[position] = 1
            position = _put(bits, position + 1, np.array([number]), number.bit_length() - 1)
        parts: tuple[NDArray[Any], ...] = gaps_of(documents[here]), numbers[here]
        for values, shift in zip(parts, both, strict=True):
            position = _put(bits, position, values, shift)
            stops = position + np.cumsum((values >> shift).astype(np.int64) + 1)
            bits[stops - 1] = 1
            position = int(stops[-1])
    words[:] = np.packbits(bits, bitorder="little").view(np.uint64)


def _put(bits: NDArray[np.uint8], position: int, values: NDArray[Any], width: int) -> int:
    """Write the lowest bits of values one after the other; the position behind them."""
    end = position + len(values) * width
    parts = values.astype(np.int64)[:, None] >> np.arange(width) & 1
    bits[position:end] = parts.reshape(-1)
    return end


def read_headers(
    words: NDArray[np.uint64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    count: int,
    headers: NDArray[np.int64],
) -> bool:
    """Read the headers of records."""
    for term, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        headers[term] = 0
        if begin == end:
            continue
        position, found = begin, list[int]()
        while len(found) < 2 or (found[0] >= COUNTED_FROM and len(found) < headers.shape[1] - 1):
            number, position = _gamma(words, position, end)
            if not number or (1 <= len(found) <= 2 and number > MOST_SHIFT + 1):
                return False
            found.append(number)
        if found[0] > count:
            return False
        if found[0] >= COUNTED_FROM:
            headers[term, HEADER:] = np.array(found[3:], np.int64) - 1
            gap_shift = found[2] - 1
        else:
            gap_shift = usual_shift(found[0], count)
        if position + found[0] * (gap_shift + found[1] + 1) > end:
            return False
        headers[term, :HEADER] = found[0], gap_shift, found[1] - 1, position
    return True


def _gamma(words: NDArray[np.uint64], position: int, end: int) -> tuple[int, int]:
    """The number at a position, 0 where there is none, and the position behind it."""
    first = position // _WORD
    some = int.from_bytes(words[first : first + 3].tobytes(), "little") >> position % _WORD
    zeros = (some & -some).bit_length() - 1
    if not 0 <= zeros <= 2 * MOST_SHIFT or position + 2 * zeros + 1 > end:
        return 0, position
    rest = some >> (zeros + 1) & (1 << zeros) - 1
    return 1 << zeros | rest, position + 2 * zeros + 1


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
    """Read the documents of records, and the numbers of their patterns."""
    for term, end in enumerate(ends.tolist()):
        size, gap_shift, shift, position = headers[term, :HEADER].tolist()
        if not size:
            continue
        gaps, position = _rice(words, position, end, size, gap_shift)
        if position + size * (shift + 1) > end or position < 0:
            return False
        patterns, position = _rice(words, position, end, size, shift)
        # those below 0 were too large for their type
        if position != end or not (_are_below(patterns, known) and _are_below(gaps, count)):
            return False
        found = np.cumsum(gaps + 1) - 1
        if found[-1] >= count:
            return False
        here = slice(int(offsets[term]), int(offsets[term]) + size)
        documents[here], numbers[here] = found, patterns
    return True


def _are_below(values: NDArray[np.int64], end: int) -> bool:
    return bool(values.min() >= 0 and values.max() < end)


def _rice(
    words: NDArray[np.uint64], position: int, end: int, size: int, shift: int
) -> tuple[NDArray[np.int64], int]:
    """Values in Rice code, and the position behind them; a negative one where they do not end."""
    begin = position + size * shift
    ones = _ones(words, begin, end)[:size]
    if len(ones) < size:
        return ones, -1
    rest = ones - np.append(-1, ones[:-1]) - 1
    values: NDArray[np.int64] = rest << shift | _take(words, position, size, shift)
    return values, begin + int(ones[-1]) + 1


def _ones(words: NDArray[np.uint64], begin: int, end: int) -> NDArray[np.int64]:
    """The places of the bits that are set, counted from the first position."""
    first = begin // _WORD
    some = words[first : -(-end // _WORD)].view(np.uint8)
    bits = np.unpackbits(some, bitorder="little")[begin - first * _WORD : end - first * _WORD]
    places: NDArray[np.int64] = np.flatnonzero(bits)
    return places


def _take(words: NDArray[np.uint64], position: int, size: int, width: int) -> NDArray[np.int64]:
    """Values of some bits each, one after the other."""
    if not width:
        return np.zeros(size, dtype=np.int64)
    positions = position + np.arange(size, dtype=np.int64) * width
    places, bits = positions >> 6, (positions & 63).astype(np.uint64)
    low = words[places] >> bits
    high = (words[places + 1] << np.uint64(1)) << (np.uint64(63) - bits)
    values: NDArray[np.int64] = ((low | high) & np.uint64((1 << width) - 1)).astype(np.int64)
    return values
