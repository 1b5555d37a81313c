"""WARC archives (ISO 28500) and the HTTP responses in them.

A damaged record costs one record: reading goes on with the next line that begins a record. In a
gzipped archive each record is a member of its own, so damaged gzip data costs its member.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sicetnon.errors import DataError
from sicetnon.formats.files import GZIP_MAGIC, Reading, open_packed
from sicetnon.formats.limits import Limits

_VERSION = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n\Z")
# a record that begins in a block of wrong length, or on the last line of one that is cut
_BOUNDARY = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n(?=[\w-]+:)")
_STATUS = re.compile(rb"\s*HTTP/\d+(?:\.\d+)?[ \t]+(\d{3})")
_HEAD_END = re.compile(rb"\n\r?\n|\Z")
_LENGTH = re.compile(r"\d{1,18}")
_PADDING = b"\0 \t\r\n"
_LONGEST_LINE, _LONGEST_HEAD = 1 << 16, 1 << 20
_SKIPPED_BYTES = 1 << 20
# more than what `_BOUNDARY` matches
_OVERLAP = 64
_GZIP = zlib.MAX_WBITS | 16
_MEMBER, _RECORD = GZIP_MAGIC + b"\x08", b"WARC/"
_PACKED_BYTES = 1 << 16
# bytes of a damaged member that are searched for the next one: a stored block can swallow 64 KiB
_HISTORY = 1 << 20
# what stands for the rest of a damaged member, and for one of which nothing could be read
_DAMAGED_RECORD, _LOST_RECORD = b"damaged gzip data\r\n", b"lost gzip data\r\n"
_AGAIN = "copy the archive again"

Headers = dict[str, str]
"""The values of headers by their names in lower case, those of one name joined by commas."""


class WarcRecord(NamedTuple):
    """A record: its number from 1, its headers and its block."""

    number: int
    headers: Headers
    block: bytes


class HttpResponse(NamedTuple):
    """The status, headers and body (with its codings) of a response."""

    status: int
    headers: Headers
    body: bytes


def read_warc(path: Path | str, reading: Reading) -> Iterator[WarcRecord]:
    """Stream the records of an archive, but those that are longer than a record may be.

    Raises:
        DataError: The archive cannot be opened or unpacks to more than the limits allow, or a
            record is damaged and `reading.on_error` raises.
    """
    again: tuple[int, int] | None = (0, 0)
    while again is not None:
        with open_packed(path, reading) as file:
            damages: list[int] = []
            archive = _Archive(
                _unpacked(file, path, reading.limits, damages), damages, path, reading
            )
            again = yield from archive.records(*again)
        # a second reading is no progress
        reading = replace(reading, bytes_read=0)


def http_response(block: bytes) -> HttpResponse:
    """A response; lines may end in a line feed alone (RFC 9112, 2.2).

    Raises:
        ValueError: It is none.
    """
    status = 100
    # interim responses come before the final one
    while status < 200 and (match := _STATUS.match(block)):
        status = int(match[1])
        end = _HEAD_END.search(block)
        assert end
        head, block = block[: end.start()], block[end.end() :]
    if status < 200:
        raise ValueError("it holds no HTTP response")
    return HttpResponse(status, _headers(head.split(b"\n")[1:]), block)


def _headers(lines: list[bytes]) -> Headers:
    headers: Headers = {}
    name = ""
    for line in lines:
        text = line.decode("utf-8", "replace").strip()
        if line.startswith((b" ", b"\t")) and name:
            headers[name] += f" {text}"
            continue
        before, colon, value = text.partition(":")
        if colon:
            name = before.strip().lower()
            earlier = f"{headers[name]}, " if name in headers else ""
            headers[name] = earlier + value.strip()
    return headers


class _Archive:
    """The records of an unpacked archive, and the positions in it of damages so far."""

    def __init__(self, file: BinaryIO, damages: list[int], path: Path | str, reading: Reading):
        self._file, self._damages, self._path, self._reading = file, damages, path, reading
        self._held = io.BytesIO()
        self._position = self._number = 0
        # where the records begin that a wrong length has passed over
        self._again: int | None = None

    def records(
        self, start: int, number: int
    ) -> Generator[WarcRecord, None, tuple[int, int] | None]:
        """Yield the records from a position on; return where to begin anew, or None at the end."""
        self._skip(start)
        self._number = number
        is_damaged = False
        while line := self._line():
            is_other = not _VERSION.match(line)
            if line == _LOST_RECORD or (is_other and line.strip(_PADDING) and not is_damaged):
                is_damaged = True
                self._report(f"the archive is damaged after record {self._number}")
            if is_other and not _VERSION.search(line):
                continue
            self._number += 1
            headers = self._head()
            length = headers.get("content-length", "")
            block, fault = b"", "has no complete header"
            if _LENGTH.fullmatch(length):
                block, fault = self._block(int(length))
            is_damaged = bool(fault)
            if fault:
                self._report(f"record {self._number} {fault}")
            elif len(block) == int(length):
                yield WarcRecord(self._number, headers, block)
            if self._again is not None:
                return self._again, self._number
        return None

    def _block(self, size: int) -> tuple[bytes, str]:
        """A block, empty if it is longer than a record may be, and what is wrong with it."""
        end, boundary = self._position + size, None
        if size > self._reading.limits.record_bytes:
            block, boundary = b"", self._skip(size)
        else:
            block = self._read(size)
        # what stands for lost bytes may be as long as they are
        is_cut = self._position < end or any(end - size <= at < end for at in self._damages)
        if not is_cut and self._is_sound(block):
            return block, ""
        self._again = boundary
        block += self._read(_OVERLAP)
        match = _BOUNDARY.search(block)
        self._hold(block[match.start() if match else -_OVERLAP :])
        return b"", "is cut short" if is_cut else "does not end where its Content-Length says"

    def _report(self, fault: str) -> None:
        self._reading.on_error(DataError(f"{fault}; {_AGAIN}", self._path))

    def _head(self) -> Headers:
        """The headers of a record; empty if they break off."""
        lines: list[bytes] = []
        size = 0
        while line := self._line():
            if not line.strip():
                return _headers(lines)
            size += len(line)
            if (match := _VERSION.search(line)) or size > _LONGEST_HEAD:
                self._hold(line[match.start() :] if match else line)
                break
            lines.append(line)
        return {}

    def _is_sound(self, block: bytes) -> bool:
        """Whether a block ends before the next record, the end, or damage that is not its own."""
        lines = []
        while line := self._line():
            lines.append(line)
            if line.strip(_PADDING):
                after = b"".join(lines)
                self._hold(after)
                if _VERSION.match(line):
                    return True
                is_apart = len(lines) > 1 and line != _DAMAGED_RECORD
                return is_apart and not _BOUNDARY.search(block + after)
        return True

    def _skip(self, size: int) -> int | None:
        """Skip bytes; return the position of the first record that seems to begin in them."""
        first, end, last = None, self._position + size, b""
        while data := self._read(min(_SKIPPED_BYTES, end - self._position)):
            if first is None and (match := _BOUNDARY.search(last + data)):
                first = self._position - len(last + data) + match.start()
            last = data[-_OVERLAP:]
        return first

    def _line(self) -> bytes:
        line = self._held.readline(_LONGEST_LINE)
        if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
            line += self._file.readline(_LONGEST_LINE - len(line))
        self._position += len(line)
        return line

    def _read(self, size: int) -> bytes:
        data = self._held.read(size)
        if len(data) < size:
            data += self._file.read(size - len(data))
        self._position += len(data)
        return data

    def _hold(self, data: bytes) -> None:
        """Take data back."""
        self._position -= len(data)
        self._held = io.BytesIO(data + self._held.read())


def _unpacked(
    file: io.BufferedReader[Any], path: Path | str, limits: Limits, damages: list[int]
) -> BinaryIO:
    if file.peek(2)[:2] != GZIP_MAGIC:
        return file
    return io.BufferedReader(_Members(file, path, limits, damages), _LONGEST_LINE)


class _Members(io.RawIOBase):
    """The content of a gzip file, with a line for damaged data, whose position is noted."""

    def __init__(self, file: BinaryIO, path: Path | str, limits: Limits, damages: list[int]):
        self._file, self._path, self._limits, self._damages = file, path, limits, damages
        self._given = self._packed_size = self._size = self._member_size = 0
        self._output = b""
        self._begin(b"")

    def _begin(self, packed: bytes) -> None:
        # packed bytes from the begin of the member, and how many of them were unpacked
        self._packed, self._at, self._member_size = packed, 0, 0
        self._decoder = zlib.decompressobj(_GZIP)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._output or self._unpack(len(buffer))
        data, self._output = data[: len(buffer)], data[len(buffer) :]
        self._given += len(data)
        buffer[: len(data)] = data
        return len(data)

    def _unpack(self, size: int) -> bytes:
        while self._at < len(self._packed) or self._fill():
            if not self._at:
                # members may be padded with zeros
                self._packed = self._packed.lstrip(b"\0")
            try:
                data = self._decoder.decompress(self._packed[self._at :], size)
            except zlib.error:
                return self._damage()
            self._at = len(self._packed) - len(self._decoder.unconsumed_tail)
            self._size += len(data)
            self._member_size += len(data)
            if self._decoder.eof:
                self._begin(self._decoder.unused_data)
            if data:
                error = self._limits.unpacks_too_much(self._packed_size, self._size, self._path)
                if error is not None:
                    raise error
                return data
        return self._damage() if self._at else b""

    def _read(self) -> bytes:
        data = self._file.read(_PACKED_BYTES)
        self._packed_size += len(data)
        return data

    def _fill(self) -> bool:
        data = self._read()
        kept = self._packed[-_HISTORY:]
        self._packed, self._at = kept + data, len(kept)
        return bool(data)

    def _damage(self) -> bytes:
        """Go on with the next member that begins a record; return the line for this one."""
        self._damages.append(self._given)
        line = _DAMAGED_RECORD if self._member_size else _LOST_RECORD
        rest = self._packed[1:]
        while True:
            start = rest.find(_MEMBER)
            # the last bytes may begin a member
            rest = rest[start:] if start >= 0 else rest[1 - len(_MEMBER) :]
            begin = _begin_of_member(rest) if start >= 0 else b""
            if begin == _RECORD:
                break
            if not _RECORD.startswith(begin) or len(rest) > _HISTORY:
                rest = rest[1:]
                continue
            data = self._read()
            rest = rest + data if data else b""
            if not data:
                break
        self._begin(rest)
        return b"\r\n\r\n" + line + b"\r\n"


def _begin_of_member(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj(_GZIP).decompress(packed, len(_RECORD))
    except zlib.error:
        return b"damaged"
