"""The compiled tokeniser, and the table in which it numbers distinct words.

`plain_words` says what it has to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.jit import compiled, inlined
from sicetnon.text.characters import (
    APOSTROPHE,
    IDEOGRAPH,
    IGNORED,
    LETTER,
    MARK,
    MAX_FOLDED_BYTES,
    OTHER,
    SCANNER_VERSION,
    SEPARATOR,
    SYLLABLE,
    CharacterTable,
    plain_letters,
    table_for,
)
from sicetnon.text.plain_words import MAX_WORD_BYTES, CompactWords
from sicetnon.text.word_arrays import (
    EMPTY,
    KEY_BITS,
    KEY_BYTES,
    REST_END,
    WordArrays,
    fill_slots,
    insert_words,
    known_number,
    mixed,
    number_last,
    number_of,
)

_KEY_MASK = (np.uint64(1) << KEY_BITS) - np.uint64(1)
# 8 bytes that are each the same
_ONES = np.uint64(0x0101010101010101)
_HIGH, _CASE = _ONES * np.uint64(0x80), _ONES * np.uint64(0x20)
_TO_A, _PAST_Z = _ONES * np.uint64(0x80 - ord("a")), _ONES * np.uint64(0x7F - ord("z"))
_TO_0, _PAST_9 = _ONES * np.uint64(0x80 - ord("0")), _ONES * np.uint64(0x7F - ord("9"))


@compiled(allocates=False)
def _begin_of_word(chunks: NDArray[np.uint64], position: int, end: int) -> tuple[int, np.uint64]:
    """The ASCII letters and digits with which 8 bytes of a text begin, looked at all at once.

    Returns:
        Their number, and they themselves in lower case.
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
    size = (before & _ONES) * _ONES >> KEY_BITS
    return int(size), lower & before


@compiled(allocates=False)
def _fits(
    size: int,
    table: WordArrays,
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


@inlined(allocates=False)
def _scan_short(
    data: NDArray[np.uint8],
    chunks: NDArray[np.uint64],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    table: WordArrays,
    words: NDArray[np.int32],
    written: int,
) -> tuple[int, int]:
    """Number words of ASCII letters and digits as long as they are short.

    Returns:
        Where another word begins, and how many words are written then.
    """
    slots, keys, rests, _, _, _ = table
    while position < end:
        size, key = _begin_of_word(chunks, position, end)
        rest = np.uint64(0)
        if size > KEY_BYTES:
            more, rest = _begin_of_word(chunks, position + size, end)
            rest = rest << np.uint64(8) | key >> KEY_BITS
            size += more
        if size > REST_END or (position + size < end and plain[data[position + size]] != SEPARATOR):
            break
        if size:
            key = key & _KEY_MASK | np.uint64(size) << KEY_BITS
            value = mixed(np.uint64(0), key)
            if size > KEY_BYTES:
                value = mixed(value, rest)
            number = known_number(size, key, rest, value, slots, keys, rests)
            if number == EMPTY:
                number = number_of(size, key, rest, value, table)
            words[written] = number
            written += 1
        position += size + 1
    return position, written


@inlined(allocates=False)
def _in_word(kind: int, size: int, syllable: bool) -> tuple[int, bool, bool]:
    """What a character does to the word before it, of some size, which may be a syllable.

    Returns:
        Its class there, whether the word ends before it, and whether the word is a syllable then.
    """
    if kind == MARK:
        return (LETTER if size else IGNORED), False, syllable
    if kind == SYLLABLE and size == 0:
        return LETTER, False, True
    return kind, kind != IGNORED and (syllable or kind == SYLLABLE), syllable


@inlined(allocates=False)
def _append_folded(
    point: int,
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    characters: CharacterTable,
    letters: NDArray[np.uint8],
    place: int,
) -> int:
    """Append the folded form of a letter, which is `data` from `begin` to `end`; its bytes."""
    classes, offsets, folded, _ = characters
    if point >= classes.size:
        for source in range(begin, end):
            letters[place + source - begin] = data[source]
        return end - begin
    first, last = offsets[point], offsets[point + 1]
    for source in range(first, last):
        letters[place + source - first] = folded[source]
    return int(last - first)


@inlined(allocates=False)
def _scan_word(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    plain: NDArray[np.uint8],
    characters: CharacterTable,
    table: WordArrays,
    words: NDArray[np.int32],
    written: int,
) -> tuple[int, int]:
    """Number a word of any size and script, with what ends it.

    Returns:
        Where the next word may begin, and how many words are written then.
    """
    size, apostrophe, syllable = 0, False, False
    classes, _, _, planes = characters
    _, _, _, offsets, letters, counts = table
    begin, ended = offsets[counts[0]], False
    while not ended and position <= end:
        start, kind = position, OTHER
        if not syllable:
            position, kind = _take_plain(data, start, end, plain, letters, begin + size)
            size += position - start
            apostrophe = apostrophe and position == start
        # a separator is imagined after the text, to end its last word
        point, start = 0, position
        if kind == SEPARATOR:
            position += 1
        else:
            point, position = _decode(data, position, end)
            kind = int(classes[point]) if point < classes.size else int(planes[point >> 16])
        kind, is_after, syllable = _in_word(kind, size, syllable)
        if kind == IGNORED or (kind == APOSTROPHE and size and not apostrophe and not is_after):
            apostrophe = apostrophe or kind == APOSTROPHE
            continue
        apostrophe, ended = False, is_after or kind != LETTER
        if ended and 0 < size <= MAX_WORD_BYTES:
            words[written] = number_last(size, table)
            written += 1
        if is_after:
            # what ends the word is read anew
            return start, written
        if kind == IDEOGRAPH:
            begin, size = offsets[counts[0]], 0
        if kind in (LETTER, IDEOGRAPH):
            size += _append_folded(point, data, start, position, characters, letters, begin + size)
        if kind == IDEOGRAPH:
            words[written] = number_last(size, table)
            written += 1
    return position, written


@compiled(allocates=False)
def _scan(
    chunks: NDArray[np.uint64],
    ends: NDArray[np.int64],
    first: int,
    plain: NDArray[np.uint8],
    characters: CharacterTable,
    table: WordArrays,
    words: NDArray[np.int32],
    word_ends: NDArray[np.int64],
) -> int:
    """Number the words of the texts from `first` on; stops at a text that may not find room.

    Returns the text to go on with: `ends.size` when all are done.
    """
    written, data = word_ends[first - 1] if first else 0, chunks.view(np.uint8)
    for text in range(first, ends.size):
        position, end = ends[text - 1] if text else 0, ends[text]
        if not _fits(end - position, table):
            return text
        while position < end:
            position, written = _scan_short(
                data, chunks, position, end, plain, table, words, written
            )
            if position < end:
                position, written = _scan_word(
                    data, position, end, plain, characters, table, words, written
                )
        word_ends[text] = written
    return ends.size


def join(texts: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts as one array of bytes, and where each ends in it."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    return np.frombuffer(b"".join(texts), dtype=np.uint8), ends


class CompiledWords:
    """Distinct words, numbered from 0 in the order in which they were first met.

    A hash table with open addressing whose arrays compiled code fills, and which are written to
    disk as they are.
    """

    def __init__(self, scanner: int = SCANNER_VERSION) -> None:
        self._scanner = scanner
        self._table = WordArrays(
            np.full(1 << 10, EMPTY, dtype=np.int32),
            np.zeros(1 << 9, dtype=np.uint64),
            np.zeros(1 << 9, dtype=np.uint64),
            np.zeros((1 << 9) + 1, dtype=np.int64),
            np.zeros(1 << 13, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
        )
        # of a scan; new ones each time would be pages that the system has to clear
        self._chunks, self._words = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return int(self._table.counts[0])

    @property
    def memory(self) -> int:
        """See `WordTable.memory`; the system gives memory for what is written alone."""
        slots, keys, rests, offsets, _, _ = self._table
        each = keys.itemsize + rests.itemsize + offsets.itemsize
        return slots.nbytes + each * len(self) + int(offsets[len(self)])

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See `WordTable.scan`."""
        characters, plain = table_for(data, self._scanner), plain_letters()
        if self._words.size < data.size + 1:
            self._chunks = np.empty(data.size // 8 + 2, dtype=np.uint64)
            self._words = np.empty(data.size + 1, dtype=np.int32)
        chunks, words = self._chunks[: data.size // 8 + 2], self._words
        chunks[-2:] = 0
        chunks.view(np.uint8)[: data.size] = data
        word_ends = np.zeros(ends.size, dtype=np.int64)
        done = 0
        while True:
            done = _scan(chunks, ends, done, plain, characters, self._table, words, word_ends)
            if done == ends.size:
                return words[: word_ends[-1] if done else 0].copy(), word_ends
            size = int(ends[done] - (ends[done - 1] if done else 0))
            self._make_room(size, size * MAX_FOLDED_BYTES)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """See `WordTable.insert`."""
        numbers = np.empty(len(words), dtype=np.int32)
        if len(words):
            data, ends = join(words)
            self._make_room(len(words), int(ends[-1]))
            insert_words(data, ends, self._table, numbers)
        return numbers

    def words(self, first: int = 0) -> list[str]:
        """See `WordTable.words`."""
        offsets = self._table.offsets[first : len(self) + 1]
        data = self._table.letters[offsets[0] : offsets[-1]].tobytes()
        ends = (offsets - offsets[0]).tolist()
        return [data[begin:end].decode("utf-8") for begin, end in pairwise(ends)]

    def compact(self) -> CompactWords:
        """See `WordTable.compact`."""
        words, (_, _, _, offsets, letters, _) = len(self), self._table
        return offsets[: words + 1], letters[: offsets[words]]

    def _make_room(self, more_words: int, more_letters: int) -> None:
        """Make room for more words and their UTF-8 (see `_fits` for those of a text)."""
        words = len(self) + more_words + 1
        slots, keys, rests, offsets, letters, counts = self._table
        if keys.size < words:
            capacity = max(words, 2 * keys.size)
            keys, rests = _grown(keys, capacity), _grown(rests, capacity)
            offsets = _grown(offsets, capacity + 1)
        needed = int(offsets[len(self)]) + more_letters
        if letters.size < needed:
            letters = _grown(letters, max(needed, 2 * letters.size))
        if slots.size < 2 * words:
            slots = np.full(1 << (2 * words - 1).bit_length(), EMPTY, dtype=np.int32)
            fill_slots(slots, keys, rests, offsets, letters, len(self))
        self._table = WordArrays(slots, keys, rests, offsets, letters, counts)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, dtype=array.dtype)
    larger[: array.size] = array
    return larger
