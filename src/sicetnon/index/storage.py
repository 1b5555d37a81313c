"""Arrays on disk: written in pieces with a checksum, read by memory-mapping."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, counted
from sicetnon.formats.files import checksum

CHECKED_AT_OPENING = 1 << 20


class StoredFile(msgspec.Struct, frozen=True):
    """The manifest's entry for a file.

    Attributes:
        size: Bytes.
        crc32: Checksum of all of them.
        dtype: numpy's name of the element type, for an array.
        shape: The shape, for an array.
    """

    size: int
    crc32: int
    dtype: str = ""
    shape: tuple[int, ...] = ()


class ArrayWriter:
    """Writes an array to a file piece by piece, flushing it to the disk at the end.

    Args:
        path: The file.
        dtype: The type of the elements.
        row: The shape of a row; a number where it is left out.
    """

    def __init__(self, path: Path, dtype: Any, row: tuple[int, ...] = ()):
        self._file = path.open("wb")
        self._dtype, self._row = np.dtype(dtype), row
        self._rows = self._size = self._crc = 0

    def append(self, piece: NDArray[Any]) -> None:
        """Append rows of the array."""
        data = np.ascontiguousarray(piece, dtype=self._dtype)
        if data.size:
            view = data.reshape(-1).view(np.uint8)
            self._file.write(view.data)
            self._crc = zlib.crc32(view.data, self._crc)
        self._rows += len(data)
        self._size += data.nbytes

    def close(self) -> StoredFile:
        """Flush the file to the disk, close and describe it."""
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        return StoredFile(self._size, self._crc, self._dtype.name, (self._rows, *self._row))

    def abandon(self) -> None:
        """Close the file, which may be unfinished."""
        self._file.close()


def write_array(path: Path, array: NDArray[Any]) -> StoredFile:
    """Write a whole array."""
    writer = ArrayWriter(path, array.dtype, array.shape[1:])
    try:
        writer.append(array)
        return writer.close()
    finally:
        writer.abandon()


class MappedArray:
    """An array file opened for reading. `array` is a view of the mapped file."""

    def __init__(self, path: Path, stored: StoredFile):
        check_size(path, stored)
        self._map: mmap.mmap | None = None
        data: Any = b""
        if stored.size:
            with path.open("rb") as file:
                data = self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            # the checksum of a small file costs nothing; large ones wait for `index verify`
            if stored.size <= CHECKED_AT_OPENING and zlib.crc32(data) != stored.crc32:
                raise BrokenIndexError(f"{path}: the checksum does not fit; {REBUILD}")
        self.array: NDArray[Any] = np.frombuffer(data, dtype=stored.dtype).reshape(stored.shape)

    def release(self) -> None:
        """Let the system take back the memory of what was read; it is read again when needed."""
        if self._map is not None and hasattr(self._map, "madvise"):  # Windows lacks it
            self._map.madvise(mmap.MADV_DONTNEED)


def check_size(path: Path, stored: StoredFile) -> None:
    """Refuse a file that is missing or of another size than its manifest says.

    Raises:
        BrokenIndexError: It is.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BrokenIndexError(f"{path}: cannot be read: {error.strerror}; {REBUILD}") from None
    if size != stored.size:
        raise BrokenIndexError(
            f"{path}: found {counted(size, 'byte')}, expected {stored.size:,}: the file is cut "
            f"short or belongs to another index; {REBUILD}"
        )


def verify_files(files: Mapping[Path, StoredFile]) -> None:
    """Read files and compare their checksums.

    Raises:
        BrokenIndexError: Some file is not what was written; all such files are named.
    """
    damaged = []
    for path, stored in files.items():
        check_size(path, stored)
        if checksum(path) != stored.crc32:
            damaged.append(str(path))
    if damaged:
        raise BrokenIndexError(f"{', '.join(damaged)}: the checksum does not fit; {REBUILD}")


REBUILD = "build an index with: sicetnon index build SOURCE -o DIR"


def stored_file(path: Path) -> StoredFile:
    """Describe a file that another library wrote, and flush it to the disk."""
    with path.open("rb+") as file:  # Windows flushes no file that is open for reading alone
        os.fsync(file.fileno())
    return StoredFile(path.stat().st_size, checksum(path))
