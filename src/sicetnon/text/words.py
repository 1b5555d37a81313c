"""Texts to numbers of words: by a dictionary for little text, by compiled code for much of it.

A word is a run of letters and digits, case folded, without accents. An apostrophe inside a word is
dropped, so that `don't` is `dont` and `teacher's` stems like `teachers`. An ideograph is a word; a
letter of a script without spaces (Thai, Khmer) is one, with its vowel signs.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.jit import compiled, inlined, use_numpy
from sicetnon.text.unicode import (
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
    ascii_letters,
    character_class,
    table_for,
)

MAX_WORD_BYTES = 128
"""Longer runs are no words (encoded data, keyboard mashing) and are left out."""

# FNV-1a, 64 bits (Fowler, Noll and Vo): simple enough to be computed in Python at query time too
HASH_START = 0xCBF29CE484222325
HASH_PRIME = 0x100000001B3

CompactWords = tuple[NDArray[np.int64], NDArray[np.uint8]]
"""The offsets and letters of distinct words, without spare room."""

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_INSIDE_WORD = re.compile(r"(?<=[^ '])'(?=[^ '])")
# no text has these control characters once its ASCII is folded
_SYLLABLE_SIGN, _MARK_SIGN = "\x01", "\x02"
_SYLLABLE = re.compile(f"{_SYLLABLE_SIGN}(.(?:{_MARK_SIGN}.)*)")
_MARKS_ALONE = re.compile(f"(?<![^ ])(?:{_MARK_SIGN}.)+")
_LONGEST_CHARACTER = 4
# of a word of some letters and its number: two objects of Python and their place in a dictionary
_WORD_BYTES = 150
# longer words are hashed one by one
_HASHED_TOGETHER = 48


def _folded_bytes() -> bytes:
    """Translation table: ASCII in lower case, separators to spaces, other bytes unchanged."""
    table = [byte if byte >= 0x80 or byte == ord("'") else ord(" ") for byte in range(256)]
    for letter in string.ascii_letters + string.digits:
        table[ord(letter)] = ord(letter.lower())
    return bytes(table)


_FOLDED_BYTES = _folded_bytes()


def words_in(data: bytes, scanner: int = SCANNER_VERSION) -> list[str]:
    """The words of a text in UTF-8, in order, by a version of the tokeniser."""
    text = data.translate(_FOLDED_BYTES).decode("utf-8", "replace")
    has_signs = False
    if not text.isascii():
        folded = _folded_characters(scanner)
        text = _BEYOND_ASCII.sub(lambda run: "".join(map(folded.__getitem__, run.group())), text)
        has_signs = _SYLLABLE_SIGN in text or _MARK_SIGN in text
    if has_signs:
        text = _SYLLABLE.sub(r" \1 ", text)
    if "'" in text:
        text = _INSIDE_WORD.sub("", text).replace("'", " ")
    if has_signs:
        text = _MARKS_ALONE.sub("", text).replace(_MARK_SIGN, "")
    words = text.split()
    if max(map(len, words), default=0) > MAX_WORD_BYTES // _LONGEST_CHARACTER:
        words = [word for word in words if len(word.encode()) <= MAX_WORD_BYTES]
    return words


class _Folded(dict[str, str]):
    """Replacement of each character: its folded form, or a blank between words."""

    def __init__(self, scanner: int):
        self._scanner = scanner

    def __missing__(self, character: str) -> str:
        kind, folded = character_class(ord(character), self._scanner)
        if kind == IDEOGRAPH:
            folded = f" {folded} "
        elif kind == MARK:
            folded = "".join(_MARK_SIGN + mark for mark in folded)
        elif kind == SYLLABLE:
            folded = _SYLLABLE_SIGN + f"{_MARK_SIGN}".join(folded)
        elif kind != LETTER:
            folded = {APOSTROPHE: "'", SEPARATOR: " "}.get(kind, "")
        self[character] = folded
        return folded


_folded_characters = functools.cache(_Folded)


class DictWordTable:
    """Distinct words, numbered from 0 in the order in which they were first met."""

    def __init__(self, scanner: int = SCANNER_VERSION) -> None:
        self._scanner = scanner
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def memory(self) -> int:
        """Bytes of memory that the words take."""
        return _WORD_BYTES * len(self)

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokenise texts, numbering their words."""
        whole, start = data.tobytes(), 0
        texts: list[list[str]] = []
        for end in ends.tolist():
            texts.append(words_in(whole[start:end], self._scanner))
            start = end
        counts = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return self._number(list(chain.from_iterable(texts))), np.cumsum(counts)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """The numbers of words that are added."""
        return self._number([word.decode("utf-8", "surrogateescape") for word in words])

    def words(self, first: int = 0) -> list[str]:
        """The words from number `first` on."""
        return list(self._numbers)[first:]

    def encoded(self) -> list[bytes]:
        """All words as they were met."""
        return [word.encode("utf-8", "surrogateescape") for word in self._numbers]

    def compact(self) -> CompactWords:
        """Offsets and letters without spare room."""
        words = self.encoded()
        offsets = np.zeros(len(words) + 1, dtype=np.int64)
        offsets[1:] = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
        return offsets, np.frombuffer(b"".join(words), dtype=np.uint8)

    def _number(self, words: list[str]) -> NDArray[np.int32]:
        known = self._numbers
        for word in dict.fromkeys(words):
            known.setdefault(word, len(known))
        return np.fromiter(map(known.__getitem__, words), dtype=np.int32, count=len(words))


def hash_word(word: bytes) -> int:
    """The hash that a word has in the word tables of an index."""
    value = HASH_START
    for byte in word:
        value = ((value ^ byte) * HASH_PRIME) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 32)


def hash_words(offsets: NDArray[np.int64], letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hash of each word: the same letter of all words at a time."""
    sizes = np.diff(offsets)
    values = np.full(len(sizes), HASH_START, dtype=np.uint64)
    for index in range(min(int(sizes.max(initial=0)), _HASHED_TOGETHER)):
        rows = np.flatnonzero(sizes > index)
        values[rows] = (values[rows] ^ letters[offsets[rows] + index]) * np.uint64(HASH_PRIME)
    values ^= values >> np.uint64(32)
    for row in np.flatnonzero(sizes > _HASHED_TOGETHER).tolist():
        values[row] = hash_word(letters[offsets[row] : offsets[row + 1]].tobytes())
    return values


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
    for index in range(min(size, KEY_BYTES)):
        key |= np.uint64(letters[begin + index]) << np.uint64(8 * index)
    for index in range(KEY_BYTES, min(size, REST_END)):
        rest |= np.uint64(letters[begin + index]) << np.uint64(8 * (index - KEY_BYTES))
    return key, rest


@compiled(allocates=False)
def _hash(
    key: np.uint64, rest: np.uint64, letters: NDArray[np.uint8], begin: int, size: int
) -> np.uint64:
    """The hash of a word."""
    value, chunk = mixed(np.uint64(0), key), np.uint64(0)
    if size > KEY_BYTES:
        value = mixed(value, rest)
    for index in range(REST_END, size):
        chunk = chunk << np.uint64(8) | np.uint64(letters[begin + index])
        if index & 7 == 7:
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
            same, index = offsets[known + np.uint64(1)] - start == size, REST_END
            while same and index < size:
                same = letters[start + index] == letters[begin + index]
                index += 1
            if same:
                return int(known)
        slot = (slot + np.uint64(1)) & mask
    for index in range(min(size, KEY_BYTES)):
        letters[begin + index] = key >> np.uint64(8 * index) & np.uint64(0xFF)
    for index in range(KEY_BYTES, min(size, REST_END)):
        letters[begin + index] = rest >> np.uint64(8 * (index - KEY_BYTES)) & np.uint64(0xFF)
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
    """Number words that are not split."""
    _, _, _, offsets, letters, counts = table
    position = 0
    for word in range(ends.size):
        begin = offsets[counts[0]]
        size = ends[word] - position
        for index in range(size):
            letters[begin + index] = data[position + index]
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
    index, shift = np.uint64(position >> 3), np.uint64((position & 7) << 3)
    found = chunks[index] >> shift
    found |= chunks[index + np.uint64(1)] << np.uint64(1) << (np.uint64(63) - shift)
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
def _take_ascii(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    ascii_forms: NDArray[np.uint8],
    letters: NDArray[np.uint8],
    index: int,
) -> tuple[int, int]:
    """Copy a run of ASCII letters and digits, one byte each.

    Most text is that, and nothing of it has to be decoded.

    Returns:
        Where the run ends in `data`, and the class of what follows it.
    """
    while position < end:
        letter = ascii_forms[data[np.uint64(position)]]
        if letter <= OTHER:
            return position, int(letter)
        letters[np.uint64(index)] = letter
        index += 1
        position += 1
    return position, SEPARATOR


@inlined(allocates=False)
def _scan_short(
    data: NDArray[np.uint8],
    chunks: NDArray[np.uint64],
    position: int,
    end: int,
    ascii_forms: NDArray[np.uint8],
    table: WordArrays,
    words: NDArray[np.int32],
    written: int,
) -> tuple[int, int]:
    """Number words of ASCII letters and digits until a long one comes.

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
        if size > REST_END or (
            position + size < end and ascii_forms[data[position + size]] != SEPARATOR
        ):
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
    index: int,
) -> int:
    """Append the folded form of a letter, which is `data` from `begin` to `end`; its bytes."""
    classes, offsets, folded, _ = characters
    if point >= classes.size:
        for source in range(begin, end):
            letters[index + source - begin] = data[source]
        return end - begin
    first, last = offsets[point], offsets[point + 1]
    for source in range(first, last):
        letters[index + source - first] = folded[source]
    return int(last - first)


@inlined(allocates=False)
def _scan_word(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    ascii_forms: NDArray[np.uint8],
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
            position, kind = _take_ascii(data, start, end, ascii_forms, letters, begin + size)
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
    ascii_forms: NDArray[np.uint8],
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
                data, chunks, position, end, ascii_forms, table, words, written
            )
            if position < end:
                position, written = _scan_word(
                    data, position, end, ascii_forms, characters, table, words, written
                )
        word_ends[text] = written
    return ends.size


def join(texts: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts as one array of bytes, and where each ends in it."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    return np.frombuffer(b"".join(texts), dtype=np.uint8), ends


class CompiledWordTable:
    """Distinct words, numbered from 0 in the order in which they were first met.

    A hash table with open addressing; compiled code fills its arrays, which are also the form on
    disk.
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
        """Bytes of memory that the words take: the system gives it for what is written alone."""
        slots, keys, rests, offsets, _, _ = self._table
        each = keys.itemsize + rests.itemsize + offsets.itemsize
        return slots.nbytes + each * len(self) + int(offsets[len(self)])

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokenise texts, numbering their words."""
        characters, ascii_forms = table_for(data, self._scanner), ascii_letters()
        if self._words.size < data.size + 1:
            self._chunks = np.empty(data.size // 8 + 2, dtype=np.uint64)
            self._words = np.empty(data.size + 1, dtype=np.int32)
        chunks, words = self._chunks[: data.size // 8 + 2], self._words
        chunks[-2:] = 0
        chunks.view(np.uint8)[: data.size] = data
        word_ends = np.zeros(ends.size, dtype=np.int64)
        done = 0
        while True:
            done = _scan(chunks, ends, done, ascii_forms, characters, self._table, words, word_ends)
            if done == ends.size:
                return words[: word_ends[-1] if done else 0].copy(), word_ends
            size = int(ends[done] - (ends[done - 1] if done else 0))
            self._make_room(size, size * MAX_FOLDED_BYTES)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """The numbers of words that are added."""
        numbers = np.empty(len(words), dtype=np.int32)
        if len(words):
            data, ends = join(words)
            self._make_room(len(words), int(ends[-1]))
            insert_words(data, ends, self._table, numbers)
        return numbers

    def words(self, first: int = 0) -> list[str]:
        """The words from number `first` on."""
        offsets = self._table.offsets[first : len(self) + 1]
        data = self._table.letters[offsets[0] : offsets[-1]].tobytes()
        ends = (offsets - offsets[0]).tolist()
        return [data[begin:end].decode("utf-8") for begin, end in pairwise(ends)]

    def compact(self) -> CompactWords:
        """Offsets and letters without spare room."""
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


# what the dictionary takes here, in seconds per letter and per word
_SCANNING, _NUMBERING, _COMPACTING = 4e-8, 3e-7, 2e-6


class WordTable:
    """Distinct words, numbered from 0 in the order in which they were first met.

    It begins as `DictWordTable` and becomes `CompiledWordTable` when there is much to do: both give
    the same numbers and the same arrays.

    Args:
        scanner: The version of the tokeniser.
    """

    def __init__(self, scanner: int = SCANNER_VERSION) -> None:
        self._scanner = scanner
        self._table: DictWordTable | CompiledWordTable = DictWordTable(scanner)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def memory(self) -> int:
        """Bytes of memory that the words take."""
        return self._table.memory

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokenise texts, numbering their words.

        Args:
            data: The UTF-8 of all texts, one after the other.
            ends: The end of each text in it, shape (texts,).

        Returns:
            The numbers of all words in order, and where those of each text end, shape (texts,).
        """
        return self._for(_SCANNING * data.size).scan(data, ends)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """The numbers of words that are not split, new ones added."""
        return self._for(_NUMBERING * len(words)).insert(words)

    def words(self, first: int = 0) -> list[str]:
        """The words from number `first` on."""
        return self._table.words(first)

    def compact(self) -> CompactWords:
        """Offsets and letters without spare room, as they go to disk.

        Offsets, int64, tell where each word begins in the letters, uint8, which are UTF-8; there
        is one more than there are words.
        """
        return self._for(_COMPACTING * len(self)).compact()

    def _for(self, seconds: float) -> DictWordTable | CompiledWordTable:
        """The table for a piece of work that takes so long with the dictionary."""
        if isinstance(self._table, DictWordTable) and not use_numpy(seconds):
            compiled = CompiledWordTable(self._scanner)
            compiled.insert(self._table.encoded())
            self._table = compiled
        return self._table
