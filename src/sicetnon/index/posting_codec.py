"""Postings as bits: the code of a term's record, packed and unpacked.

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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.jit import compiled, inlined

MAX_FREQUENCY = 65_535
"""Term frequencies have 16 bits: a more frequent word of a field counts this often."""

COUNTED_FROM = 128
"""Postings from which the record of a term holds the occurrences of the term."""
MOST_SHIFT = 31
HEADER = 4
"""Numbers in the header of a record before the occurrences of its term."""
_WORD = 64

# what numpy takes, in seconds per term and per posting
_PACKED_TERM, _PACKED_POSTING = 5e-5, 1e-6

# what numpy takes, in seconds per record and per posting
_HEADER_SECONDS, _RECORD_SECONDS, _UNPACKED_POSTING = 5e-6, 2e-5, 5e-8
_PRIME = np.uint64(0x9E3779B97F4A7C15)

_PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_BITS_AT_A_TIME = 4
"""Bits that `read_ones` finds before it asks whether there are more: to ask for each takes longer
than to find one too many."""
_MOST_ZEROS = (1 << 31) - 128


def _numpy_usual_shift(postings: int, documents: int) -> int:
    return max((2 * documents // (3 * postings)).bit_length() - 1, 0)


@compiled(allocates=False)
def usual_shift(postings: int, documents: int) -> int:
    """The shift of the gaps between the documents of a rare term."""
    shift = 0
    while 2 * documents // (3 * postings) >> (shift + 1):
        shift += 1
    return shift


def _numpy_gamma_bits(number: int) -> int:
    return 2 * int(number).bit_length() - 1


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
    table: NDArray[np.int32],
) -> np.uint64:
    """The slot of a hash table with the number of the same pattern, or the free one for it."""
    hashed, mask = np.uint64(0), np.uint64(table.size - 1)
    for field in range(rows.shape[1]):
        hashed = (hashed ^ np.uint64(rows[row, field])) * _PRIME
    slot = (hashed >> np.uint64(32)) & mask
    while table[slot] >= 0:
        number, same = table[slot], True
        for field in range(rows.shape[1]):
            same &= patterns[number, field] == rows[row, field]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


def _numpy_number_patterns(
    frequencies: NDArray[np.uint16],
    patterns: NDArray[np.uint16],
    known: int,
    numbers: NDArray[np.int32],
) -> int:
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


@compiled(
    numpy=_numpy_number_patterns,
    seconds=lambda frequencies, *_: _PACKED_POSTING * len(frequencies),
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
    table = np.full(slots, -1, dtype=np.int32)
    for number in range(known):
        table[_slot_of(patterns, number, patterns, table)] = number
    for posting in range(frequencies.shape[0]):
        slot = _slot_of(frequencies, posting, patterns, table)
        if table[slot] < 0:
            if known == patterns.shape[0]:
                return -1
            table[slot], patterns[known, :] = known, frequencies[posting, :]
            known += 1
        numbers[posting] = table[slot]
    return known


def _gaps_of(documents: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of documents before each of a term that do not hold it, from the last on."""
    before = np.append(-1, documents[:-1].astype(np.int64))
    gaps: NDArray[np.int64] = documents - before - 1
    return gaps


def _numpy_best_shift(values: NDArray[Any], shifts: range) -> tuple[int, int]:
    """The bits that values take in Rice code with the best shift, and this shift."""
    best, chosen = len(values) * (shifts[-1] + 2) + int(values.sum()), shifts[0]
    for shift in shifts:
        # from here on, the lowest bits alone cost as much as the best
        if len(values) * (shift + 1) >= best:
            break
        bits = len(values) * (shift + 1) + int((values >> shift).sum())
        if bits < best:
            best, chosen = bits, shift
    return best, chosen


def _header(postings: int, shifts: list[int], totals: list[int]) -> list[int]:
    """The numbers at the beginning of a record, each from 1."""
    if postings < COUNTED_FROM:
        return [postings, shifts[1] + 1]
    return [postings, shifts[1] + 1, shifts[0] + 1, *(total + 1 for total in totals)]


def _numpy_plan_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    count: int,
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    position = int(ends[0])
    places = offsets.tolist()
    for term in range(len(shifts)):
        here = slice(places[term], places[term + 1])
        size = here.stop - here.start
        if size:
            gaps = _gaps_of(documents[here])
            usual = _numpy_usual_shift(size, count)
            known = range(usual, usual + 1) if size < COUNTED_FROM else range(MOST_SHIFT + 1)
            gap_bits, gap_shift = _numpy_best_shift(gaps, known)
            number_bits, number_shift = _numpy_best_shift(numbers[here], range(MOST_SHIFT + 1))
            shifts[term] = gap_shift, number_shift
            header = _header(size, shifts[term].tolist(), totals[term].tolist())
            position += sum(map(_numpy_gamma_bits, header)) + gap_bits + number_bits
        ends[term + 1] = position


@compiled(
    numpy=_numpy_plan_records,
    seconds=lambda offsets, documents, *_: (
        _PACKED_TERM * offsets.size + _PACKED_POSTING * documents.size
    ),
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
    best, chosen, shift = size + rest, 0, 1
    while size * (shift + 1) < best:
        rest = 0
        for place in range(begin, end):
            rest += int(values[place]) >> shift
        if size * (shift + 1) + rest < best:
            best, chosen = size * (shift + 1) + rest, shift
        shift += 1
    return chosen, best


@compiled(allocates=False)
def best_gap_shift(
    documents: NDArray[np.int32], begin: int, end: int, first: int
) -> tuple[int, int]:
    """The shift for which gaps take the fewest bits, and their number.

    The bits fall with the shift as long as half of the gaps have more, and rise then.
    """
    chosen, best = first, gap_bits(documents, begin, end, first)
    while chosen:
        bits = gap_bits(documents, begin, end, chosen - 1)
        if bits > best:
            break
        chosen, best = chosen - 1, bits
    while chosen < MOST_SHIFT:
        bits = gap_bits(documents, begin, end, chosen + 1)
        if bits >= best:
            break
        chosen, best = chosen + 1, bits
    return chosen, best


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
    """Write the lowest bits of a value where all bits are 0; return the position after them."""
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
    """Write Elias' gamma code of a number from 1; return the position after it."""
    width = gamma_bits(number) >> 1
    position = put(words, position + width, 1, 1)
    return put(words, position, number, width)


@compiled(allocates=False)
def put_one(words: NDArray[np.uint64], position: int) -> int:
    """Set a bit; return the position after it."""
    words[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    return position + 1


def _numpy_put(bits: NDArray[np.uint8], position: int, values: NDArray[Any], width: int) -> int:
    """Write the lowest bits of values one after the other; return the position after them."""
    end = position + len(values) * width
    parts = values.astype(np.int64)[:, None] >> np.arange(width) & 1
    bits[position:end] = parts.reshape(-1)
    return end


def _numpy_pack_records(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
    totals: NDArray[np.int64],
    shifts: NDArray[np.uint8],
    ends: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None:
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    places = offsets.tolist()
    for term in range(len(shifts)):
        here = slice(places[term], places[term + 1])
        if here.start == here.stop:
            continue
        position, both = int(ends[term]), shifts[term].tolist()
        for number in _header(here.stop - here.start, both, totals[term].tolist()):
            position = _numpy_put(bits, position, np.array([0]), number.bit_length() - 1)
            bits[position] = 1
            position = _numpy_put(bits, position + 1, np.array([number]), number.bit_length() - 1)
        parts: tuple[NDArray[Any], ...] = _gaps_of(documents[here]), numbers[here]
        for values, shift in zip(parts, both, strict=True):
            position = _numpy_put(bits, position, values, shift)
            stops = position + np.cumsum((values >> shift).astype(np.int64) + 1)
            bits[stops - 1] = 1
            position = int(stops[-1])
    words[:] = np.packbits(bits, bitorder="little").view(np.uint64)


@compiled(
    numpy=_numpy_pack_records,
    seconds=lambda offsets, documents, *_: (
        _PACKED_TERM * offsets.size + _PACKED_POSTING * documents.size
    ),
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
        shifts: The shifts that `plan_records` chose.
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
    """The 64 bits from a position on; the next word must exist."""
    word, bit = position >> np.uint64(6), position & np.uint64(63)
    first, second = np.uint64(words[word]), np.uint64(words[word + np.uint64(1)])
    return first >> bit | (second << np.uint64(1)) << (np.uint64(63) - bit)


@compiled(allocates=False)
def take_gamma(words: NDArray[np.uint64], position: int, end: int) -> tuple[int, int]:
    """Decode a number (0 if there is none); also return the position after it."""
    if position >= end:
        return 0, position
    bits = bits_at(words, np.uint64(position))
    if not bits:
        return 0, position
    zeros = int(first_bit(bits))
    after = position + 2 * zeros + 1
    if zeros > 2 * MOST_SHIFT or after > end:
        return 0, position
    if not zeros:  # nothing follows it, perhaps not even a word
        return 1, after
    rest = bits_at(words, np.uint64(position + zeros + 1)) & ~(~np.uint64(0) << np.uint64(zeros))
    return 1 << zeros | int(rest), after


def _numpy_take_gamma(words: NDArray[np.uint64], position: int, end: int) -> tuple[int, int]:
    """Decode a number (0 if there is none); also return the position after it."""
    first = position // _WORD
    some = int.from_bytes(words[first : first + 3].tobytes(), "little") >> position % _WORD
    zeros = (some & -some).bit_length() - 1
    if not 0 <= zeros <= 2 * MOST_SHIFT or position + 2 * zeros + 1 > end:
        return 0, position
    rest = some >> (zeros + 1) & (1 << zeros) - 1
    return 1 << zeros | rest, position + 2 * zeros + 1


def _numpy_read_headers(
    words: NDArray[np.uint64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    count: int,
    headers: NDArray[np.int64],
) -> bool:
    for term, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        headers[term] = 0
        if begin == end:
            continue
        position, header = begin, list[int]()
        while len(header) < 2 or (header[0] >= COUNTED_FROM and len(header) < headers.shape[1] - 1):
            number, position = _numpy_take_gamma(words, position, end)
            if not number or (1 <= len(header) <= 2 and number > MOST_SHIFT + 1):
                return False
            header.append(number)
        if header[0] > count:
            return False
        if header[0] >= COUNTED_FROM:
            headers[term, HEADER:] = np.array(header[3:], np.int64) - 1
            gap_shift = header[2] - 1
        else:
            gap_shift = _numpy_usual_shift(header[0], count)
        if position + header[0] * (gap_shift + header[1] + 1) > end:
            return False
        headers[term, :HEADER] = header[0], gap_shift, header[1] - 1, position
    return True


@compiled(
    numpy=_numpy_read_headers,
    seconds=lambda _, begins, *__: _HEADER_SECONDS * begins.size,
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
        ends: Their ends, none before its beginning or past the last word but one.
        count: The number of all documents.
        headers: Written: the number of postings, the shifts of gaps and of the numbers of patterns,
            the position after the header, and the occurrences in each field, which are 0 if
            the record has none. Shape (records, `HEADER` + fields).

    Returns:
        Whether they can be such headers, of no more postings than can follow them.
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


def _numpy_ones(words: NDArray[np.uint64], begin: int, end: int) -> NDArray[np.int64]:
    """The places of the bits that are set, counted from the first position."""
    first = begin // _WORD
    some = words[first : -(-end // _WORD)].view(np.uint8)
    bits = np.unpackbits(some, bitorder="little")[begin - first * _WORD : end - first * _WORD]
    places: NDArray[np.int64] = np.flatnonzero(bits)
    return places


def _numpy_take(
    words: NDArray[np.uint64], position: int, size: int, width: int
) -> NDArray[np.int64]:
    """Values of some bits each, one after the other."""
    if not width:
        return np.zeros(size, dtype=np.int64)
    positions = position + np.arange(size, dtype=np.int64) * width
    places, bits = positions >> 6, (positions & 63).astype(np.uint64)
    low = words[places] >> bits
    high = (words[places + 1] << np.uint64(1)) << (np.uint64(63) - bits)
    values: NDArray[np.int64] = ((low | high) & np.uint64((1 << width) - 1)).astype(np.int64)
    return values


def _numpy_rice(
    words: NDArray[np.uint64], position: int, end: int, size: int, shift: int
) -> tuple[NDArray[np.int64], int]:
    """Decode Rice values; also return their end, -1 if they are truncated."""
    begin = position + size * shift
    ones = _numpy_ones(words, begin, end)[:size]
    if len(ones) < size:
        return ones, -1
    rest = ones - np.append(-1, ones[:-1]) - 1
    values: NDArray[np.int64] = rest << shift | _numpy_take(words, position, size, shift)
    return values, begin + int(ones[-1]) + 1


def _are_below(values: NDArray[np.int64], end: int) -> bool:
    return bool(values.min() >= 0 and values.max() < end)


def _numpy_unpack_postings(
    words: NDArray[np.uint64],
    headers: NDArray[np.int64],
    ends: NDArray[np.int64],
    count: int,
    known: int,
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    numbers: NDArray[np.int32],
) -> bool:
    for term, end in enumerate(ends.tolist()):
        size, gap_shift, shift, position = headers[term, :HEADER].tolist()
        if not size:
            continue
        gaps, position = _numpy_rice(words, position, end, size, gap_shift)
        if position + size * (shift + 1) > end or position < 0:
            return False
        patterns, position = _numpy_rice(words, position, end, size, shift)
        # those below 0 were too large for their type
        if position != end or not (_are_below(patterns, known) and _are_below(gaps, count)):
            return False
        found = np.cumsum(gaps + 1) - 1
        if found[-1] >= count:
            return False
        here = slice(int(offsets[term]), int(offsets[term]) + size)
        documents[here], numbers[here] = found, patterns
    return True


@compiled(
    numpy=_numpy_unpack_postings,
    seconds=lambda _, headers, *rest: (
        _RECORD_SECONDS * len(headers) + _UNPACKED_POSTING * rest[-1].size
    ),
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
        after = read_ones(words, position + size * gap_shift, end, found)
        if after < 0 or after + size * (shift + 1) > end:
            return False
        if read_ones(words, after + size * shift, end, patterns) != end:
            return False
        if not (
            join_documents(words, position, gap_shift, count, found)
            and join_numbers(words, after, shift, known, patterns)
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
        The position after the last of them, or -1 if there are too few, or too many zeros.
    """
    word, last = np.uint64(begin >> 6), np.uint64((end - 1) >> 6)
    base, count, requested = (begin & ~63) - begin, np.uint64(0), np.uint64(places.size)
    bits = words[word] & (~np.uint64(0) << np.uint64(begin & 63))
    while True:
        stop = count + count_bits(bits)
        if stop + np.uint64(_BITS_AT_A_TIME) <= requested:
            for first in range(count, stop, np.uint64(_BITS_AT_A_TIME)):
                for place in range(first, first + np.uint64(_BITS_AT_A_TIME)):
                    places[place] = base + first_bit(bits) - np.int64(place)
                    bits &= bits - np.uint64(1)
            count = stop
        else:
            while bits and count < requested:
                places[count] = base + first_bit(bits) - np.int64(count)
                bits &= bits - np.uint64(1)
                count += np.uint64(1)
            if count == requested:
                after = begin + int(places[places.size - 1]) + places.size
                return after if after <= end else -1
        if word == last or base - np.int64(count) > _MOST_ZEROS:
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


def _numpy_look_up(
    values: NDArray[np.uint16], numbers: NDArray[np.int32], chosen: NDArray[np.uint16]
) -> None:
    chosen[:] = values[numbers]


@compiled(
    numpy=_numpy_look_up,
    seconds=lambda *given: _UNPACKED_POSTING * given[1].size,
    allocates=False,
)
def look_up(
    values: NDArray[np.uint16], numbers: NDArray[np.int32], chosen: NDArray[np.uint16]
) -> None:
    """Write the values that have some numbers; numpy would copy the numbers first."""
    for place in range(numbers.size):
        chosen[place] = values[np.uint64(numbers[place])]
