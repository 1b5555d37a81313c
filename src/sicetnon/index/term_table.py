"""Term tables on disk: the terms of an index, and the ids of its documents, by number and back.

The letters of all words stand in one file. An offset tells where a word begins: the offset of the
first of every 32 words is stored in full, and those of the others as steps from there, in the
smallest type that holds them all. Words are looked up by hash, in buckets.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.array_files import ArrayWriter, StoredFile, damaged, write_array
from sicetnon.jit import compiled, prefetch
from sicetnon.text.words import (
    EMPTY,
    HASH_PRIME,
    HASH_START,
    WordTable,
    hash_word,
    hash_words,
    join,
)

GROUP_BITS = 5
_PIECE = 1 << 18
"""Offsets that are computed at a time: whole groups."""
STEP_TYPES = ("uint8", "uint16", "uint32", "int64")
"""The types that steps can have."""


_LINE_BREAK = ord("\n")
_BUCKET_WORDS = 16
"""A bucket of a word table holds about so many words: their marks are looked through at a time."""
_WORDS_PER_SORT, _HASHES_PER_SCAN = 1 << 20, 1 << 18
"""Words that are ordered at a time, and hashes that are looked through at a time."""
# what the plain way takes, in seconds per word
_JOINING_SECONDS, _HASHING_SECONDS = 5e-7, 1e-6
_HASH_START, _HASH_PRIME = np.uint64(HASH_START), np.uint64(HASH_PRIME)


_PREFIX = "ids"
_FIRST_ROOM, _GROWTH = 1 << 10, 1.125
# what the plain way takes, in seconds per id
_INSERTING_SECONDS = 1e-6


def bases_name(name: str) -> str:
    """The name of the file with the offsets that are stored whole."""
    return f"{name}_bases"


def groups_of(things: int) -> int:
    """The number of offsets that are stored whole for so many things, and their end."""
    return (things >> GROUP_BITS) + 1


def smallest_type(most: int) -> str:
    """The smallest type of `STEP_TYPES` for numbers from 0."""
    return next(name for name in STEP_TYPES if most <= np.iinfo(name).max)


def write_offsets(folder: Path, name: str, offsets: NDArray[np.int64]) -> dict[str, StoredFile]:
    """Write offsets.

    Args:
        folder: The folder for the files.
        name: The name of the file with the steps.
        offsets: The beginning of each thing, rising, and the end of the last one.
    """
    return _write_pieces(folder, name, lambda: [offsets])


def write_sizes(folder: Path, name: str, sizes: NDArray[Any]) -> dict[str, StoredFile]:
    """Write the offsets of things that follow one another.

    Args:
        folder: The folder for the files.
        name: The name of the file with the steps.
        sizes: The size of each thing.
    """

    def pieces() -> Iterator[NDArray[np.int64]]:
        before = 0
        for first in range(0, len(sizes) + 1, _PIECE):
            ends = before + np.cumsum(sizes[first : first + _PIECE], dtype=np.int64)
            yield np.append(before, ends)[: min(_PIECE, len(sizes) + 1 - first)]
            before = int(ends[-1]) if len(ends) else before

    return _write_pieces(folder, name, pieces)


def _write_pieces(
    folder: Path, name: str, pieces: Callable[[], Iterable[NDArray[np.int64]]]
) -> dict[str, StoredFile]:
    """Write offsets that come in pieces of whole groups.

    `pieces` is called twice: for the largest step, then to write.
    """
    most = max(int(_steps(piece).max(initial=0)) for piece in pieces())
    with (
        ArrayWriter(folder / bases_name(name), np.int64) as bases,
        ArrayWriter(folder / name, smallest_type(most)) as steps,
    ):
        for piece in pieces():
            bases.append(piece[:: 1 << GROUP_BITS])
            steps.append(_steps(piece))
        return {name: steps.close(), bases_name(name): bases.close()}


def _steps(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    bases = offsets[:: 1 << GROUP_BITS]
    steps: NDArray[np.int64] = offsets - np.repeat(bases, 1 << GROUP_BITS)[: len(offsets)]
    return steps


class StoredOffsets:
    """Offsets that `write_offsets` or `write_sizes` wrote.

    Attributes:
        steps: The steps, shape (things + 1,).
        bases: The offsets that are stored whole, int64.
        end: The end of the last thing.

    Args:
        folder: The folder of the files.
        arrays: Their arrays.
        name: The name of the file with the steps.
    """

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]], name: str):
        self._path = folder / name
        self.steps, self.bases = arrays[name], arrays[bases_name(name)]
        self.end = self._at(len(self))
        if self._at(0) != 0:
            raise damaged(self._path, "the first is not 0")

    def __len__(self) -> int:
        return len(self.steps) - 1

    def between(self, number: int) -> tuple[int, int]:
        """The beginning and the end of a thing."""
        begin, end = self._at(number), self._at(number + 1)
        if not 0 <= begin <= end <= self.end:
            raise self.wrong(f"found places from {begin:,} to {end:,}")
        return begin, end

    def of(self, numbers: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The beginnings and the ends of some things; they are compared with nothing."""
        return self._all_at(numbers), self._all_at(numbers + 1)

    def every(self) -> NDArray[np.int64]:
        """All offsets."""
        found = self._all_at(np.arange(len(self.steps)))
        # they may be others than when the file was opened
        if found[0] != 0 or found[-1] != self.end or (found[1:] < found[:-1]).any():
            raise self.wrong("they are not in order")
        return found

    def wrong(self, what: str) -> BrokenIndexError:
        """The error for offsets that cannot be."""
        return damaged(self._path, what)

    def _at(self, number: int) -> int:
        # as whole numbers of Python, which no damage makes overflow
        return int(self.bases[number >> GROUP_BITS]) + int(self.steps[number])

    def _all_at(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.bases[numbers >> GROUP_BITS] + self.steps[numbers].astype(
            np.int64
        )
        return found


def buckets_of(words: int) -> int:
    """The number of buckets of a table of so many words, a power of two."""
    return 1 << max(words // _BUCKET_WORDS, 1).bit_length() - 1


def _bucket(value: Any, buckets: int) -> Any:
    """The bucket of a hash, or those of many."""
    return value >> 32 & buckets - 1


def _numpy_join(
    numbers: NDArray[np.int64],
    bases: NDArray[np.int64],
    steps: NDArray[Any],
    letters: NDArray[np.uint8],
) -> NDArray[np.uint8]:
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


@compiled(numpy=_numpy_join, seconds=lambda numbers, *_: _JOINING_SECONDS * numbers.size)
def _join(
    numbers: NDArray[np.int64],
    bases: NDArray[np.int64],
    steps: NDArray[Any],
    letters: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Words, each followed by a line break; empty if an offset is damaged."""
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


@compiled(numpy=hash_words, seconds=lambda *given: _HASHING_SECONDS * given[0].size)
def hash_all(offsets: NDArray[np.int64], letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hash of each word; the offsets are in order and within the letters."""
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
        """The numbers of words, -1 for unknown ones, shape as `words`."""
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


class _BucketWords(NamedTuple):
    """Words in a range of buckets, rising: numbers, buckets from the first on, and marks."""

    numbers: NDArray[np.int32]
    buckets: NDArray[np.int32]
    marks: NDArray[np.uint8]


def _in_buckets(hashes: NDArray[np.uint64], buckets: int, first: int, end: int) -> _BucketWords:
    """The words in a range of buckets."""
    pieces = []
    for begin in range(0, max(len(hashes), 1), _HASHES_PER_SCAN):
        some = hashes[begin : begin + _HASHES_PER_SCAN]
        bucket_of = _bucket(some, buckets).astype(np.int32) - np.int32(first)
        # those before the first are large numbers, then
        places = np.flatnonzero(bucket_of.view(np.uint32) < end - first)
        numbers, marks = (begin + places).astype(np.int32), some[places].astype(np.uint8)
        pieces.append(_BucketWords(numbers, bucket_of[places], marks))
    return _BucketWords(*map(np.concatenate, zip(*pieces, strict=True)))


def _insert_hashes_in_python(
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    new: NDArray[np.uint64],
    begin: int,
    number: int,
    slot: int,
) -> tuple[int, int]:
    """Number new hashes and put the numbers into slots, up to a hash that has a number already."""
    mask = slots.size - 1
    for place in range(begin, new.size):
        value = new[place]
        at = np.int64(value & np.uint64(mask)) if slot < 0 else np.int64(slot)
        while slots[at] != EMPTY:
            if hashes[slots[at]] == value:
                return place, int(at)
            at = (at + 1) & mask
        hashes[number], slots[at] = value, number
        number, slot = number + 1, -1
    return new.size, -1


_insert_hashes = compiled(
    numpy=_insert_hashes_in_python,
    seconds=lambda _, __, new, begin, *___: _INSERTING_SECONDS * (new.size - begin),
    allocates=False,
)(_insert_hashes_in_python)


class IdentifierWriter:
    """Writes the ids of documents as a word table. Its files count when the folder is renamed.

    Args:
        folder: The folder for the files.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._letters = ArrayWriter(folder / f"{_PREFIX}_letters", np.uint8)
        self._slots = np.full(_FIRST_ROOM, EMPTY, np.int32)
        self._hashes = np.zeros(_FIRST_ROOM, np.uint64)
        # of each batch: the sizes of its ids, its first number, and where its letters begin
        self._sizes = list[NDArray[Any]]()
        self._firsts, self._begins = list[int](), list[int]()
        self._count = self._letter_count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def memory(self) -> int:
        """Bytes of memory that the ids take, with those of slots that are needed soon."""
        soon = int(_GROWTH * self._count)
        slots = max(self._slots.nbytes, self._slots.itemsize * _slots_for(soon))
        return slots + self._hashes.nbytes + self._count

    def insert(self, identifiers: Sequence[bytes]) -> NDArray[np.int32]:
        """Number ids in the order of their first occurrence; a known id keeps its number.

        Args:
            identifiers: The ids.

        Returns:
            Their numbers, shape as `identifiers`.
        """
        first, numbers = self._count, np.empty(len(identifiers), np.int32)
        if not len(identifiers):
            return numbers
        letters, ends = join(identifiers)
        self._make_room(self._count + len(identifiers))

        def is_same(place: int, number: int) -> bool:
            if number < first:
                return self._read(number) == identifiers[place]
            return identifiers[int(np.argmax(numbers[:place] == number))] == identifiers[place]

        repeated = self._number_hashes(hash_all(np.append(0, ends), letters), numbers, is_same)
        if repeated:
            kept = [each for place, each in enumerate(identifiers) if place not in repeated]
            letters, ends = join(kept)
        self._append(first, letters, np.diff(ends, prepend=0))
        return numbers

    def close(self) -> dict[str, StoredFile]:
        """Write the rest, and describe the files. No id can be inserted afterwards."""
        self._slots, hashes = np.empty(0, np.int32), self._hashes[: self._count]
        self._hashes = np.empty(0, np.uint64)
        sizes = np.concatenate([np.empty(0, np.uint8), *self._sizes])
        self._sizes.clear()
        files = {f"{_PREFIX}_letters": self._letters.close()}
        files |= write_sizes(self._folder, f"{_PREFIX}_offsets", sizes)
        return files | write_hashes(self._folder, _PREFIX, hashes)

    def abandon(self) -> None:
        """Close the file, which may be unfinished."""
        self._letters.abandon()

    def _number_hashes(
        self,
        new: NDArray[np.uint64],
        numbers: NDArray[np.int32],
        is_same: Callable[[int, int], bool],
    ) -> set[int]:
        """Number new hashes; the places of those whose id has a number already."""
        begin, slot, repeated = 0, -1, set[int]()
        while begin < len(new):
            place, slot = _insert_hashes(self._slots, self._hashes, new, begin, self._count, slot)
            numbered = self._count + place - begin
            numbers[begin:place] = np.arange(self._count, numbered)
            self._count, begin = numbered, place
            if begin == len(new):
                break
            number = int(self._slots[slot])
            if is_same(begin, number):
                numbers[begin] = number
                repeated.add(begin)
                begin, slot = begin + 1, -1
            else:  # another id with the same hash
                slot = (slot + 1) % len(self._slots)
        return repeated

    def _read(self, number: int) -> bytes:
        """The id of a number, from an earlier batch."""
        batch = bisect_right(self._firsts, number) - 1
        sizes, place = self._sizes[batch], number - self._firsts[batch]
        begin = self._begins[batch] + int(sizes[:place].sum(dtype=np.int64))
        return self._letters.read(begin, int(sizes[place])).tobytes()

    def _append(self, first: int, letters: NDArray[np.uint8], sizes: NDArray[np.int64]) -> None:
        self._letters.append(letters)
        self._sizes.append(sizes.astype(smallest_type(int(sizes.max(initial=0)))))
        self._firsts.append(first)
        self._begins.append(self._letter_count)
        self._letter_count += len(letters)

    def _make_room(self, count: int) -> None:
        if count > len(self._hashes):
            room = max(count, int(_GROWTH * len(self._hashes)))
            # in place, where the system can: a copy would take as much memory again
            self._hashes.resize(room, refcheck=False)
        if 3 * count <= 2 * len(self._slots):
            return
        # free the old table before the new one is allocated
        self._slots = np.empty(0, np.int32)
        self._slots = np.full(_slots_for(count), EMPTY, np.int32)
        known, number, slot = self._hashes[: self._count], 0, -1
        while number < len(known):
            # ids with one hash were compared when they came
            number, slot = _insert_hashes(self._slots, known, known, number, number, slot)
            slot = (slot + 1) % len(self._slots)


def _slots_for(count: int) -> int:
    """The number of slots for so many ids."""
    return 1 << (3 * count // 2).bit_length()
