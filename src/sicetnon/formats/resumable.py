"""Files that take hours to write: they grow step by step, and are resumed after a kill.

Beside the file lies a log: a line of JSON that names the work, then a line for each checkpoint. A
checkpoint counts once its line is on the disk, which happens after its data is.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from sicetnon.errors import DataError, SicetnonError, UsageError, counted
from sicetnon.formats.files import checksum
from sicetnon.platforms import check_plain, sync_folder, try_lock

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

    def finish(self, place: Path) -> None:
        """Move the file to its place, and delete the log."""
        self.file.close()
        self.path.replace(place)
        sync_folder(place.parent)
        self._log_path.unlink()

    def close(self) -> None:
        """Close the file. A file without a checkpoint is deleted, with its log."""
        self.file.close()
        if self.path.exists() and not self.last.items:
            self.path.unlink()
            self._log_path.unlink(missing_ok=True)
        self._log.close()


class ResumableOutput(ResumableFile):
    """An output that is there whole or not at all; until then `NAME.part` grows beside its place.

    It is gzipped where its name ends in `.gz`, each step by itself.

    Attributes:
        name: The output, as it was given.

    Raises:
        UsageError: The output cannot be a file.
        DataError, SicetnonError, OSError: As `ResumableFile`.
    """

    def __init__(self, output: Path, work: Mapping[str, str]):
        self.name = output
        # the file that a link points to is replaced, not the link
        self._place = place = Path(os.path.realpath(output))
        if place.is_dir() or not place.parent.is_dir():
            found = "a folder" if place.is_dir() else "no folder for it"
            raise UsageError(f"{output}: found {found}; expected the name of a file to write")
        part, log = (place.with_name(place.name + suffix) for suffix in (PART, LOG))
        super().__init__(part, log, work)

    def write(self, data: bytes, records: int, input_sha256: str) -> None:
        """Append data, and make a checkpoint."""
        self.append(gzip.compress(data, mtime=0) if self._place.suffix == ".gz" else data)
        self.save(records, input_sha256)

    def other_input(self, source: str) -> DataError:
        """The error of an input that does not begin with the records that are written."""
        return DataError(
            f"it does not begin with {counted(self.last.items, 'record')} of {source}; "
            f"{self._advice()}",
            self.path,
        )

    def publish(self) -> None:
        """Put the output in its place."""
        if not self.last.items:
            self.write(b"", 0, "")
        self.finish(self._place)


def _checkpoints(lines: list[bytes]) -> list[Checkpoint]:
    """The checkpoints of a log, up to the first line that is none."""
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Checkpoint))
        except ValueError:
            break
    return found
