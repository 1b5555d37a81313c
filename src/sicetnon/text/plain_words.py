"""The tokeniser in plain Python: what it has to do, and the way that suits small pieces of work.

A word is a run of letters and digits, case folded, without accents. An apostrophe inside a word is
dropped, so that `don't` is `dont` and `teacher's` stems like `teachers`. An ideograph is a word; a
letter of a script without spaces (Thai, Khmer) is one, with its vowel signs.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sicetnon.text.characters import (
    APOSTROPHE,
    IDEOGRAPH,
    LETTER,
    MARK,
    SCANNER_VERSION,
    SEPARATOR,
    SYLLABLE,
    character_class,
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


def _plain_bytes() -> bytes:
    """A table of bytes: ASCII folded, with blanks for what parts words; others as they are."""
    table = [byte if byte >= 0x80 or byte == ord("'") else ord(" ") for byte in range(256)]
    for letter in string.ascii_letters + string.digits:
        table[ord(letter)] = ord(letter.lower())
    return bytes(table)


_PLAIN_BYTES = _plain_bytes()


def plain_words(data: bytes, scanner: int = SCANNER_VERSION) -> list[str]:
    """The words of a text in UTF-8, in order, by a version of the tokeniser."""
    text = data.translate(_PLAIN_BYTES).decode("utf-8", "replace")
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


class PlainWords:
    """Distinct words, numbered from 0 in the order in which they were first met."""

    def __init__(self, scanner: int = SCANNER_VERSION) -> None:
        self._scanner = scanner
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def memory(self) -> int:
        """See `WordTable.memory`."""
        return _WORD_BYTES * len(self)

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See `WordTable.scan`."""
        whole, start = data.tobytes(), 0
        texts: list[list[str]] = []
        for end in ends.tolist():
            texts.append(plain_words(whole[start:end], self._scanner))
            start = end
        counts = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return self._number(list(chain.from_iterable(texts))), np.cumsum(counts)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """See `WordTable.insert`."""
        return self._number([word.decode("utf-8", "surrogateescape") for word in words])

    def words(self, first: int = 0) -> list[str]:
        """See `WordTable.words`."""
        return list(self._numbers)[first:]

    def encoded(self) -> list[bytes]:
        """All words as they were met."""
        return [word.encode("utf-8", "surrogateescape") for word in self._numbers]

    def compact(self) -> CompactWords:
        """See `WordTable.compact`."""
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
    for place in range(min(int(sizes.max(initial=0)), _HASHED_TOGETHER)):
        rows = np.flatnonzero(sizes > place)
        values[rows] = (values[rows] ^ letters[offsets[rows] + place]) * np.uint64(HASH_PRIME)
    values ^= values >> np.uint64(32)
    for row in np.flatnonzero(sizes > _HASHED_TOGETHER).tolist():
        values[row] = hash_word(letters[offsets[row] : offsets[row + 1]].tobytes())
    return values
