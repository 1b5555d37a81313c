"""Opening files to read (plain, gzip, standard input) and writing them whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import functools
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NoReturn

from sicetnon.errors import DataError, UsageError
from sicetnon.formats.limits import Limits
from sicetnon.platforms import sync_folder
from sicetnon.stopping import check_wanted
from sicetnon.values import check_path

GZIP_MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 1 << 22
CARRIAGE_RETURN = (
    "found a carriage return inside the line; expected a line feed after each line: convert the "
    "file (tr '\\r' '\\n')"
)
_UNPACKED_CHUNK, _LEAST_CHUNK = 1 << 18, 1 << 12


def _refuse(error: DataError) -> NoReturn:
    raise error


@dataclass
class Reading:
    """The state of reading a corpus, and the handling of unusable records.

    Attributes:
        on_error: Called with each unusable record's error. Raises it, unless the caller wants
            such records skipped.
        bytes_read: Bytes taken from the disk so far, over all files.
        chunk_bytes: Bytes of a file that are read at a time.
        limits: Limits on records and on what is unpacked; those of the environment when left out.
        passes_over: A reader may ask it before each record, and leaves the record out when told to.
    """

    on_error: Callable[[DataError], None] = _refuse
    bytes_read: int = field(default=0)
    chunk_bytes: int = CHUNK_BYTES
    limits: Limits = field(default_factory=Limits.from_environment)
    passes_over: Callable[[], bool] = lambda: False


class DamagedGzipError(DataError):
    """Gzip data is damaged or cut short."""


class _CountedFile(io.RawIOBase):
    """A binary file that reports how much was read from it, compressed or not."""

    def __init__(self, file: BinaryIO, reading: Reading, *, is_kept: bool):
        self._file, self._reading, self._is_kept = file, reading, is_kept

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        check_wanted()
        size: int = self._file.readinto(buffer) or 0  # type: ignore[attr-defined]
        self._reading.bytes_read += size
        return size

    def close(self) -> None:
        if not self._is_kept:
            self._file.close()
        super().close()


class _Packed:
    """The packed side of a gzip file: counts the bytes that are taken."""

    def __init__(self, file: BinaryIO):
        self._file, self.size = file, 0

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.size += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, which ends in an error beyond the limits."""

    def __init__(self, file: BinaryIO, path: Path | str, limits: Limits):
        self._packed, self._path, self._limits = _Packed(file), path, limits
        self._content = gzip.GzipFile(fileobj=self._packed)  # type: ignore[call-overload]
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        check_wanted()
        data: bytes = self._content.read1(len(buffer))
        buffer[: len(data)] = data
        self._size += len(data)
        error = self._limits.unpacks_too_much(self._packed.size, self._size, self._path)
        if error is not None:
            raise error
        return len(data)


@contextlib.contextmanager
def open_packed(path: Path | str, reading: Reading) -> Iterator[io.BufferedReader[_CountedFile]]:
    """Open a file for reading bytes, gzipped or not; `-` is standard input.

    Raises:
        DataError: The file is missing, unreadable or a directory.
    """
    check_path(path, "a file")
    is_standard = str(path) == "-"
    if is_standard and sys.stdin is None:
        raise DataError("cannot be read: standard input is closed", path)
    try:
        # closed by the buffered reader below
        raw = sys.stdin.buffer if is_standard else Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    read = _CountedFile(raw, reading, is_kept=is_standard)
    with io.BufferedReader(read, max(reading.chunk_bytes, _LEAST_CHUNK)) as counted:
        yield counted


@contextlib.contextmanager
def open_bytes(path: Path | str, reading: Reading | None = None) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; gzip is recognised by its content, `-` is standard input.

    Raises:
        DataError: The file is missing, unreadable, a directory, or a gzip file that is cut short or
            unpacks to more than the limits allow. Also raised from inside the `with` block when
            decompression fails there.
    """
    reading = reading or Reading()
    with open_packed(path, reading) as counted:
        try:
            zipped = counted.peek(2)[:2] == GZIP_MAGIC
            if zipped:
                unpacked = _Unpacked(counted, path, reading.limits)
                yield io.BufferedReader(unpacked, _UNPACKED_CHUNK)
            else:
                yield counted
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            text = str(error) or type(error).__name__
            raise DamagedGzipError(
                f"the gzip data is damaged or cut short ({text}); copy or download it again", path
            ) from None


def refuse_pipe(path: Path | str) -> None:
    """Refuse a source that can be read only once, where it must be read twice.

    Raises:
        UsageError: It is standard input, a pipe or a device.
    """
    if str(path) == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise UsageError(f"{path}: is no regular file, but it is read twice; save it first")


def raw_lines(
    file: BinaryIO, path: Path | str, limits: Limits | None = None
) -> Iterator[tuple[int, bytes]]:
    """The lines of an open file with their numbers, from 1, and with their line ends.

    Raises:
        DataError: A line is longer than a record may be.
    """
    limits = limits or Limits.from_environment()
    longest = limits.record_bytes
    lines = iter(functools.partial(file.readline, longest + 1), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) > longest:
            raise limits.too_long("the line", path, number)
        yield number, line


def read_all(path: Path | str, reading: Reading | None = None) -> bytes:
    """The content of a file that is one record.

    Raises:
        DataError: As `open_bytes`, and for content that is larger than a record may be.
    """
    reading = reading or Reading()
    limits = reading.limits
    with open_bytes(path, reading) as file:
        data = file.read(limits.record_bytes + 1)
    if len(data) > limits.record_bytes:
        raise limits.too_long("the file", path)
    return data


def read_lines(
    path: Path | str, reading: Reading | None = None
) -> Generator[tuple[int, str], None, None]:
    """The lines of a UTF-8 text file with their numbers, from 1, without their line ends.

    Raises:
        DataError: As `open_bytes` and `raw_lines`, and for bytes that are not UTF-8.
    """
    reading = reading or Reading()
    with open_bytes(path, reading) as file:
        for number, line in raw_lines(file, path, reading.limits):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8",
                    path,
                    number,
                ) from None
            yield number, text.rstrip("\r\n")


def check_output(path: Path) -> None:
    """Refuse to put a file in the place of a folder, a pipe or a device, or into no folder.

    Raises:
        OSError: It is one, or the folder is not there.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory; expected a file", str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is a pipe or a device; expected a file, or none", str(path))
    if not path.parent.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))


def checksum(path: Path, size: int | None = None) -> int:
    """The CRC-32 of a file, or of its first `size` bytes."""
    crc, left = 0, path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left and (data := file.read(min(left, CHUNK_BYTES))):
            crc = zlib.crc32(data, crc)
            left -= len(data)
    return crc


def write_whole(texts: Mapping[Path, str | bytes]) -> None:
    """Write each text (or bytes) to its file, so that a reader finds it whole or as it was.

    All are written beside their places first, and put there only when the last is on disk: a full
    disk, a kill or a power cut loses nothing. The files are in their places, on disk, when the
    call returns.

    Raises:
        OSError: A directory is missing, not writable, or full, or a place is taken by something
            that is no file. No file has changed then.
    """
    waiting: dict[Path, Path] = {}
    for path in texts:
        check_output(path)
    try:
        for path, text in texts.items():
            temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
            with temporary.open("xb") as file:
                waiting[temporary] = path
                file.write(text if isinstance(text, bytes) else text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
        for temporary, path in waiting.items():
            temporary.replace(path)
        for folder in {path.parent for path in texts}:
            sync_folder(folder)
    finally:
        for temporary in waiting:
            temporary.unlink(missing_ok=True)
