"""Offsets on disk: where each of many things begins in a file, in a few bytes each.

The offset of the first of every 32 things is stored whole, and those of the others as steps from
there, in the smallest type that holds them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.storage import ArrayWriter, StoredFile, damaged

GROUP_BITS = 5
_PIECE = 1 << 18
"""Offsets that are computed at a time: whole groups."""
STEP_TYPES = ("uint8", "uint16", "uint32", "int64")
"""The types that steps can have."""


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
    return _write(folder, name, lambda: [offsets])


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

    return _write(folder, name, pieces)


def _write(
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

    Raises:
        BrokenIndexError: The first is not 0.
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
        """The beginning and the end of a thing.

        Raises:
            BrokenIndexError: There can be no such places.
        """
        begin, end = self._at(number), self._at(number + 1)
        if not 0 <= begin <= end <= self.end:
            raise self.wrong(f"found places from {begin:,} to {end:,}")
        return begin, end

    def of(self, numbers: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The beginnings and the ends of some things; they are compared with nothing."""
        return self._all_at(numbers), self._all_at(numbers + 1)

    def every(self) -> NDArray[np.int64]:
        """All offsets.

        Raises:
            BrokenIndexError: They are not in order.
        """
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
