"""Word tables on disk: the terms of an index, and the ids of its documents."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.storage import StoredFile, write_array
from sicetnon.text.words import WordTable, hash_word

_LINE_BREAK = ord("\n")
_PARTS = ("slots", "hashes", "offsets", "letters")


@compiled
def _join(
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    letters: NDArray[np.uint8],
    joined: NDArray[np.uint8],
) -> None:
    """Copy words one after the other, a line break behind each."""
    position = 0
    for number in numbers:
        for place in range(offsets[number], offsets[number + 1]):
            joined[position] = letters[place]
            position += 1
        joined[position] = _LINE_BREAK
        position += 1


class StoredWords:
    """A `WordTable` on disk: words by number and numbers by word, without loading either."""

    def __init__(self, arrays: dict[str, NDArray[Any]], prefix: str):
        self._slots, self._hashes = arrays[f"{prefix}_slots"], arrays[f"{prefix}_hashes"]
        self._offsets, self._array = arrays[f"{prefix}_offsets"], arrays[f"{prefix}_letters"]
        self._letters = self._array.data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def number(self, word: str) -> int | None:
        """The number of a word, or None."""
        data = word.encode("utf-8", "replace")
        value = hash_word(data)
        mask = len(self._slots) - 1
        slot = value & mask
        while (number := int(self._slots[slot])) >= 0:
            if int(self._hashes[number]) == value and self._bytes(number) == data:
                return number
            slot = (slot + 1) & mask
        return None

    def word(self, number: int) -> str:
        """The word of a number."""
        return self._bytes(number).decode("utf-8")

    def separable_words(self, numbers: NDArray[np.int64]) -> list[str]:
        """The words of many numbers at once, if none of them holds white space, as ids do."""
        if not len(numbers):
            return []
        sizes = self._offsets[numbers + 1] - self._offsets[numbers] + 1
        joined = np.empty(int(sizes.sum()), dtype=np.uint8)
        _join(numbers, self._offsets, self._array, joined)
        return joined.tobytes().decode("utf-8").split()

    def words(self) -> list[bytes]:
        """All words, by number."""
        ends = self._offsets.tolist()
        data = bytes(self._letters)
        return [data[begin:end] for begin, end in pairwise(ends)]

    def _bytes(self, number: int) -> bytes:
        return bytes(self._letters[self._offsets[number] : self._offsets[number + 1]])


def write_words(folder: Path, prefix: str, words: WordTable) -> dict[str, StoredFile]:
    """Write a word table's arrays, cut to what they hold."""
    arrays: tuple[NDArray[Any], ...] = words.compact()
    return {
        f"{prefix}_{part}": write_array(folder / f"{prefix}_{part}", array)
        for part, array in zip(_PARTS, arrays, strict=True)
    }
