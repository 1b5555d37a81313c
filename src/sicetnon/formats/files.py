"""Files: opened within limits (gzip, standard input), written atomically, resumed after a kill."""

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
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from sicetnon.argument_checks import check_path
from sicetnon.cancellation import check_cancelled
from sicetnon.errors import DataError, SicetnonError, UsageError, counted
from sicetnon.operating_system import check_plain, sync_folder, try_lock

_PREFIX = "SICETNON_MAX_"
_ADVICE = "raise SICETNON_MAX_{} if the file is to be trusted"


@dataclass(frozen=True)
class Limits:
    """Limits on reading; the environment variable of each is `SICETNON_MAX_` and its name.

    Attributes:
        record_bytes: Bytes of one record: a line, a row of a table, an element of a JSON list, a
            topic, a page of the web. JSON is refused beyond Python's own depth of nesting.
        unpacked_ratio: How many times as large as its gzip file the content may be. Text is 3 to
            20 times as large; a bomb about 1,000 times.
        unpacked_bytes: Bytes of unpacked content up to which the ratio does not matter.
        page_seconds: Seconds of processor time to parse one page of HTML (not on Windows).
        page_memory: Bytes of memory to parse one page of HTML (not on Windows and macOS).
    """

    record_bytes: int = 16 << 20
    unpacked_ratio: int = 100
    unpacked_bytes: int = 8 << 20
    page_seconds: int = 5
    page_memory: int = 384 << 20

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Limits:
        """The defaults, with the limits that the environment sets.

        Raises:
            UsageError: A variable holds no whole number above 0.
        """
        given = {}
        for limit in fields(cls):
            variable = _PREFIX + limit.name.upper()
            text = environment.get(variable, "").strip()
            if text:
                if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text)):
                    raise UsageError(
                        f"{variable} is {text[:40]!r}; expected a whole number above 0"
                    )
                given[limit.name] = int(text)
        return cls(**given)

    def too_long(self, what: str, path: Path | str, line: int | None = None) -> DataError:
        """The error of a record of more than `record_bytes`."""
        return DataError(f"{what} {self.beyond_record()}", path, line)

    def beyond_record(self) -> str:
        """The predicate of a sentence on a record of more than `record_bytes`."""
        return (
            f"holds more than {self.record_bytes:,} bytes, the limit for one record; "
            + _ADVICE.format("RECORD_BYTES")
        )

    def unpacks_too_much(
        self, packed: int, unpacked: int, path: Path | str, free: int | None = None
    ) -> DataError | None:
        """The error of packed data that unpacks to more than the limits allow, or None.

        Args:
            packed: Bytes of the packed data.
            unpacked: Bytes of its content so far.
            path: The file, for the error.
            free: Bytes up to which the ratio does not matter; `unpacked_bytes` when left out.
        """
        free = self.unpacked_bytes if free is None else free
        if unpacked <= max(free, self.unpacked_ratio * packed):
            return None
        return DataError(
            f"{packed:,} packed bytes unpack to more than {unpacked:,}, over the limit of "
            f"{self.unpacked_ratio} times as much; " + _ADVICE.format("UNPACKED_RATIO"),
            path,
        )

    def beyond_page(self, is_late: bool) -> str:
        """The predicate of a sentence on a page that takes more time, or memory, than the limit."""
        if is_late:
            return f"takes more than {self.page_seconds} s to parse; " + _ADVICE.format(
                "PAGE_SECONDS"
            )
        return f"takes more than {self.page_memory:,} bytes of memory to parse; " + _ADVICE.format(
            "PAGE_MEMORY"
        )


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
        passes_over: A reader may call it before each record; if true, the record is left out.
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

    def __init__(self, file: BinaryIO, reading: Reading, *, stays_open: bool):
        self._file, self._reading, self._stays_open = file, reading, stays_open

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        check_cancelled()
        size: int = self._file.readinto(buffer) or 0  # type: ignore[attr-defined]
        self._reading.bytes_read += size
        return size

    def close(self) -> None:
        if not self._stays_open:
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
        check_cancelled()
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
    read = _CountedFile(raw, reading, stays_open=is_standard)
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
        DataError: The file cannot be read, or is larger than a record may be.
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
        DataError: The file cannot be read, or a line is too long or no UTF-8.
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
    """Refuse an output that is a folder, a pipe or a device, or lies in no folder.

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


def write_atomic(texts: Mapping[Path, str | bytes]) -> None:
    """Write each text (or bytes) to its file, atomically.

    All are written to temporary files first, which are renamed only when the last is on disk: a
    full disk, a kill or a power cut loses nothing. The files are on disk when the call returns.

    Raises:
        OSError: A directory is missing, not writable, or full, or something that is no file
            has one of the names. No file has changed then.
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


PART, LOG = ".part", ".part-log"


class Checkpoint(msgspec.Struct, frozen=True):
    """The state of a file to which its writing can return.

    Attributes:
        items: Items that are written, such as records.
        size: Bytes of the file.
        crc32: Checksum of these bytes.
        input_sha256: Checksum of the input up to the last of the items, if the input is a file.
    """

    items: int = 0
    size: int = 0
    crc32: int = 0
    input_sha256: str = ""


class ResumableFile:
    """A file that is written step by step, and resumed at its last checkpoint.

    Attributes:
        last: The last checkpoint.

    Raises:
        DataError: The file is damaged, or belongs to other work.
        SicetnonError: Another process writes the file.
        OSError: The file or its log cannot be written.
    """

    def __init__(self, path: Path, log: Path, work: Mapping[str, str]):
        self.path, self._log_path, self._work = path, log, dict(work)
        for own in (path, log):
            check_plain(own)
            if own.exists() and own.stat().st_nlink > 1:
                raise SicetnonError(
                    f"{own}: has a second name (hard link), and would be written over; remove it"
                )
        self._log: BinaryIO = log.open("a+b")
        try:
            if not try_lock(self._log):
                raise SicetnonError(
                    f"{path}: another process is writing it; wait for it, or name another output"
                )
            self.last = self._last_checkpoint()
            self.file: BinaryIO = path.open("r+b" if self.last.items else "wb")
        except BaseException:
            self._log.close()
            raise
        self.file.seek(self.last.size)
        self._size, self._crc = self.last.size, self.last.crc32

    def _last_checkpoint(self) -> Checkpoint:
        self._log.seek(0)
        lines = self._log.read().split(b"\n")[:-1]
        found = _checkpoints(lines[1:]) if self.path.exists() else []
        if not found:
            self._log.truncate(0)
            return Checkpoint()
        self._check_work(lines[0])
        last = found[-1]
        if checksum(self.path, last.size) != last.crc32:
            raise DataError(
                f"the part that was written before is damaged; {self._advice()}", self.path
            )
        os.truncate(self.path, last.size)
        # a line that a kill cut short must not run into the next one
        self._log.truncate(sum(len(line) + 1 for line in lines[: len(found) + 1]))
        return last

    def _check_work(self, line: bytes) -> None:
        try:
            found = msgspec.json.decode(line, type=dict[str, str])
        except ValueError:
            found = {}
        for name, expected in self._work.items():
            if found.get(name) != expected:
                raise DataError(
                    f"a part of other work is there: found {name} {found.get(name)!r}, expected "
                    f"{expected!r}; {self._advice()}",
                    self.path,
                )

    def _advice(self) -> str:
        return "delete it to begin anew, or name another output"

    def append(self, data: bytes | memoryview) -> None:
        """Append data to the file."""
        self.file.write(data)
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def save(self, items: int, input_sha256: str = "") -> None:
        """Make a checkpoint, which survives a kill or a power cut."""
        self.file.flush()
        os.fsync(self.file.fileno())
        is_first = not self.last.items
        if is_first:
            self._note(self._work)
        self.last = Checkpoint(items, self._size, self._crc, input_sha256)
        self._note(self.last)
        if is_first:
            sync_folder(self.path.parent)

    def _note(self, line: Checkpoint | dict[str, str]) -> None:
        self._log.write(msgspec.json.encode(line) + b"\n")
        self._log.flush()
        os.fsync(self._log.fileno())

    def finish(self, target: Path) -> None:
        """Rename the file, and delete the log."""
        self.file.close()
        self.path.replace(target)
        sync_folder(target.parent)
        self._log_path.unlink()

    def close(self) -> None:
        """Close the file. A file without a checkpoint is deleted, with its log."""
        self.file.close()
        if self.path.exists() and not self.last.items:
            self.path.unlink()
            self._log_path.unlink(missing_ok=True)
        self._log.close()


class ResumableOutput(ResumableFile):
    """An atomic output: `NAME.part` grows beside it until it is complete.

    It is gzipped where its name ends in `.gz`, each step by itself.

    Attributes:
        name: The output, as it was given.

    Raises:
        UsageError: The output cannot be a file.
        DataError: The output is damaged, or belongs to other work.
        SicetnonError: Another process writes it.
        OSError: It cannot be written.
    """

    def __init__(self, output: Path, work: Mapping[str, str]):
        self.name = output
        # the file that a link points to is replaced, not the link
        self._target = target = Path(os.path.realpath(output))
        if target.is_dir() or not target.parent.is_dir():
            found = "a folder" if target.is_dir() else "no folder for it"
            raise UsageError(f"{output}: found {found}; expected the name of a file to write")
        part, log = (target.with_name(target.name + suffix) for suffix in (PART, LOG))
        super().__init__(part, log, work)

    def write(self, data: bytes, records: int, input_sha256: str) -> None:
        """Append data, and make a checkpoint."""
        self.append(gzip.compress(data, mtime=0) if self._target.suffix == ".gz" else data)
        self.save(records, input_sha256)

    def other_input(self, source: str) -> DataError:
        """The error of an input that does not begin with the records that are written."""
        return DataError(
            f"it does not begin with {counted(self.last.items, 'record')} of {source}; "
            f"{self._advice()}",
            self.path,
        )

    def publish(self) -> None:
        """Rename the finished output."""
        if not self.last.items:
            self.write(b"", 0, "")
        self.finish(self._target)


def _checkpoints(lines: list[bytes]) -> list[Checkpoint]:
    """The checkpoints of a log, up to the first line that is none."""
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Checkpoint))
        except ValueError:
            break
    return found
