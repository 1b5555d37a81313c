"""The compiled tokeniser, and the table in which it numbers distinct words.

`plain_words` says what it has to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.text.characters import (
    APOSTROPHE,
    IDEOGRAPH,
    IGNORED,
    LETTER,
    MAX_FOLDED_BYTES,
    SEPARATOR,
    CharacterTable,
    plain_letters,
    table_for,
)
from sicetnon.text.plain_words import (
    EMPTY,
    HASH_PRIME,
    HASH_START,
    MAX_WORD_BYTES,
    CompactWords,
)

_HASH_START, _HASH_PRIME = np.uint64(HASH_START), np.uint64(HASH_PRIME)


class _Table(NamedTuple):
    """The arrays of a table of words, some with room to spare; `counts` holds the one number."""

    slots: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    letters: NDArray[np.uint8]
    counts: NDArray[np.int64]


@compiled
def _number(
    size: int,
    value: np.uint64,
    table: _Table,
) -> int:
    """The number of the word whose bytes stand at the end of `letters`, new or known."""
    value ^= value >> np.uint64(32)
    slots, hashes, offsets, letters, counts = table
    mask = slots.size - 1
    slot = np.int64(value) & mask
    words = counts[0]
    begin = offsets[words]
    while slots[slot] != EMPTY:
        known = slots[slot]
        if hashes[known] == value and offsets[known + 1] - offsets[known] == size:
            same = True
            for place in range(size):
                if letters[offsets[known] + place] != letters[begin + place]:
                    same = False
                    break
            if same:
                return int(known)
        slot = (slot + 1) & mask
    slots[slot] = words
    hashes[words] = value
    offsets[words + 1] = begin + size
    counts[0] = words + 1
    return int(words)


@compiled
def _fits(
    size: int,
    table: _Table,
) -> bool:
    """Whether the words of a text of `size` bytes are sure to find room."""
    words = table.counts[0] + size + 1
    room = table.letters.size - table.offsets[table.counts[0]]
    is_enough = words * 2 <= table.slots.size and words <= table.hashes.size
    return bool(is_enough and room >= size * MAX_FOLDED_BYTES)


@compiled
def _decode(data: NDArray[np.uint8], position: int, end: int) -> tuple[int, int]:
    """The code point that begins at a position, and where the next begins; 0 at the end."""
    if position >= end:
        return 0, position + 1
    point = np.int64(data[position])
    follow = 0 if point < 0x80 else 1 if point < 0xE0 else 2 if point < 0xF0 else 3
    if follow:
        point &= 0x3F >> follow
    for _ in range(follow):
        position += 1
        if position < end:
            point = point << 6 | np.int64(data[position]) & 0x3F
    return int(point), position + 1


@compiled
def _take_plain(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    letters: NDArray[np.uint8],
    place: int,
    value: np.uint64,
) -> tuple[int, np.uint64]:
    """Copy a run of ASCII letters and digits, one byte each, and hash it.

    Most text is that, and nothing of it has to be decoded.

    Returns:
        Where the run ends in `data`, and the hash.
    """
    while position < end and data[position] < plain.size and plain[data[position]]:
        letter = plain[data[position]]
        letters[place] = letter
        value = (value ^ np.uint64(letter)) * _HASH_PRIME
        place += 1
        position += 1
    return position, value


@compiled
def _scan_text(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    characters: CharacterTable,
    table: _Table,
    words: NDArray[np.int32],
    written: int,
) -> int:
    """Number the words of one text, for which there is room; how many are written then."""
    size, value, apostrophe = 0, _HASH_START, False
    classes, fold_offsets, folded = characters
    _, _, offsets, letters, counts = table
    begin = offsets[counts[0]]
    while position <= end:
        start = position
        position, value = _take_plain(data, start, end, plain, letters, begin + size, value)
        size += position - start
        apostrophe = apostrophe and position == start
        # a separator is imagined behind the text, to end its last word
        point, position = _decode(data, position, end)
        kind = np.int64(classes[point]) if point < classes.size else SEPARATOR
        if kind == IGNORED or (kind == APOSTROPHE and size and not apostrophe):
            apostrophe = apostrophe or kind == APOSTROPHE
            continue
        apostrophe = False
        inside = kind == LETTER
        if size and not inside:
            if size <= MAX_WORD_BYTES:
                words[written] = _number(size, value, table)
                written += 1
            size, value, begin = 0, _HASH_START, offsets[counts[0]]
        if inside or kind == IDEOGRAPH:
            for place in range(fold_offsets[point], fold_offsets[point + 1]):
                letters[begin + size] = folded[place]
                value = (value ^ np.uint64(folded[place])) * _HASH_PRIME
                size += 1
        if kind == IDEOGRAPH:
            words[written] = _number(size, value, table)
            written += 1
            size, value, begin = 0, _HASH_START, offsets[counts[0]]
    return written


@compiled
def _scan(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    plain: NDArray[np.uint8],
    characters: CharacterTable,
    table: _Table,
    words: NDArray[np.int32],
    word_ends: NDArray[np.int64],
) -> int:
    """Number the words of the texts from `first` on; stops at a text that may not find room.

    Returns the text to go on with: `ends.size` when all are done.
    """
    written = word_ends[first - 1] if first else 0
    for text in range(first, ends.size):
        begin = ends[text - 1] if text else 0
        if not _fits(ends[text] - begin, table):
            return text
        written = _scan_text(data, begin, ends[text], plain, characters, table, words, written)
        word_ends[text] = written
    return ends.size


@compiled
def _insert(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: _Table,
    numbers: NDArray[np.int32],
) -> None:
    """Number whole words as they stand."""
    _, _, offsets, letters, counts = table
    position = 0
    for word in range(ends.size):
        begin, value = offsets[counts[0]], _HASH_START
        size = ends[word] - position
        for place in range(size):
            letters[begin + place] = data[position + place]
            value = (value ^ np.uint64(data[position + place])) * _HASH_PRIME
        numbers[word] = _number(size, value, table)
        position = ends[word]


@compiled
def _fill_slots(slots: NDArray[np.int32], hashes: NDArray[np.uint64], words: int) -> None:
    mask = slots.size - 1
    for word in range(words):
        slot = np.int64(hashes[word]) & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = word


def join(texts: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts as one array of bytes, and where each ends in it."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    return np.frombuffer(b"".join(texts), dtype=np.uint8), ends


class CompiledWords:
    """Distinct words, numbered from 0 in the order in which they were first met.

    A hash table with open addressing whose arrays compiled code fills, and which are written to
    disk as they are.
    """

    def __init__(self) -> None:
        self._table = _Table(
            np.full(1 << 10, EMPTY, dtype=np.int32),
            np.zeros(1 << 9, dtype=np.uint64),
            np.zeros((1 << 9) + 1, dtype=np.int64),
            np.zeros(1 << 13, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self._table.counts[0])

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See `WordTable.scan`."""
        characters, plain = table_for(data), plain_letters()
        words = np.empty(data.size + 1, dtype=np.int32)
        word_ends = np.zeros(ends.size, dtype=np.int64)
        done = 0
        while True:
            done = _scan(data, ends, done, plain, characters, self._table, words, word_ends)
            if done == ends.size:
                return words[: word_ends[-1] if done else 0], word_ends
            size = int(ends[done] - (ends[done - 1] if done else 0))
            self._make_room(size, size * MAX_FOLDED_BYTES)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """See `WordTable.insert`."""
        numbers = np.empty(len(words), dtype=np.int32)
        if len(words):
            data, ends = join(words)
            self._make_room(len(words), int(ends[-1]))
            _insert(data, ends, self._table, numbers)
        return numbers

    def words(self, first: int = 0) -> list[str]:
        """See `WordTable.words`."""
        offsets = self._table.offsets[first : len(self) + 1]
        data = self._table.letters[offsets[0] : offsets[-1]].tobytes()
        ends = (offsets - offsets[0]).tolist()
        return [data[begin:end].decode("utf-8") for begin, end in pairwise(ends)]

    def compact(self) -> CompactWords:
        """See `WordTable.compact`."""
        words, (_, hashes, offsets, letters, _) = len(self), self._table
        slots = _slots(1 << max(2 * words, 1).bit_length(), hashes, words)
        return slots, hashes[:words], offsets[: words + 1], letters[: offsets[words]]

    def _make_room(self, more_words: int, more_letters: int) -> None:
        """Make room for more words and their UTF-8 (see `_fits` for those of a text)."""
        words = len(self) + more_words + 1
        slots, hashes, offsets, letters, counts = self._table
        if hashes.size < words:
            capacity = max(words, 2 * hashes.size)
            hashes, offsets = _grown(hashes, capacity), _grown(offsets, capacity + 1)
        needed = int(offsets[len(self)]) + more_letters
        if letters.size < needed:
            letters = _grown(letters, max(needed, 2 * letters.size))
        if slots.size < 2 * words:
            slots = _slots(1 << (2 * words - 1).bit_length(), hashes, len(self))
        self._table = _Table(slots, hashes, offsets, letters, counts)


def _slots(size: int, hashes: NDArray[np.uint64], words: int) -> NDArray[np.int32]:
    """The slots of some words."""
    slots = np.full(size, EMPTY, dtype=np.int32)
    _fill_slots(slots, hashes, words)
    return slots


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: array.size] = array
    return larger
