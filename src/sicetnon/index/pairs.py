"""Pairs of frequency and length: what a weighting model sees of a posting.

The postings of a frequent term hold far fewer distinct pairs of a frequency over all fields and a
document's length than postings. A search computes the score of each pair once, and looks it up for
each posting by the number of its pair, which is the posting's code. Pairs are made when a term is
unpacked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.unpacked import Unpacked

PAIRED_FROM = 256
"""Postings from which a term has pairs. The codes of rarer terms are frequencies."""
MAX_PAIRS = 1 << 16
"""A term with more pairs than codes can number has none: its codes are frequencies, too."""
_CELLS, _MOST_CELLS = 64, 1 << 22
"""Cells for each posting, and cells in all, up to which they take less time than a hash table."""
# what the plain way takes, in seconds per posting
_PAIRING = 2e-7


def _plain_codes(
    documents: NDArray[np.int32],
    sums: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    codes: NDArray[np.uint16],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """The same as `pair_codes`."""
    pairs, found = np.unique(sums.astype(np.int64) << 32 | lengths[documents], return_inverse=True)
    if len(pairs) > len(frequencies):
        return -1
    codes[:] = found
    frequencies[: len(pairs)], pair_lengths[: len(pairs)] = pairs >> 32, pairs & 0xFFFFFFFF
    return len(pairs)


@compiled(plain=_plain_codes, seconds=lambda documents, *_: _PAIRING * documents.size)
def pair_codes(
    documents: NDArray[np.int32],
    sums: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    codes: NDArray[np.uint16],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """Number the distinct pairs of frequency and length of a term's postings.

    Args:
        documents: The documents of the postings, shape (postings,).
        sums: Their frequencies.
        lengths: The lengths of all documents, from 0.
        codes: Written: the number of each posting's pair. Pairs are numbered in rising order.
        frequencies: Written: the frequency of each pair.
        pair_lengths: Written: the length of each pair.

    Returns:
        How many pairs there are, or -1 where there is no room for them.
    """
    most, longest = 0, 0
    for place in range(documents.size):
        most = max(most, int(sums[place]))
        longest = max(longest, int(lengths[documents[place]]))
    if (most + 1) * (longest + 1) <= min(_CELLS * documents.size, _MOST_CELLS):
        return count_pairs(
            documents, sums, lengths, codes, frequencies, pair_lengths, most, longest + 1
        )
    return hash_pairs(documents, sums, lengths, codes, frequencies, pair_lengths)


@compiled
def count_pairs(
    documents: NDArray[np.int32],
    sums: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    codes: NDArray[np.uint16],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
    most: int,
    width: int,
) -> int:
    """See `pair_codes`: with a cell for each pair that there can be."""
    cells = np.full((most + 1) * width, -1, np.int32)
    for place in range(documents.size):
        cells[np.int64(sums[place]) * width + np.int64(lengths[documents[place]])] = 0
    known = 0
    for frequency in range(most + 1):
        for length in range(width):
            cell = frequency * width + length
            if cells[cell] == 0:
                if known == frequencies.size:
                    return -1
                cells[cell], frequencies[known], pair_lengths[known] = known, frequency, length
                known += 1
    for place in range(documents.size):
        codes[place] = cells[np.int64(sums[place]) * width + np.int64(lengths[documents[place]])]
    return known


@compiled
def hash_pairs(
    documents: NDArray[np.int32],
    sums: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    codes: NDArray[np.uint16],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """See `pair_codes`: with a hash table, where few of the pairs that there can be are there."""
    slots = 1
    while slots < 2 * (min(documents.size, frequencies.size) + 1):
        slots *= 2
    found, pairs = np.full(slots, -1, np.int32), np.empty(frequencies.size, np.int64)
    mask, known = np.uint64(slots - 1), 0
    for posting in range(documents.size):
        pair = np.int64(sums[posting]) << 32 | np.int64(lengths[documents[posting]])
        hashed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        slot = (hashed >> np.uint64(40)) & mask
        while found[slot] >= 0 and pairs[found[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if found[slot] < 0:
            if known == pairs.size:
                return -1
            found[slot], pairs[known] = known, pair
            known += 1
        codes[posting] = found[slot]
    order = np.argsort(pairs[:known])
    ranks = np.empty(known, np.uint16)
    for rank in range(known):
        pair = pairs[order[rank]]
        ranks[order[rank]], frequencies[rank] = rank, pair >> 32
        pair_lengths[rank] = pair & 0xFFFFFFFF
    for posting in range(documents.size):
        codes[posting] = ranks[codes[posting]]
    return known


def paired(
    documents: NDArray[np.int32], sums: NDArray[np.uint16], lengths: NDArray[np.int32]
) -> Unpacked:
    """The postings of a term with their pairs, which stand in rising order.

    Args:
        documents: The documents of the postings, shape (postings,).
        sums: Their frequencies over all fields.
        lengths: The length of each document over all fields.
    """
    if len(documents) >= PAIRED_FROM:
        room = min(len(documents), MAX_PAIRS)
        frequencies, pair_lengths = np.empty(room, np.uint16), np.empty(room, np.int32)
        codes = np.empty_like(sums)
        found = pair_codes(documents, sums, lengths, codes, frequencies, pair_lengths)
        if found >= 0:
            return Unpacked(documents, codes, frequencies[:found], pair_lengths[:found])
    return unpaired(documents, sums)


def unpaired(documents: NDArray[np.int32], frequencies: NDArray[np.uint16]) -> Unpacked:
    """The postings of a term without pairs, whose codes are frequencies."""
    return Unpacked(documents, frequencies, np.empty(0, np.uint16), np.empty(0, np.int32))
