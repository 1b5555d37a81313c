"""Long outputs: a file that grows in steps beside its place, and goes on after a kill.

`NAME.part` holds what was written, `NAME.part-log` how far each step came: a line of JSON for the
work that is done, then one for each step. A step counts once its line is on disk, which happens
after its data is.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from sicetnon.errors import DataError, SicetnonError, UsageError

PART, LOG = ".part", ".part-log"
_CHECK_BYTES = 1 << 22


class Step(msgspec.Struct, frozen=True):
    """How far the work had come.

    Attributes:
        records: Records that are done.
        input_sha256: Checksum of the input up to the last of them.
        size: Bytes of the part file.
        crc32: Checksum of these.
    """

    records: int = 0
    input_sha256: str = ""
    size: int = 0
    crc32: int = 0


class ContinuedFile:
    """An output that is there whole or not at all, and whose making can be stopped at any moment.

    Args:
        path: The output; gzipped where its name ends in `.gz`, each step by itself.
        work: What is done, such as task and model: a part of other work is refused.

    Attributes:
        last: The last step of an earlier start, at which this one goes on.

    Raises:
        DataError: There is a part of other work, or a damaged one.
        SicetnonError: Another process writes this output.
        UsageError: The output cannot be a file.
        OSError: A file cannot be written.
    """

    def __init__(self, path: Path, work: Mapping[str, str]):
        self.path = path
        # the file that a link points to is replaced, not the link
        self._target = target = Path(os.path.realpath(path))
        self._zipped = target.suffix == ".gz"
        if target.is_dir() or not target.parent.is_dir():
            found = "a folder" if target.is_dir() else "no folder for it"
            raise UsageError(f"{path}: found {found}; expected the name of a file to write")
        self.part = target.with_name(target.name + PART)
        self._log_path = target.with_name(target.name + LOG)
        self._log = self._locked()
        try:
            self.last = self._begin(dict(work))
        except BaseException:
            self._log.close()
            raise

    def _locked(self) -> BinaryIO:
        log = self._log_path.open("a+b")
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            log.close()
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise SicetnonError(
                    f"{self.path}: another process is writing it; wait for it, or name another "
                    "output"
                ) from None
            raise
        return log

    def _begin(self, work: dict[str, str]) -> Step:
        self._log.seek(0)
        lines = self._log.read().split(b"\n")[:-1]
        found = _steps(lines[1:]) if self.part.exists() else []
        if not found:
            self._log.truncate(0)
            self._file: BinaryIO = self.part.open("wb")
            self._note(work)
            return Step()
        self._check_work(lines[0], work)
        last = found[-1]
        self._file = self.part.open("r+b")
        try:
            if _crc_of(self._file, last.size) != last.crc32:
                raise DataError(
                    f"the part that was written before is damaged; {self._advice()}", self.part
                )
            self._file.truncate(last.size)
            self._file.seek(last.size)
        except BaseException:
            self._file.close()
            raise
        return last

    def _check_work(self, line: bytes, work: dict[str, str]) -> None:
        try:
            found = msgspec.json.decode(line, type=dict[str, str])
        except ValueError:
            found = {}
        for name, expected in work.items():
            if found.get(name) != expected:
                raise DataError(
                    f"a part of other work is there: found {name} {found.get(name)!r}, expected "
                    f"{expected!r}; {self._advice()}",
                    self.part,
                )

    def _advice(self) -> str:
        return "delete it to begin anew, or name another output"

    def refuse(self, source: str) -> DataError:
        """The error of an input that is not the one whose beginning is done."""
        return DataError(
            f"its {self.last.records:,} records are not the first ones of {source}; "
            f"{self._advice()}",
            self.part,
        )

    def append(self, data: bytes, records: int, input_sha256: str) -> None:
        """Write a step, so that it outlives a kill or a power cut.

        Args:
            data: What it adds to the output.
            records: Records that are done in all.
            input_sha256: Checksum of the input up to the last of them.
        """
        written = gzip.compress(data, mtime=0) if self._zipped else data
        self._file.write(written)
        self._file.flush()
        os.fsync(self._file.fileno())
        crc = zlib.crc32(written, self.last.crc32)
        self.last = Step(records, input_sha256, self.last.size + len(written), crc)
        self._note(self.last)

    def _note(self, line: Step | dict[str, str]) -> None:
        self._log.write(msgspec.json.encode(line) + b"\n")
        self._log.flush()
        os.fsync(self._log.fileno())

    def finish(self) -> None:
        """Put the output in its place; the part and its log are gone then."""
        if self._zipped and not self.last.size:
            self.append(b"", 0, self.last.input_sha256)
        self._file.close()
        self.part.replace(self._target)
        self._log_path.unlink()
        handle = os.open(self._target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let go of the files; an unfinished part stays. A part without a step goes."""
        self._file.close()
        if self.part.exists() and not self.last.records:
            self.part.unlink()
            self._log_path.unlink(missing_ok=True)
        self._log.close()


def _steps(lines: list[bytes]) -> list[Step]:
    """The steps of a log, up to the first line that is none."""
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Step))
        except ValueError:
            break
    return found


def _crc_of(file: BinaryIO, size: int) -> int | None:
    """The checksum of the first bytes of a file; None where it has fewer."""
    crc = 0
    while size > 0:
        data = file.read(min(size, _CHECK_BYTES))
        if not data:
            return None
        crc = zlib.crc32(data, crc)
        size -= len(data)
    return crc
