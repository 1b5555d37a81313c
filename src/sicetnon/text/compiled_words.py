"""The compiled tokeniser, and the table in which it numbers distinct words.

`plain_words` says what it has to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

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


@compiled
def _number(
    size: int,
    value: np.uint64,
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> int:
    """The number of the word whose bytes stand at the end of `letters`, new or known."""
    value ^= value >> np.uint64(32)
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
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> bool:
    """Whether the words of a text of `size` bytes are sure to find room."""
    words = counts[0] + size + 1
    room = letters.size - offsets[counts[0]]
    return bool(
        words * 2 <= slots.size and words <= hashes.size and room >= size * MAX_FOLDED_BYTES
    )


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
    classes: NDArray[np.uint8],
    fold_offsets: NDArray[np.int32],
    folded: NDArray[np.uint8],
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
    words: NDArray[np.int32],
    written: int,
) -> int:
    """Number the words of one text, for which there is room; how many are written then."""
    size, value, apostrophe = 0, _HASH_START, False
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
                words[written] = _number(size, value, slots, hashes, offsets, letters, counts)
                written += 1
            size, value, begin = 0, _HASH_START, offsets[counts[0]]
        if inside or kind == IDEOGRAPH:
            for place in range(fold_offsets[point], fold_offsets[point + 1]):
                letters[begin + size] = folded[place]
                value = (value ^ np.uint64(folded[place])) * _HASH_PRIME
                size += 1
        if kind == IDEOGRAPH:
            words[written] = _number(size, value, slots, hashes, offsets, letters, counts)
            written += 1
            size, value, begin = 0, _HASH_START, offsets[counts[0]]
    return written


@compiled
def _scan(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    plain: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    fold_offsets: NDArray[np.int32],
    folded: NDArray[np.uint8],
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
    words: NDArray[np.int32],
    word_ends: NDArray[np.int64],
) -> int:
    """Number the words of the texts from `first` on; stops at a text that may not find room.

    Returns the text to go on with: `ends.size` when all are done.
    """
    written = word_ends[first - 1] if first else 0
    for text in range(first, ends.size):
        begin = ends[text - 1] if text else 0
        if not _fits(ends[text] - begin, slots, hashes, offsets, letters, counts):
            return text
        written = _scan_text(
            data, begin, ends[text], plain, classes, fold_offsets, folded,
            slots, hashes, offsets, letters, counts, words, written,
        )  # fmt: skip
        word_ends[text] = written
    return ends.size


@compiled
def _insert(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
    numbers: NDArray[np.int32],
) -> None:
    """Number whole words as they stand."""
    position = 0
    for word in range(ends.size):
        begin, value = offsets[counts[0]], _HASH_START
        size = ends[word] - position
        for place in range(size):
            letters[begin + place] = data[position + place]
            value = (value ^ np.uint64(data[position + place])) * _HASH_PRIME
        numbers[word] = _number(size, value, slots, hashes, offsets, letters, counts)
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
        self._slots = np.full(1 << 10, EMPTY, dtype=np.int32)
        self._hashes = np.zeros(1 << 9, dtype=np.uint64)
        self._offsets = np.zeros((1 << 9) + 1, dtype=np.int64)
        self._letters = np.zeros(1 << 13, dtype=np.uint8)
        self._counts = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._counts[0])

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See `WordTable.scan`."""
        table, plain = table_for(data), plain_letters()
        words = np.empty(data.size + 1, dtype=np.int32)
        word_ends = np.zeros(ends.size, dtype=np.int64)
        done = 0
        while True:
            done = _scan(
                data, ends, done, plain, table.classes, table.offsets, table.folded,
                *self._arrays(), words, word_ends,
            )  # fmt: skip
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
            _insert(data, ends, *self._arrays(), numbers)
        return numbers

    def words(self, first: int = 0) -> list[str]:
        """See `WordTable.words`."""
        offsets = self._offsets[first : len(self) + 1]
        data = self._letters[offsets[0] : offsets[-1]].tobytes()
        ends = (offsets - offsets[0]).tolist()
        return [data[begin:end].decode("utf-8") for begin, end in pairwise(ends)]

    def compact(self) -> CompactWords:
        """See `WordTable.compact`."""
        words = len(self)
        slots = np.full(1 << max(2 * words, 1).bit_length(), EMPTY, dtype=np.int32)
        _fill_slots(slots, self._hashes, words)
        letters = self._letters[: self._offsets[words]]
        return slots, self._hashes[:words], self._offsets[: words + 1], letters

    def _arrays(
        self,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.uint64],
        NDArray[np.int64],
        NDArray[np.uint8],
        NDArray[np.int64],
    ]:
        return self._slots, self._hashes, self._offsets, self._letters, self._counts

    def _make_room(self, more_words: int, more_letters: int) -> None:
        """Make room for more words and their UTF-8 (see `_fits` for those of a text)."""
        words = len(self) + more_words + 1
        if self._hashes.size < words:
            capacity = max(words, 2 * self._hashes.size)
            self._hashes = _grown(self._hashes, capacity)
            self._offsets = _grown(self._offsets, capacity + 1)
        needed = int(self._offsets[len(self)]) + more_letters
        if self._letters.size < needed:
            self._letters = _grown(self._letters, max(needed, 2 * self._letters.size))
        if self._slots.size < 2 * words:
            slots = 1 << (2 * words - 1).bit_length()
            self._slots = np.full(slots, EMPTY, dtype=np.int32)
            _fill_slots(self._slots, self._hashes, len(self))


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: array.size] = array
    return larger
