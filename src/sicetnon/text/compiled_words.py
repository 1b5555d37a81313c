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
    OTHER,
    SEPARATOR,
    CharacterTable,
    plain_letters,
    table_for,
)
from sicetnon.text.plain_words import MAX_WORD_BYTES, CompactWords

EMPTY = -1
"""A slot without a word."""

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_KEY_BYTES, _KEY_BITS = 7, np.uint64(56)
# 8 bytes that are each the same
_ONES = np.uint64(0x0101010101010101)
_HIGH, _CASE = _ONES * np.uint64(0x80), _ONES * np.uint64(0x20)
_TO_A, _PAST_Z = _ONES * np.uint64(0x80 - ord("a")), _ONES * np.uint64(0x7F - ord("z"))
_TO_0, _PAST_9 = _ONES * np.uint64(0x80 - ord("0")), _ONES * np.uint64(0x7F - ord("9"))


class _Table(NamedTuple):
    """The arrays of a table of words, some with room to spare; `counts` holds the one number.

    A key is the first 7 bytes of a word with its size above them (255 at most).
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    letters: NDArray[np.uint8]
    counts: NDArray[np.int64]


@compiled(allocates=False)
def _mixed(value: np.uint64, chunk: np.uint64) -> np.uint64:
    """A hash with 8 bytes more."""
    value = (value ^ chunk) * _PRIME
    return value ^ (value >> np.uint64(32))


@compiled(allocates=False)
def _key(letters: NDArray[np.uint8], begin: int, size: int) -> tuple[np.uint64, np.uint64]:
    """The key and the hash of a word."""
    key = np.uint64(min(size, 255)) << _KEY_BITS
    for place in range(min(size, _KEY_BYTES)):
        key |= np.uint64(letters[begin + place]) << np.uint64(8 * place)
    value, chunk = _mixed(np.uint64(0), key), np.uint64(0)
    for place in range(_KEY_BYTES, size):
        chunk = chunk << np.uint64(8) | np.uint64(letters[begin + place])
        if place & 7 == 7:
            value = _mixed(value, chunk)
    return key, _mixed(value, chunk) if size > _KEY_BYTES else value


@compiled(allocates=False)
def _known(
    key: np.uint64, value: np.uint64, slots: NDArray[np.int32], keys: NDArray[np.uint64]
) -> int:
    """The number of a short word; `EMPTY` for a new one."""
    mask = np.uint64(slots.size - 1)
    slot = value & mask
    number = slots[slot]
    while number != EMPTY and keys[np.uint64(number)] != key:
        slot = (slot + np.uint64(1)) & mask
        number = slots[slot]
    return int(number)


@compiled(allocates=False)
def _number(
    size: int, key: np.uint64, value: np.uint64, slots: NDArray[np.int32],
    keys: NDArray[np.uint64], offsets: NDArray[np.int64], letters: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> int:  # fmt: skip
    """The number of a word, new or known; the bytes of a long one stand at the end of `letters`."""
    words = counts[0]
    begin = offsets[words]
    mask = np.uint64(slots.size - 1)
    slot = value & mask
    while slots[slot] != EMPTY:
        known = np.uint64(slots[slot])
        if keys[known] == key:
            if size <= _KEY_BYTES:
                return int(known)
            start = offsets[known]
            same, place = offsets[known + np.uint64(1)] - start == size, _KEY_BYTES
            while same and place < size:
                same = letters[start + place] == letters[begin + place]
                place += 1
            if same:
                return int(known)
        slot = (slot + np.uint64(1)) & mask
    for place in range(min(size, _KEY_BYTES)):
        letters[begin + place] = key >> np.uint64(8 * place) & np.uint64(0xFF)
    slots[slot], keys[words], offsets[words + 1], counts[0] = words, key, begin + size, words + 1
    return int(words)


@compiled(allocates=False)
def _begin_of_word(chunks: NDArray[np.uint64], position: int, end: int) -> tuple[int, np.uint64]:
    """The ASCII letters and digits with which 8 bytes of a text begin, looked at all at once.

    Returns:
        Their number, and the key of a word that ends behind them, if they are not all 8.
    """
    place, shift = np.uint64(position >> 3), np.uint64((position & 7) << 3)
    found = chunks[place] >> shift
    found |= chunks[place + np.uint64(1)] << np.uint64(1) << (np.uint64(63) - shift)
    if position + 8 > end:
        found &= (np.uint64(1) << np.uint64((end - position) << 3)) - np.uint64(1)
    low, lower = found & ~_HIGH, (found | _CASE) & ~_HIGH
    # the highest bit of each byte tells of it
    inside = (lower + _TO_A & ~(lower + _PAST_Z)) | (low + _TO_0 & ~(low + _PAST_9))
    stop = (~inside | found) & _HIGH
    before = ((stop & (~stop + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)
    size = (before & _ONES) * _ONES >> _KEY_BITS
    return int(size), lower & before | size << _KEY_BITS


@compiled(allocates=False)
def _number_end(
    size: int, slots: NDArray[np.int32], keys: NDArray[np.uint64], offsets: NDArray[np.int64],
    letters: NDArray[np.uint8], counts: NDArray[np.int64],
) -> int:  # fmt: skip
    """The number of the word whose bytes stand at the end of `letters`, new or known."""
    key, value = _key(letters, offsets[counts[0]], size)
    return int(_number(size, key, value, slots, keys, offsets, letters, counts))


@compiled(allocates=False)
def _fits(
    size: int,
    table: _Table,
) -> bool:
    """Whether the buffers certainly hold the words of a text of `size` bytes."""
    words = table.counts[0] + size + 1
    room = table.letters.size - table.offsets[table.counts[0]]
    is_enough = words * 2 <= table.slots.size and words <= table.keys.size
    return bool(is_enough and room >= size * MAX_FOLDED_BYTES)


@compiled(allocates=False)
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


@compiled(allocates=False)
def _take_plain(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    letters: NDArray[np.uint8],
    place: int,
) -> tuple[int, int]:
    """Copy a run of ASCII letters and digits, one byte each.

    Most text is that, and nothing of it has to be decoded.

    Returns:
        Where the run ends in `data`, and the class of what follows it.
    """
    while position < end:
        letter = plain[data[np.uint64(position)]]
        if letter <= OTHER:
            return position, int(letter)
        letters[np.uint64(place)] = letter
        place += 1
        position += 1
    return position, SEPARATOR


@compiled(allocates=False)
def _scan_text(  # noqa: C901 - one state machine
    data: NDArray[np.uint8],
    chunks: NDArray[np.uint64],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    characters: CharacterTable,
    table: _Table,
    words: NDArray[np.int32],
    written: int,
) -> int:
    """Number the words of one text, for which there is room; how many are written then."""
    size, apostrophe = 0, False
    classes, fold_offsets, folded = characters
    slots, keys, offsets, letters, counts = table
    begin = offsets[counts[0]]
    while position <= end:
        if not size and position < end:
            short, key = _begin_of_word(chunks, position, end)
            if short <= _KEY_BYTES and (
                position + short == end or plain[data[position + short]] == SEPARATOR
            ):
                if short:
                    value = _mixed(np.uint64(0), key)
                    number = _known(key, value, slots, keys)
                    if number == EMPTY:
                        number = _number(short, key, value, slots, keys, offsets, letters, counts)
                        begin = offsets[counts[0]]
                    words[written] = number
                    written += 1
                position += short + 1
                continue
        start = position
        position, kind = _take_plain(data, start, end, plain, letters, begin + size)
        size += position - start
        apostrophe = apostrophe and position == start
        # a separator is imagined behind the text, to end its last word
        point = 0
        if kind == SEPARATOR:
            position += 1
        else:
            point, position = _decode(data, position, end)
            kind = int(classes[point]) if point < classes.size else SEPARATOR
        if kind == IGNORED or (kind == APOSTROPHE and size and not apostrophe):
            apostrophe = apostrophe or kind == APOSTROPHE
            continue
        apostrophe = False
        inside = kind == LETTER
        if size and not inside:
            if size <= MAX_WORD_BYTES:
                words[written] = _number_end(size, slots, keys, offsets, letters, counts)
                written += 1
            size, begin = 0, offsets[counts[0]]
        if inside or kind == IDEOGRAPH:
            for place in range(fold_offsets[point], fold_offsets[point + 1]):
                letters[begin + size] = folded[place]
                size += 1
        if kind == IDEOGRAPH:
            words[written] = _number_end(size, slots, keys, offsets, letters, counts)
            written += 1
            size, begin = 0, offsets[counts[0]]
    return written


@compiled(allocates=False)
def _scan(
    chunks: NDArray[np.uint64],
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
    written, data = word_ends[first - 1] if first else 0, chunks.view(np.uint8)
    for text in range(first, ends.size):
        begin = ends[text - 1] if text else 0
        if not _fits(ends[text] - begin, table):
            return text
        written = _scan_text(
            data, chunks, begin, ends[text], plain, characters, table, words, written
        )
        word_ends[text] = written
    return ends.size


@compiled(allocates=False)
def _insert(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: _Table,
    numbers: NDArray[np.int32],
) -> None:
    """Number whole words as they stand."""
    slots, keys, offsets, letters, counts = table
    position = 0
    for word in range(ends.size):
        begin = offsets[counts[0]]
        size = ends[word] - position
        for place in range(size):
            letters[begin + place] = data[position + place]
        numbers[word] = _number_end(size, slots, keys, offsets, letters, counts)
        position = ends[word]


@compiled(allocates=False)
def _fill_slots(
    slots: NDArray[np.int32], offsets: NDArray[np.int64], letters: NDArray[np.uint8], words: int
) -> None:
    mask = np.uint64(slots.size - 1)
    for word in range(words):
        _, value = _key(letters, offsets[word], offsets[word + 1] - offsets[word])
        slot = value & mask
        while slots[slot] != EMPTY:
            slot = (slot + np.uint64(1)) & mask
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
        chunks = np.zeros(data.size // 8 + 2, dtype=np.uint64)
        chunks.view(np.uint8)[: data.size] = data
        words = np.empty(data.size + 1, dtype=np.int32)
        word_ends = np.zeros(ends.size, dtype=np.int64)
        done = 0
        while True:
            done = _scan(chunks, ends, done, plain, characters, self._table, words, word_ends)
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
        words, (_, _, offsets, letters, _) = len(self), self._table
        return offsets[: words + 1], letters[: offsets[words]]

    def _make_room(self, more_words: int, more_letters: int) -> None:
        """Make room for more words and their UTF-8 (see `_fits` for those of a text)."""
        words = len(self) + more_words + 1
        slots, keys, offsets, letters, counts = self._table
        if keys.size < words:
            capacity = max(words, 2 * keys.size)
            keys, offsets = _grown(keys, capacity), _grown(offsets, capacity + 1)
        needed = int(offsets[len(self)]) + more_letters
        if letters.size < needed:
            letters = _grown(letters, max(needed, 2 * letters.size))
        if slots.size < 2 * words:
            slots = np.full(1 << (2 * words - 1).bit_length(), EMPTY, dtype=np.int32)
            _fill_slots(slots, offsets, letters, len(self))
        self._table = _Table(slots, keys, offsets, letters, counts)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: array.size] = array
    return larger
