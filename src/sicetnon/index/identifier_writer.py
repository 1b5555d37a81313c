"""Number the ids of documents while an index is written.

The letters of ids go to disk at once. A document leaves in memory the hash of its id, the size of
the id, and a slot of a hash table: some 20 bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index.offsets import smallest_type, write_sizes
from sicetnon.index.storage import ArrayWriter, StoredFile
from sicetnon.index.words import hash_all, write_hashes
from sicetnon.text.words import EMPTY, join

_PREFIX = "ids"
_FIRST_ROOM, _GROWTH = 1 << 10, 1.125
# what the plain way takes, in seconds per id
_PLACING = 1e-6


def _insert_plainly(
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    new: NDArray[np.uint64],
    begin: int,
    number: int,
    slot: int,
) -> tuple[int, int]:
    """Number new hashes and put the numbers into slots, up to a hash that has a number already.

    Args:
        slots: The numbers by hash, -1 where a slot is empty; a power of two of them; changed.
        hashes: The hashes by number; changed.
        new: The new hashes.
        begin: The place of the first of them.
        number: The number that it gets.
        slot: The slot where to begin for the first; -1 for the one that its hash tells.

    Returns:
        The place of the hash that has a number already, and the slot of that number; the number of
        new hashes and -1 if none has.
    """
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
    plain=_insert_plainly,
    seconds=lambda _, __, new, begin, *___: _PLACING * (new.size - begin),
    allocates=False,
)(_insert_plainly)


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
        """Number new hashes; the places of those whose id has a number already.

        Args:
            new: The hashes.
            numbers: Their numbers; written.
            is_same: Whether the id at a place is the one of a number, which has the same hash.
        """
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
            # ids with one hash were told apart when they came
            number, slot = _insert_hashes(self._slots, known, known, number, number, slot)
            slot = (slot + 1) % len(self._slots)


def _slots_for(count: int) -> int:
    """The number of slots for so many ids."""
    return 1 << (3 * count // 2).bit_length()
