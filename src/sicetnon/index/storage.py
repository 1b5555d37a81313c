"""Arrays on disk: written in pieces with a checksum, read by memory-mapping."""

from __future__ import annotations

import math
import mmap
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError

CHECK_BYTES = 1 << 22
CHECKED_AT_OPENING = 1 << 20


class StoredFile(msgspec.Struct, frozen=True):
    """What a manifest says of a file.

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
        begun: What is good of the file already; it is gone on with behind that.

    Attributes:
        rows: How many there are by now.
    """

    def __init__(
        self, path: Path, dtype: Any, row: tuple[int, ...] = (), begun: StoredFile | None = None
    ):
        self._file = path.open("r+b" if begun else "wb")
        self._dtype, self._row = np.dtype(dtype), row
        self.rows = self._size = self._crc = 0
        if begun:
            self.rows, self._size, self._crc = begun.shape[0], begun.size, begun.crc32
            self._file.truncate(begun.size)
            self._file.seek(begun.size)

    def reserve(self, rows: int) -> None:
        """Claim the disk for so many rows in all, so that a full one is known at once.

        Raises:
            OSError: It is full.
        """
        size = rows * math.prod(self._row) * self._dtype.itemsize
        if size > self._size:
            os.posix_fallocate(self._file.fileno(), self._size, size - self._size)

    def append(self, piece: NDArray[Any]) -> None:
        """Append rows of the array."""
        data = np.ascontiguousarray(piece, dtype=self._dtype)
        if data.size:
            view = data.reshape(-1).view(np.uint8)
            self._file.write(view.data)
            self._crc = zlib.crc32(view.data, self._crc)
        self.rows += len(data)
        self._size += data.nbytes

    def save(self) -> StoredFile:
        """Flush what there is to the disk, and say what is in it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return StoredFile(self._size, self._crc, self._dtype.name, (self.rows, *self._row))

    def close(self) -> StoredFile:
        """Close the file and say what is in it."""
        with self._file:
            return self.save()

    def abandon(self) -> None:
        """Close the file without caring for its content."""
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
            # the checksum of a small file costs nothing; large ones wait for `--verify`
            if stored.size <= CHECKED_AT_OPENING and zlib.crc32(data) != stored.crc32:
                raise BrokenIndexError(f"{path}: the checksum does not fit; {REBUILD}")
        self.array: NDArray[Any] = np.frombuffer(data, dtype=stored.dtype).reshape(stored.shape)

    def release(self) -> None:
        """Let the system take back the memory of what was read; it is read again when needed."""
        if self._map is not None:
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
            f"{path}: found {size:,} bytes, expected {stored.size:,}: the file is cut short or "
            f"belongs to another index; {REBUILD}"
        )


REBUILD = "build an index with: sicetnon index SOURCE -o DIR"


def checksum(path: Path, size: int | None = None) -> int:
    """The CRC-32 of a file, or of its first bytes."""
    crc, left = 0, path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left and (data := file.read(min(left, CHECK_BYTES))):
            crc = zlib.crc32(data, crc)
            left -= len(data)
    return crc


def stored_file(path: Path) -> StoredFile:
    """Describe a file that another library wrote, and flush it to the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return StoredFile(path.stat().st_size, checksum(path))


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename in it outlives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def total_size(files: Iterable[StoredFile]) -> int:
    """Bytes of several files."""
    return sum(file.size for file in files)
