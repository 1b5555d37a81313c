"""Pairs of frequency and length: what a weighting model sees of a posting.

The postings of a frequent term hold far fewer distinct pairs of a frequency over all fields and a
document's length than postings. A search computes the score of each pair once, and looks it up for
each posting by the number of its pair, which is the posting's code. Pairs are made when a term is
unpacked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.unpacked import Unpacked
from sicetnon.index.unpacking import first_bit

PAIRED_FROM = 256
"""Postings from which a term has pairs. The codes of rarer terms are frequencies."""
MAX_PAIRS = 1 << 16
"""A term with more pairs than codes can number has none: its codes are frequencies, too."""
_CELLS, _MOST_CELLS = 64, 1 << 22
"""Cells for each posting, and cells in all, up to which they take less time than a hash table."""
_MOST_COUNTED = 1 << 22
"""The highest length up to which lengths are told apart by counting, and not by sorting."""
_CELL_BITS = 3
"""Bits of a cell's number within a word of eight cells."""
# what the plain way takes, in seconds per posting
_PAIRING = 2e-7


class RankedLengths(NamedTuple):
    """The lengths of documents by their ranks.

    Attributes:
        ranks: The rank of each document's length among all that there are, uint16.
        lengths: The length of each rank, rising, int32.
    """

    ranks: NDArray[np.uint16]
    lengths: NDArray[np.int32]


def ranked(lengths: NDArray[np.int32]) -> RankedLengths | None:
    """Rank the lengths of documents, from 0; None where there are too many different ones."""
    longest = int(lengths.max(initial=0))
    if longest < _MOST_COUNTED:
        is_there = np.zeros(longest + 1, bool)
        is_there[lengths] = True
        different, ranks = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[lengths]
    else:
        different, ranks = np.unique(lengths, return_inverse=True)
    if len(different) > MAX_PAIRS:
        return None
    return RankedLengths(ranks.astype(np.uint16), different.astype(np.int32))


def _plain_codes(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """The same as `pair_codes`."""
    pairs, found = np.unique(codes.astype(np.int64) << 16 | ranks[documents], return_inverse=True)
    if len(pairs) > len(frequencies):
        return -1
    codes[:] = found
    frequencies[: len(pairs)], pair_lengths[: len(pairs)] = pairs >> 16, lengths[pairs & 0xFFFF]
    return len(pairs)


@compiled(plain=_plain_codes, seconds=lambda documents, *_: _PAIRING * documents.size)
def pair_codes(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """Number the distinct pairs of frequency and length of a term's postings.

    Args:
        documents: The documents of the postings, shape (postings,).
        codes: Their frequencies; written: the number of each posting's pair. Pairs are numbered in
            rising order.
        ranks: See `RankedLengths`.
        lengths: Likewise.
        frequencies: Written: the frequency of each pair.
        pair_lengths: Written: the length of each pair.

    Returns:
        How many pairs there are, or -1 where there is no room for them; codes are unchanged then.
    """
    most = np.uint16(0)
    for place in range(codes.size):
        most = max(most, codes[place])
    width = (np.int64(lengths.size) + 7) & ~7
    cells = (np.int64(most) + 1) * width
    if cells <= min(_CELLS * documents.size, _MOST_CELLS):
        return int(
            count_pairs(documents, codes, ranks, lengths, frequencies, pair_lengths, cells, width)
        )
    return hash_pairs(documents, codes, ranks, lengths, frequencies, pair_lengths)


@compiled
def count_pairs(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
    cells: np.int64,
    width: np.int64,
) -> np.int64:
    """See `pair_codes`: with a cell for each pair that there can be, in rows by frequency."""
    words, known = np.zeros(cells >> _CELL_BITS, np.uint64), np.uint64(0)
    marks, numbers, row = words.view(np.uint8), np.empty(cells, np.uint16), np.uint64(width)
    for place in range(documents.size):
        marks[np.uint64(codes[place]) * row + np.uint64(ranks[np.uint64(documents[place])])] = 1
    for word in range(words.size):
        marked = words[word]
        while marked:
            cell = np.uint64((word << _CELL_BITS) + (first_bit(marked) >> _CELL_BITS))
            marked &= marked - np.uint64(1)
            if known == frequencies.size:
                return np.int64(-1)
            numbers[cell] = known
            frequencies[known], pair_lengths[known] = cell // row, lengths[cell % row]
            known += np.uint64(1)
    for place in range(documents.size):
        cell = np.uint64(codes[place]) * row + np.uint64(ranks[np.uint64(documents[place])])
        codes[place] = numbers[cell]
    return np.int64(known)


@compiled
def hash_pairs(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """See `pair_codes`: with a hash table, where few of the pairs that there can be are there."""
    slots = 1
    while slots < 2 * (min(documents.size, frequencies.size) + 1):
        slots *= 2
    found, pairs = np.full(slots, -1, np.int32), np.empty(frequencies.size, np.int64)
    numbers, mask, known = np.empty(documents.size, np.int32), np.uint64(slots - 1), 0
    for posting in range(documents.size):
        pair = np.int64(codes[posting]) << 16 | np.int64(ranks[documents[posting]])
        hashed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        slot = (hashed >> np.uint64(40)) & mask
        while found[slot] >= 0 and pairs[found[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if found[slot] < 0:
            if known == pairs.size:
                return -1
            found[slot], pairs[known] = known, pair
            known += 1
        numbers[posting] = found[slot]
    order = np.argsort(pairs[:known])
    ranked_as = np.empty(known, np.uint16)
    for rank in range(known):
        pair = pairs[order[rank]]
        ranked_as[order[rank]], frequencies[rank] = rank, pair >> 16
        pair_lengths[rank] = lengths[pair & 0xFFFF]
    for posting in range(documents.size):
        codes[posting] = ranked_as[numbers[posting]]
    return known


def most_pairs(postings: int) -> int:
    """The highest number of pairs that a term of so many postings may have."""
    return min(postings, MAX_PAIRS) if postings >= PAIRED_FROM else 0


def put_pairs(room: Unpacked, lengths: RankedLengths) -> int:
    """Number the pairs of a term, in rising order; how many there are, 0 where it has none.

    Args:
        room: The documents, and for codes the frequencies, of the term; the codes of its pairs take
            their place.
        lengths: The lengths of all documents.
    """
    most = most_pairs(len(room.documents))
    if not most:
        return 0
    frequencies, pair_lengths = room.pair_frequencies[:most], room.pair_lengths[:most]
    return max(pair_codes(room.documents, room.codes, *lengths, frequencies, pair_lengths), 0)
