"""Bodies of web pages as servers pack them: gzip, deflate and brotli (extra `web`)."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from sicetnon.formats.limits import Limits

_GZIP, _ZLIB, _RAW = 31, 15, -15


def unpacked(data: bytes, encodings: str, limits: Limits) -> bytes:
    """A body without its encodings.

    Args:
        data: The body.
        encodings: The header `Content-Encoding`: names in the order in which they were applied.
            Unknown ones are passed over, as crawlers name many that they have undone.
        limits: The body may be as long as one record, after each step.

    Raises:
        ValueError: It is damaged, or too long.
    """
    for name in reversed(encodings.lower().split(",")):
        unpack = _UNPACKERS.get(name.strip())
        if unpack is None or not data:
            continue
        try:
            data = unpack(data, limits.record_bytes + 1)
        except (zlib.error, ValueError) as error:
            raise ValueError(f"its page is damaged {name.strip()} data ({error})") from None
        if len(data) > limits.record_bytes:
            raise ValueError(f"its page {limits.beyond_record()}")
    return data


def _gunzip(data: bytes, most: int) -> bytes:
    return zlib.decompressobj(_GZIP).decompress(data, most)


def _inflate(data: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj(_ZLIB).decompress(data, most)
    except zlib.error:
        # some servers leave the frame out
        return zlib.decompressobj(_RAW).decompress(data, most)


def _unbrotli(data: bytes, most: int) -> bytes:
    import brotli

    try:
        return bytes(brotli.Decompressor().process(data, output_buffer_limit=most))
    except brotli.error as error:
        raise ValueError(error) from None


_UNPACKERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
}
