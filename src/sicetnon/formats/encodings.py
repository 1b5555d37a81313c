"""Bodies of web pages as servers pack them: content and transfer codings (extra `web`)."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable

import zstandard

from sicetnon.formats.files import GZIP_MAGIC
from sicetnon.formats.limits import Limits

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


def unpacked(data: bytes, codings: str, limits: Limits) -> bytes:
    """A body without its codings.

    Crawlers undo codings and keep the header: a body that is text stays as it is. A body that is
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
    """The chunks without their sizes; a body that does not begin with a chunk stays as it is."""
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
