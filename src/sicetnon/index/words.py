"""Word tables on disk: the terms of an index, and the ids of its documents."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled, prefetch
from sicetnon.errors import BrokenIndexError
from sicetnon.index.offsets import GROUP_BITS, StoredOffsets, write_offsets
from sicetnon.index.storage import ArrayWriter, StoredFile, damaged, write_array
from sicetnon.text.words import HASH_PRIME, HASH_START, WordTable, hash_word, hash_words, join

_LINE_BREAK = ord("\n")
_BUCKET_WORDS = 16
"""A bucket of a word table holds about so many words: their marks are looked through at a time."""
_WORDS_PER_SORT, _HASHES_PER_SCAN = 1 << 20, 1 << 18
"""Words that are ordered at a time, and hashes that are looked through at a time."""
# what the plain way takes, in seconds per word
_JOINING, _HASHING = 5e-7, 1e-6
_HASH_START, _HASH_PRIME = np.uint64(HASH_START), np.uint64(HASH_PRIME)


def buckets_of(words: int) -> int:
    """The number of buckets of a table of so many words, a power of two."""
    return 1 << max(words // _BUCKET_WORDS, 1).bit_length() - 1


def _bucket(value: Any, buckets: int) -> Any:
    """The bucket of a hash, or those of many."""
    return value >> 32 & buckets - 1


def _plainly_joined(
    numbers: NDArray[np.int64],
    bases: NDArray[np.int64],
    steps: NDArray[Any],
    letters: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """The same as `_join`."""
    if numbers.min(initial=0) < 0 or numbers.max(initial=-1) >= steps.size - 1:
        return np.empty(0, dtype=np.uint8)
    begins, ends = (
        bases[each >> GROUP_BITS] + steps[each].astype(np.int64) for each in (numbers, numbers + 1)
    )
    if (begins < 0).any() or (begins > ends).any() or (ends > letters.size).any():
        return np.empty(0, dtype=np.uint8)
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    words = [letters[begin:end].tobytes() + b"\n" for begin, end in pairs]
    return np.frombuffer(b"".join(words), dtype=np.uint8)


@compiled(plain=_plainly_joined, seconds=lambda numbers, *_: _JOINING * numbers.size)
def _join(
    numbers: NDArray[np.int64],
    bases: NDArray[np.int64],
    steps: NDArray[Any],
    letters: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Words, each with a line break behind it; empty if an offset is damaged.

    Args:
        numbers: The numbers of the words.
        bases: See `StoredOffsets`.
        steps: Likewise.
        letters: The letters of all words.
    """
    size = numbers.size
    begins, ends = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    # all offsets first: they are far from one another, and so many can be on their way at a time
    for place in range(numbers.size):
        number = numbers[place]
        if not 0 <= number < steps.size - 1:
            return np.empty(0, dtype=np.uint8)
        begin = bases[number >> GROUP_BITS] + np.int64(steps[number])
        end = bases[(number + 1) >> GROUP_BITS] + np.int64(steps[number + 1])
        if not 0 <= begin <= end <= letters.size:
            return np.empty(0, dtype=np.uint8)
        begins[place], ends[place] = begin, end
        prefetch(letters, np.uint64(begin))
        prefetch(letters, np.uint64(end))  # a word may lie in two cache lines
        size += end - begin
    joined = np.empty(size, dtype=np.uint8)
    position = np.uint64(0)
    for place in range(numbers.size):
        start, length = np.uint64(begins[place]), np.uint64(ends[place] - begins[place])
        for letter in range(length):
            joined[position + letter] = letters[start + letter]
        position += length
        joined[position] = _LINE_BREAK
        position += np.uint64(1)
    return joined


@compiled(plain=hash_words, seconds=lambda *given: _HASHING * given[0].size)
def hash_all(offsets: NDArray[np.int64], letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hash of each word; the offsets are in order, and none is behind the letters."""
    hashes = np.empty(offsets.size - 1, np.uint64)
    for word in range(hashes.size):
        value = _HASH_START
        for place in range(offsets[word], offsets[word + 1]):
            value = (value ^ np.uint64(letters[place])) * _HASH_PRIME
        hashes[word] = value ^ (value >> np.uint64(32))
    return hashes


class StoredWords:
    """A `WordTable` on disk: words by number and numbers by word, without loading either.

    Words with the same bits of a hash are in one bucket. For each word of a bucket there are a
    mark, of 8 other bits of its hash, and its number.

    Raises:
        BrokenIndexError: Its arrays do not fit together; its methods raise it, too.
    """

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]], prefix: str):
        self._path = folder / prefix
        self._numbers, self._marks = arrays[f"{prefix}_numbers"], arrays[f"{prefix}_marks"]
        self._buckets = arrays[f"{prefix}_buckets"]
        self._offsets = StoredOffsets(folder, arrays, f"{prefix}_offsets")
        self._array = arrays[f"{prefix}_letters"]
        self._letters = self._array.data
        if self._offsets.end != len(self._array):
            raise self._offsets.wrong("they do not fit the letters")

    def __len__(self) -> int:
        return len(self._offsets)

    def number(self, word: str) -> int | None:
        """The number of a word, or None."""
        data = word.encode("utf-8", "replace")
        return self._number(data, hash_word(data))

    def numbers(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of words, -1 for those that are not there, shape as `words`."""
        encoded = [word.encode("utf-8", "replace") for word in words]
        letters, ends = join(encoded)
        hashes = hash_all(np.append(0, ends), letters).tolist()
        found = map(self._number, encoded, hashes)
        return np.array([-1 if number is None else number for number in found], np.int64)

    def _number(self, data: bytes, value: int) -> int | None:
        bucket = _bucket(value, len(self._buckets) - 1)
        begin, end = self._buckets[bucket : bucket + 2].tolist()
        if not 0 <= begin <= end <= len(self):
            raise self._damaged("buckets", f"found words from {begin:,} to {end:,}")
        marks, place = self._marks[begin:end].tobytes(), -1
        while (place := marks.find(value & 0xFF, place + 1)) >= 0:
            number = int(self._numbers[begin + place])
            if not 0 <= number < len(self):
                raise self._damaged("numbers", f"found word {number:,} of {len(self):,}")
            if self._bytes(number) == data:
                return number
        return None

    def hashes(self) -> NDArray[np.uint64]:
        """The hash of each word; those of different words differ, but for chance."""
        return hash_all(self._ordered(), self._array)

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
        offsets = self._offsets
        joined = _join(numbers, offsets.bases, offsets.steps, self._array)
        words = self._decoded(joined.tobytes()).split()
        if len(words) != len(numbers):
            raise self._damaged("offsets", f"found {len(words)} words, expected {len(numbers)}")
        return words

    def words(self) -> list[bytes]:
        """All words, by number."""
        offsets = self._ordered()
        data = bytes(self._letters)
        self._decoded(data)
        if (self._array[offsets[offsets < len(data)]] & 0xC0 == 0x80).any():
            raise self._offsets.wrong("found one inside of a character")
        return [data[begin:end] for begin, end in pairwise(offsets.tolist())]

    def _ordered(self) -> NDArray[np.int64]:
        # the first is 0 and the last the number of letters, as was seen when they were opened
        return self._offsets.every()

    def _bytes(self, number: int) -> bytes:
        begin, end = self._offsets.between(number)
        return bytes(self._letters[begin:end])

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._damaged("letters", str(error)) from None

    def _damaged(self, part: str, problem: str) -> BrokenIndexError:
        return damaged(self._path.with_name(f"{self._path.name}_{part}"), problem)


def write_words(folder: Path, prefix: str, words: WordTable) -> dict[str, StoredFile]:
    """Write a word table."""
    offsets, letters = words.compact()
    files = write_offsets(folder, f"{prefix}_offsets", offsets)
    name = f"{prefix}_letters"
    files[name] = write_array(folder / name, letters)
    return files | write_hashes(folder, prefix, hash_all(offsets, letters))


def write_hashes(
    folder: Path, prefix: str, hashes: NDArray[np.uint64], at_a_time: int = _WORDS_PER_SORT
) -> dict[str, StoredFile]:
    """Write the buckets of a word table.

    Args:
        folder: The folder for the files.
        prefix: The name of the table.
        hashes: The hash of each word.
        at_a_time: About how many words are ordered at a time, which takes 45 bytes for each.
    """
    buckets = buckets_of(len(hashes))
    parts = min(1 << (len(hashes) // at_a_time).bit_length(), buckets)
    types = {"numbers": np.int32, "marks": np.uint8, "buckets": np.int32}
    with ExitStack() as opened:
        writers = {
            part: opened.enter_context(ArrayWriter(folder / f"{prefix}_{part}", kind))
            for part, kind in types.items()
        }
        before = 0
        writers["buckets"].append(np.zeros(1, np.int32))
        for first in range(0, buckets, buckets // parts):
            found = _in_buckets(hashes, buckets, first, first + buckets // parts)
            counts = np.bincount(found.buckets, minlength=buckets // parts)
            order = np.argsort(found.buckets, kind="stable")
            writers["numbers"].append(found.numbers[order])
            writers["marks"].append(found.marks[order])
            writers["buckets"].append(before + np.cumsum(counts))
            before += len(order)
        return {f"{prefix}_{part}": writer.close() for part, writer in writers.items()}


class _Found(NamedTuple):
    """Words in a range of buckets, rising: numbers, buckets from the first on, and marks."""

    numbers: NDArray[np.int32]
    buckets: NDArray[np.int32]
    marks: NDArray[np.uint8]


def _in_buckets(hashes: NDArray[np.uint64], buckets: int, first: int, end: int) -> _Found:
    """The words in a range of buckets."""
    pieces = []
    for begin in range(0, max(len(hashes), 1), _HASHES_PER_SCAN):
        some = hashes[begin : begin + _HASHES_PER_SCAN]
        bucket_of = _bucket(some, buckets).astype(np.int32) - np.int32(first)
        # those before the first are large numbers, then
        places = np.flatnonzero(bucket_of.view(np.uint32) < end - first)
        numbers, marks = (begin + places).astype(np.int32), some[places].astype(np.uint8)
        pieces.append(_Found(numbers, bucket_of[places], marks))
    return _Found(*map(np.concatenate, zip(*pieces, strict=True)))
