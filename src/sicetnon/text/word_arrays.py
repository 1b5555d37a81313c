"""The table that numbers distinct words, as arrays that compiled code reads and fills.

A hash table with open addressing. Key and rest of a word hold its first 15 bytes; what a longer one
has beyond stands among the letters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.jit import compiled

EMPTY = -1
"""A slot without a word, and the number of a word that the table does not hold."""
KEY_BYTES, KEY_BITS = 7, np.uint64(56)
"""Bytes and bits of a word in its key; the word's size, at most 255, stands above them."""
REST_END = KEY_BYTES + 8
"""The end of the bytes of a word in its rest, which follow those in its key."""

_PRIME = np.uint64(0x9E3779B97F4A7C15)


class WordArrays(NamedTuple):
    """The arrays of a table of words, some with room to spare; `counts` holds the one number.

    A key is the first 7 bytes of a word with its size above them (255 at most), a rest the next 8.
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    rests: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    letters: NDArray[np.uint8]
    counts: NDArray[np.int64]


@compiled(allocates=False)
def mixed(value: np.uint64, chunk: np.uint64) -> np.uint64:
    """A hash with 8 bytes more."""
    value = (value ^ chunk) * _PRIME
    return value ^ (value >> np.uint64(32))


@compiled(allocates=False)
def _key(letters: NDArray[np.uint8], begin: int, size: int) -> tuple[np.uint64, np.uint64]:
    """The key and the rest of a word."""
    key, rest = np.uint64(min(size, 255)) << KEY_BITS, np.uint64(0)
    for place in range(min(size, KEY_BYTES)):
        key |= np.uint64(letters[begin + place]) << np.uint64(8 * place)
    for place in range(KEY_BYTES, min(size, REST_END)):
        rest |= np.uint64(letters[begin + place]) << np.uint64(8 * (place - KEY_BYTES))
    return key, rest


@compiled(allocates=False)
def _hash(
    key: np.uint64, rest: np.uint64, letters: NDArray[np.uint8], begin: int, size: int
) -> np.uint64:
    """The hash of a word."""
    value, chunk = mixed(np.uint64(0), key), np.uint64(0)
    if size > KEY_BYTES:
        value = mixed(value, rest)
    for place in range(REST_END, size):
        chunk = chunk << np.uint64(8) | np.uint64(letters[begin + place])
        if place & 7 == 7:
            value = mixed(value, chunk)
    return mixed(value, chunk) if size > REST_END else value


@compiled(allocates=False)
def known_number(
    size: int, key: np.uint64, rest: np.uint64, value: np.uint64,
    slots: NDArray[np.int32], keys: NDArray[np.uint64], rests: NDArray[np.uint64],
) -> int:  # fmt: skip
    """The number of a word that has no more than a key and a rest; `EMPTY` for a new one."""
    mask = np.uint64(slots.size - 1)
    slot = value & mask
    number = slots[slot]
    while number != EMPTY and (
        keys[np.uint64(number)] != key or (size > KEY_BYTES and rests[np.uint64(number)] != rest)
    ):
        slot = (slot + np.uint64(1)) & mask
        number = slots[slot]
    return int(number)


@compiled(allocates=False)
def number_of(
    size: int, key: np.uint64, rest: np.uint64, value: np.uint64, table: WordArrays
) -> int:
    """The number of a word, new or known; the bytes of a long one stand at the end of `letters`."""
    slots, keys, rests, offsets, letters, counts = table
    words = counts[0]
    begin = offsets[words]
    mask = np.uint64(slots.size - 1)
    slot = value & mask
    while slots[slot] != EMPTY:
        known = np.uint64(slots[slot])
        if keys[known] == key and rests[known] == rest:
            if size <= REST_END:
                return int(known)
            start = offsets[known]
            same, place = offsets[known + np.uint64(1)] - start == size, REST_END
            while same and place < size:
                same = letters[start + place] == letters[begin + place]
                place += 1
            if same:
                return int(known)
        slot = (slot + np.uint64(1)) & mask
    for place in range(min(size, KEY_BYTES)):
        letters[begin + place] = key >> np.uint64(8 * place) & np.uint64(0xFF)
    for place in range(KEY_BYTES, min(size, REST_END)):
        letters[begin + place] = rest >> np.uint64(8 * (place - KEY_BYTES)) & np.uint64(0xFF)
    slots[slot], keys[words], rests[words] = words, key, rest
    offsets[words + 1], counts[0] = begin + size, words + 1
    return int(words)


@compiled(allocates=False)
def number_last(size: int, table: WordArrays) -> int:
    """The number of the word whose bytes stand at the end of `letters`, new or known."""
    _, _, _, offsets, letters, counts = table
    begin = offsets[counts[0]]
    key, rest = _key(letters, begin, size)
    return int(number_of(size, key, rest, _hash(key, rest, letters, begin, size), table))


@compiled(allocates=False)
def insert_words(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: WordArrays,
    numbers: NDArray[np.int32],
) -> None:
    """Number whole words as they stand."""
    _, _, _, offsets, letters, counts = table
    position = 0
    for word in range(ends.size):
        begin = offsets[counts[0]]
        size = ends[word] - position
        for place in range(size):
            letters[begin + place] = data[position + place]
        numbers[word] = number_last(size, table)
        position = ends[word]


@compiled(allocates=False)
def fill_slots(
    slots: NDArray[np.int32],
    keys: NDArray[np.uint64],
    rests: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    words: int,
) -> None:
    """Enter the words into empty slots."""
    mask = np.uint64(slots.size - 1)
    for word in range(words):
        begin, size = offsets[word], offsets[word + 1] - offsets[word]
        slot = _hash(keys[word], rests[word], letters, begin, size) & mask
        while slots[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word
