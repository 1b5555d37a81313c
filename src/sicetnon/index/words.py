"""Word tables on disk: the terms of an index, and the ids of its documents."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.errors import BrokenIndexError
from sicetnon.index.storage import StoredFile, damaged, ends_fit, is_ordered, write_array
from sicetnon.text.words import WordTable, hash_word

_LINE_BREAK = ord("\n")
_PARTS = ("slots", "hashes", "offsets", "letters")


_MOST_PROBES = 1 << 20
"""No table needs nearly as many to find a word: its slots are damaged."""
# what the plain way takes, in seconds per word
_JOINING = 5e-7


def _plainly_joined(
    numbers: NDArray[np.int64], offsets: NDArray[np.int64], letters: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """The same as `_join`."""
    if numbers.min(initial=0) < 0 or numbers.max(initial=-1) >= offsets.size - 1:
        return np.empty(0, dtype=np.uint8)
    begins, ends = offsets[numbers], offsets[numbers + 1]
    if (begins < 0).any() or (begins > ends).any() or (ends > letters.size).any():
        return np.empty(0, dtype=np.uint8)
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    words = [letters[begin:end].tobytes() + b"\n" for begin, end in pairs]
    return np.frombuffer(b"".join(words), dtype=np.uint8)


@compiled(plain=_plainly_joined, seconds=lambda numbers, *_: _JOINING * numbers.size)
def _join(
    numbers: NDArray[np.int64], offsets: NDArray[np.int64], letters: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Words one after the other, a line break behind each; nothing where an offset is damaged."""
    size = numbers.size
    begins, ends = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    # all offsets first: they are far from one another, and so many can be on their way at a time
    for place in range(numbers.size):
        number = numbers[place]
        if not 0 <= number < offsets.size - 1:
            return np.empty(0, dtype=np.uint8)
        begin, end = offsets[number], offsets[number + 1]
        if not 0 <= begin <= end <= letters.size:
            return np.empty(0, dtype=np.uint8)
        begins[place], ends[place] = begin, end
        size += end - begin
    joined = np.empty(size, dtype=np.uint8)
    position = np.uint64(0)
    for place in range(numbers.size):
        for letter in range(np.uint64(begins[place]), np.uint64(ends[place])):
            joined[position] = letters[letter]
            position += np.uint64(1)
        joined[position] = _LINE_BREAK
        position += np.uint64(1)
    return joined


class StoredWords:
    """A `WordTable` on disk: words by number and numbers by word, without loading either.

    Attributes:
        hashes: The hash of each word, uint64; those of different words differ, but for chance.

    Raises:
        BrokenIndexError: Its arrays do not fit together; its methods raise it, too.
    """

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]], prefix: str):
        self._path = folder / prefix
        self._slots, self.hashes = arrays[f"{prefix}_slots"], arrays[f"{prefix}_hashes"]
        self._offsets, self._array = arrays[f"{prefix}_offsets"], arrays[f"{prefix}_letters"]
        self._letters = self._array.data
        if not ends_fit(self._offsets, len(self._array)):
            raise self._damaged("offsets", "they do not fit the letters")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def number(self, word: str) -> int | None:
        """The number of a word, or None."""
        data = word.encode("utf-8", "replace")
        value = hash_word(data)
        mask = len(self._slots) - 1
        slot = value & mask
        for _ in range(min(len(self._slots), _MOST_PROBES)):
            number = int(self._slots[slot])
            if number < 0:
                return None
            if number >= len(self):
                raise self._damaged("slots", f"found word {number:,} of {len(self):,}")
            if int(self.hashes[number]) == value and self._bytes(number) == data:
                return number
            slot = (slot + 1) & mask
        raise self._damaged("slots", "found no empty one")

    def word(self, number: int) -> str:
        """The word of a number."""
        word = self._decoded(self._bytes(number))
        if word.split() != [word]:
            raise self._damaged("letters", f"found the word {word[:80]!r}")
        return word

    def separable_words(self, numbers: NDArray[np.int64]) -> list[str]:
        """The words of many numbers at once, if none of them holds white space, as ids do."""
        if not len(numbers):
            return []
        words = self._decoded(_join(numbers, self._offsets, self._array).tobytes()).split()
        if len(words) != len(numbers):
            raise self._damaged("offsets", f"found {len(words)} words, expected {len(numbers)}")
        return words

    def words(self) -> list[bytes]:
        """All words, by number."""
        if not is_ordered(self._offsets, len(self._array)):
            raise self._damaged("offsets", "they are not in order")
        ends = self._offsets.tolist()
        data = bytes(self._letters)
        self._decoded(data)
        begins = self._offsets[self._offsets < len(data)]
        if (self._array[begins] & 0xC0 == 0x80).any():
            raise self._damaged("offsets", "found one inside of a character")
        return [data[begin:end] for begin, end in pairwise(ends)]

    def _bytes(self, number: int) -> bytes:
        begin, end = self._offsets[number : number + 2].tolist()
        if not 0 <= begin <= end <= len(self._array):
            raise self._damaged("offsets", f"found letters from {begin:,} to {end:,}")
        return bytes(self._letters[begin:end])

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._damaged("letters", str(error)) from None

    def _damaged(self, part: str, problem: str) -> BrokenIndexError:
        return damaged(self._path.with_name(f"{self._path.name}_{part}"), problem)


def write_words(folder: Path, prefix: str, words: WordTable) -> dict[str, StoredFile]:
    """Write a word table's arrays, cut to what they hold."""
    arrays: tuple[NDArray[Any], ...] = words.compact()
    return {
        f"{prefix}_{part}": write_array(folder / f"{prefix}_{part}", array)
        for part, array in zip(_PARTS, arrays, strict=True)
    }
