"""Arrays on disk: written in pieces with a checksum, read or mapped by size; byte columns."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, counted
from sicetnon.formats.files import checksum

READ_AT_OPENING = 1 << 20
"""Bytes of the largest file that is read when it is opened; larger ones are mapped."""

_NUMBERS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}
)


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

    Use as a context manager, so that an error closes the file.

    Args:
        path: The file.
        dtype: The type of the elements.
        row: The shape of a row; a number where it is left out.
    """

    def __init__(self, path: Path, dtype: Any, row: tuple[int, ...] = ()):
        self._path, self._file = path, path.open("w+b")
        self._dtype, self._row = np.dtype(dtype), row
        self._rows = self._size = self._crc = 0

    def append(self, piece: NDArray[Any]) -> None:
        """Append rows of the array."""
        data = np.ascontiguousarray(piece, dtype=self._dtype)
        if data.size:
            view = data.reshape(-1).view(np.uint8)
            with self._naming_the_file():
                self._file.write(view.data)
            self._crc = zlib.crc32(view.data, self._crc)
        self._rows += len(data)
        self._size += data.nbytes

    def read(self, first: int, rows: int) -> NDArray[Any]:
        """Rows that were appended, shape (rows, …)."""
        width = self._dtype.itemsize * math.prod(self._row)
        with self._naming_the_file():
            self._file.seek(first * width)
            data = self._file.read(rows * width)
            self._file.seek(0, os.SEEK_END)
        return np.frombuffer(data, self._dtype).reshape(rows, *self._row)

    def close(self) -> StoredFile:
        """Flush the file to the disk, close and describe it."""
        with self._naming_the_file(), self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        return StoredFile(self._size, self._crc, self._dtype.name, (self._rows, *self._row))

    def abandon(self) -> None:
        """Close the file, which may be unfinished; closing it twice does nothing."""
        # what a full disk does not take is given up anyway, and must not hide why
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    @contextlib.contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Put the file into an error, which a write leaves out."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self._path)
            raise


def write_array(path: Path, array: NDArray[Any]) -> StoredFile:
    """Write a whole array."""
    with ArrayWriter(path, array.dtype, array.shape[1:]) as writer:
        writer.append(array)
        return writer.close()


class MappedArray:
    """An array file opened for reading.

    A small file is read, and its checksum compared. `array` is a view of a larger one, whose
    checksum waits for `index verify`.
    """

    def __init__(self, path: Path, stored: StoredFile):
        _check_description(path, stored)
        check_size(path, stored)
        self._path, self._stored = path, stored
        self._map: mmap.mmap | None = None
        data: Any
        with path.open("rb") as file:
            if stored.size > READ_AT_OPENING:
                data = self._map = mmap.mmap(file.fileno(), stored.size, access=mmap.ACCESS_READ)
            else:
                data = file.read(stored.size)
                if zlib.crc32(data) != stored.crc32:
                    raise BrokenIndexError(f"{path}: the checksum does not fit; {REBUILD}")
        self.array: NDArray[Any] = np.frombuffer(data, dtype=stored.dtype).reshape(stored.shape)

    @property
    def is_mapped(self) -> bool:
        """Whether the file is mapped; a small one was read when it was opened."""
        return self._map is not None

    def check_size(self) -> None:
        """Refuse a mapped file that was cut short since: to read it would end the process."""
        if self._map is not None and (size := self._map.size()) < self._stored.size:
            raise _wrong_size(self._path, size, self._stored)

    def release(self) -> None:
        """Let the system take back the memory of what was read; it is read again when needed."""
        if self._map is not None and hasattr(self._map, "madvise"):  # Windows lacks it
            self._map.madvise(mmap.MADV_DONTNEED)


def check_size(path: Path, stored: StoredFile) -> None:
    """Refuse a file that is missing, a link, or of another size than its manifest says."""
    try:
        # a link leads out of the index, where nothing may be changed or removed
        found, folder = path.lstat(), path.parent.lstat()
    except OSError as error:
        raise BrokenIndexError(f"{path}: cannot be read: {error.strerror}; {REBUILD}") from None
    if not stat.S_ISDIR(folder.st_mode):
        raise damaged(path.parent, "found a link; expected a folder")
    if not stat.S_ISREG(found.st_mode):
        raise damaged(path, "found no regular file")
    if found.st_size != stored.size:
        raise _wrong_size(path, found.st_size, stored)


def _wrong_size(path: Path, size: int, stored: StoredFile) -> BrokenIndexError:
    return BrokenIndexError(
        f"{path}: found {counted(size, 'byte')}, expected {stored.size:,}: the file is cut "
        f"short or belongs to another index; {REBUILD}"
    )


def _check_description(path: Path, stored: StoredFile) -> None:
    """Refuse an array whose type, shape and size do not fit together."""
    if stored.dtype not in _NUMBERS or min(stored.shape, default=0) < 0:
        raise damaged(path, f"found an array of {stored.dtype!r}, shape {stored.shape}")
    if math.prod(stored.shape) * np.dtype(stored.dtype).itemsize != stored.size:
        what = f"{stored.size:,} bytes cannot hold {stored.dtype} of shape {stored.shape}"
        raise damaged(path, what)


def damaged(path: Path, problem: str) -> BrokenIndexError:
    """The error for a damaged file of an index."""
    return BrokenIndexError(f"{path}: damaged: {problem}; {REBUILD}")


def is_ordered(offsets: NDArray[np.int64], size: int) -> bool:
    """Whether offsets go from 0 to a size and never back."""
    return bool(ends_fit(offsets, size) and (offsets[1:] >= offsets[:-1]).all())


def ends_fit(offsets: NDArray[np.int64], size: int) -> bool:
    """Whether the first and the last of some offsets are 0 and a size; reads no other."""
    return int(offsets[0]) == 0 and int(offsets[-1]) == size


def verify_files(files: Mapping[Path, StoredFile]) -> None:
    """Read files and compare their checksums."""
    wrong = []
    for path, stored in files.items():
        check_size(path, stored)
        if checksum(path) != stored.crc32:
            wrong.append(str(path))
    if wrong:
        raise BrokenIndexError(f"{', '.join(wrong)}: the checksum does not fit; {REBUILD}")


REBUILD = "build an index with: sicetnon index build SOURCE -o DIR"


class ByteColumn:
    """A column of byte strings: few large objects, since to pass on small ones takes long.

    Attributes:
        sizes: The size of each.
        bytes: The size of all.

    Args:
        strings: The first of them.
    """

    def __init__(self, strings: Sequence[bytes] = ()):
        self._pieces: list[bytes] = []
        self.sizes: list[int] = []
        self.bytes = 0
        self.extend(strings)

    def __len__(self) -> int:
        return len(self.sizes)

    def extend(self, strings: Sequence[bytes]) -> None:
        """Append byte strings."""
        piece = b"".join(strings)
        self._pieces.append(piece)
        self.bytes += len(piece)
        self.sizes.extend(map(len, strings))

    def data(self) -> bytes:
        """All of them as one."""
        return b"".join(self._pieces)

    def each(self) -> list[bytes]:
        """Each of them."""
        data = self.data()
        return [data[begin:end] for begin, end in pairwise(accumulate(self.sizes, initial=0))]

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All of them as an array, and where each ends in it."""
        return np.frombuffer(self.data(), np.uint8), np.cumsum(self.sizes, dtype=np.int64)
