"""Pages of the web: WARC archives and HTML files (extra `web`).

The page of an HTML file is called as the file is, without its ending; in a folder that is read
recursively, by its path from there (`forums/laptop-or-desktop`), so that each has an id of its own.

A page's text is its main content, found by resiliparse: no menus, headers and footers, but with
comments, since in forums they are the content.

A damaged record of an archive (ISO 28500) costs one record: reading goes on with the next line that
begins a record. In a gzipped archive each record is a member of its own, so damaged gzip data costs
its member.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote

import zstandard

from sicetnon.errors import DataError
from sicetnon.formats.files import GZIP_MAGIC, Limits, Reading, open_packed, read_all
from sicetnon.formats.html import Html, charset_in, check_extra, host_of, parse_guarded
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.page_scores import PageScores, SideFiles
from sicetnon.records import WebPage

ARCHIVES = (".warc", ".warc.gz")
PAGES = (".html", ".htm", ".xhtml")
# white space, and bytes of a name that are no UTF-8
_UNFIT = re.compile(r"[\s\ud800-\udfff]")
WHAT = "Reading web pages"


class WebPages:
    """The pages of several files: each with an id of its own, and with scores from side files.

    Raises:
        DataError: Two files would give pages of one id, or a side file cannot be read.
    """

    def __init__(self, sources: Sequence[Path | str], files: Sequence[Path | str], side: SideFiles):
        self._files, self._side = files, side
        self._names = _page_names(sources)
        side.check()

    def read(self, path: Path | str, reading: Reading) -> Iterator[WebPage]:
        """Stream the pages of one of the files."""
        for page in read_web_pages(path, reading, self._names.get(Path(path))):
            yield self._scores.on(page)

    @functools.cached_property
    def _scores(self) -> PageScores:
        if not self._side.files:
            return PageScores()
        # archives are read twice, first for their ids: side files may be far larger
        wanted = set(self._names.values())
        for file in self._files:
            if _is_archive(file):
                wanted.update(_archived_names(file))
        return self._side.read(wanted)


def _page_names(sources: Sequence[Path | str]) -> dict[Path, str]:
    """The ids of the pages of HTML files, by file."""
    names: dict[Path, str] = {}
    for source in map(Path, sources):
        if source.is_dir():
            found = {path: path.relative_to(source) for path in page_files(source)}
        else:
            found = {source: Path(source.name)}
        names |= {path: _page_name(name) for path, name in found.items() if not _is_archive(path)}
    called: dict[str, Path] = {}
    for path, name in names.items():
        other = called.setdefault(name, path)
        if other != path:
            raise DataError(
                f"its page would be called {name!r}, as that of {other} is; rename one, or index "
                "the folder that holds both",
                path,
            )
    return names


def _page_name(path: Path) -> str:
    """A path without its ending; what an id cannot hold is written as in an address."""
    return _UNFIT.sub(lambda part: quote(os.fsencode(part[0])), path.with_suffix("").as_posix())


def _is_archive(path: Path | str) -> bool:
    return Path(path).name.lower().endswith(ARCHIVES)


def page_files(directory: Path) -> list[Path]:
    """All archives and pages below a directory, in the order of their names."""
    return sorted(path for path in directory.rglob("*") if is_pages(path) and path.is_file())


def is_pages(path: Path | str) -> bool:
    """Whether a file is an archive or a page by its name."""
    return Path(path).name.lower().endswith(ARCHIVES + PAGES)


def read_web_pages(
    path: Path | str, reading: Reading | None = None, name: str | None = None
) -> Iterator[WebPage]:
    """Stream the pages of an archive, or the one of an HTML file.

    A page of an archive is called as its `WARC-TREC-ID` says, else by its record id. Answers of
    servers that are no HTML, empty, or tell of an error are passed over.

    Args:
        path: The file.
        reading: Counts bytes; handles unusable pages.
        name: The id of the page of an HTML file; the file's name without its ending when left out.

    Raises:
        MissingExtraError: The libraries are not installed.
        DataError: The archive is damaged or a page cannot be used, and `reading.on_error` raises.
    """
    check_extra(WHAT)
    reading = reading or Reading()
    if _is_archive(path):
        yield from _archived(path, reading)
    else:
        yield from _single(path, reading, name or _page_name(Path(Path(path).name)))


def read_page(
    identifier: str,
    data: bytes,
    url: str = "",
    charset: str | None = None,
    limits: Limits | None = None,
) -> WebPage:
    """A page from its HTML.

    Args:
        identifier: Its id.
        data: The HTML.
        url: Its address; the one that the page itself gives when left out.
        charset: The encoding that the server gave; the page's own, else a guess, when left out.
        limits: Limits on time and memory; those of the environment when left out.

    Raises:
        ValueError: The id cannot stand in a run, or the HTML cannot be parsed within the limits.
    """
    check_identifier(identifier)
    parsed = parse_guarded(Html(data, charset), limits or Limits.from_environment())
    url = url or parsed.url
    return WebPage(id=identifier, title=parsed.title, text=parsed.text, url=url, host=host_of(url))


def _archived(path: Path | str, reading: Reading) -> Iterator[WebPage]:
    for record in _records(path, reading):
        try:
            page = _page_of(record, reading.limits)
        except ValueError as error:
            what = f"record {record.number} cannot be used: {error}"
            reading.on_error(DataError(what, path))
        else:
            if page is not None:
                yield page


def _archived_names(path: Path | str) -> Iterator[str]:
    """The ids of an archive's records; `_archived` reports its damages."""
    with contextlib.suppress(DataError):
        yield from map(_record_name, _records(path, Reading(lambda _: None)))


def _records(path: Path | str, reading: Reading) -> Iterator[WarcRecord]:
    kinds = ("response", "resource")
    for record in read_warc(path, reading):
        if record.headers.get("warc-type", "").lower() in kinds:
            yield record


def _record_name(record: WarcRecord) -> str:
    identifier = record.headers.get("warc-record-id", "").strip("<>")
    return record.headers.get("warc-trec-id") or identifier


def _page_of(record: WarcRecord, limits: Limits) -> WebPage | None:
    """The page of a record, or None if it holds none.

    Raises:
        ValueError: It cannot be used.
    """
    kind, codings, data = record.headers.get("content-type", ""), "", record.block
    if kind.lower().startswith("application/http") or data.startswith(b"HTTP/"):
        status, headers, data = http_response(data)
        if status >= 300:
            return None
        kind = headers.get("content-type", "")
        names = ("content-encoding", "transfer-encoding")
        codings = ",".join(headers.get(name, "") for name in names)
    if "html" not in (kind.lower() or "text/html"):
        return None
    data = without_codings(data, codings, limits)
    charset = charset_in(kind)
    if not data.strip() or not (is_text(data) or (charset or "").lower().startswith("utf-16")):
        return None
    url = record.headers.get("warc-target-uri", "").strip("<>")
    return read_page(_record_name(record), data, url, charset, limits)


def _single(path: Path | str, reading: Reading, name: str) -> Iterator[WebPage]:
    data = read_all(path, reading)
    try:
        yield read_page(name, data, limits=reading.limits)
    except ValueError as error:
        reading.on_error(DataError(f"the page cannot be used: {error}", path))


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
                _archive_content(file, path, reading.limits, damages), damages, path, reading
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
        # the stand-in for lost bytes may have their length
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


def _archive_content(
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
        history = self._packed[-_HISTORY:]
        self._packed, self._at = history + data, len(history)
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


_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# browsers take no larger window (RFC 8878, 3.1.1.1.2)
_ZSTD_WINDOW = 8 << 20
_CHUNKED = "chunked"
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")
_LINE_END = re.compile(rb"\r?\n|\Z")
# of a body that was packed more often than its header says
_MOST_LAYERS = 4
# bytes that no text holds (MIME Sniffing Standard, 3), and the sample that is searched for them
_BINARY = bytes({*range(0x20)} - set(b"\t\n\f\r\x1b"))
_SAMPLE, _SAMPLE_SHARE = 1024, 50
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

Unpacked = tuple[bytes, bool]
"""Unpacked bytes, and whether the packed data ends where it says."""


def without_codings(data: bytes, codings: str, limits: Limits) -> bytes:
    """A body without its codings.

    Crawlers undo codings and keep the header: a body that is text stays unchanged. A body that is
    cut is unpacked up to the cut.

    Args:
        data: The body.
        codings: The headers `Content-Encoding` and `Transfer-Encoding`, joined by a comma: names in
            the order in which they were applied.
        limits: The body may be as long as one record, after each step.

    Raises:
        ValueError: It is damaged, too long, or packed in another way.
    """
    names = [name.strip() for name in codings.lower().split(",")]
    for name in reversed(names):
        if name == _CHUNKED:
            data = _unchunked(data)
        elif name in _UNPACKERS:
            data = _unpack(data, name, limits)
    for _ in range(_MOST_LAYERS):
        magic = next((name for start, name in _MAGIC.items() if data.startswith(start)), None)
        if magic is None:
            break
        data = _unpack(data, magic, limits)
    unknown = [name for name in names if name not in ("", _CHUNKED, *_UNPACKERS)]
    if unknown and not is_text(data):
        raise ValueError(
            f"its page is packed by {', '.join(unknown)}; expected {', '.join(_UNPACKERS)}"
        )
    return data


def is_text(data: bytes) -> bool:
    """Whether data is text by its first bytes, and no packed or binary data."""
    sample = data[:_SAMPLE]
    binary = len(sample) - len(sample.translate(None, _BINARY))
    return binary * _SAMPLE_SHARE <= len(sample) or data.startswith(_UTF16)


def _unpack(data: bytes, name: str, limits: Limits) -> bytes:
    try:
        result, is_complete = _UNPACKERS[name](data, limits.record_bytes + 1)
    except (zlib.error, zstandard.ZstdError, ValueError) as error:
        if is_text(data):
            return data
        raise ValueError(f"its page is damaged {name} data ({error})") from None
    if len(result) > limits.record_bytes:
        raise ValueError(f"its page {limits.beyond_record()}")
    if not is_complete and b"<" in data[:_SAMPLE] and is_text(data):
        return data
    if data and not is_complete and not result:
        raise ValueError(f"its page is {name} data that is cut short")
    return result


def _inflate(data: bytes, most: int, bits: int) -> Unpacked:
    decoder = zlib.decompressobj(bits)
    return decoder.decompress(data, most), decoder.eof


def _gunzip(data: bytes, most: int) -> Unpacked:
    """All members, with zeros between them, up to something else."""
    if data and not data.startswith(GZIP_MAGIC):
        return _inflate(data, most, _ZLIB)
    result, is_complete = b"", not data
    while data and len(result) < most:
        decoder = zlib.decompressobj(_GZIP)
        result += decoder.decompress(data, most - len(result))
        is_complete, data = decoder.eof, decoder.unused_data.lstrip(b"\0")
        if not data.startswith(GZIP_MAGIC):
            break
    return result, is_complete


def _deflated(data: bytes, most: int) -> Unpacked:
    if data.startswith(GZIP_MAGIC):
        return _gunzip(data, most)
    try:
        return _inflate(data, most, _ZLIB)
    except zlib.error:
        # some servers leave the frame out
        return _inflate(data, most, _RAW)


def _unbrotli(data: bytes, most: int) -> Unpacked:
    import brotli

    decoder = brotli.Decompressor()
    try:
        return bytes(decoder.process(data, output_buffer_limit=most)), decoder.is_finished()
    except brotli.error as error:
        raise ValueError(error) from None


def _unzstd(data: bytes, most: int) -> Unpacked:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    with decoder.stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
        result = reader.read(most)
    return result, bool(result)


_UNPACKERS: dict[str, Callable[[bytes, int], Unpacked]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}
_MAGIC = {GZIP_MAGIC: "gzip", _ZSTD_MAGIC: "zstd"}


def _unchunked(data: bytes) -> bytes:
    """The chunks without their sizes; a body that does not begin with a chunk is unchanged."""
    chunks: list[bytes] = []
    position = 0
    while match := _CHUNK.match(data, position):
        size, begin = int(match[1], 16), match.end()
        if not size:
            return b"".join(chunks)
        chunks.append(data[begin : begin + size])
        end = _LINE_END.match(data, min(begin + size, len(data)))
        if end is None:
            raise ValueError("its page is damaged chunked data")
        position = end.end()
    if not position:
        return data
    if b"\n" in data[position:]:
        raise ValueError("its page is damaged chunked data")
    return b"".join(chunks)
