"""Mutations of files: bytes are changed, cut, repeated, or put in from a list of tricky ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from random import Random

TOKENS = tuple(
    token.encode("utf-8", "surrogatepass")
    for token in (
        "NaN", "Infinity", "-Infinity", "1e999", "-1e-999", "1e5", "0x10", "1_000", "٣", "²", "½",
        "9" * 30, "9" * 400, "-1", "-0", "99999999999", "2147483648", "1.5", "true", "null", "",
        '"', "'", "\\", '\\"', "\\ud800", "\\udc00\\ud800", "\\u0000", "\\",
        "{", "}", "[", "]", ",", ":",
        "[" * 3000, '{"a":' * 3000, "(" * 1500, "-" * 3000, " " * 3000, '"' * 999, "\\" * 999,
        "\n", "\r", "\r\n", "\t", " ", "\x00", "\x0b", "\x1b[31m", "\x85", "\u2028", "\u202e",
        "\ufeff",
        "\ud800", "é", "学", "🦁", "x" * 5000, "<", ">", "&", "&lt;", "&#0;", "&#xD800;",
        "&#x110000;",
        "<!--", "-->", "<![CDATA[", "]]>", "<![ endif]-->", "<?xml version='1.0' encoding='x'?>",
        '<!DOCTYPE a [<!ENTITY b "c">]>', "<a " * 800, "<div>" * 900, "</topic>", "<topic>",
        "__import__('os')",
        "{1: [2]}", "[]", "{}", "''", '""', "None", "Q0", "WARC/1.0\r\n", "Content-Length: -1\r\n",
        "Content-Length: 99999999999999\r\n", "Transfer-Encoding: chunked\r\n",
        "Content-Encoding: gzip\r\n",
    )
)  # fmt: skip
Mutation = Callable[[bytearray, Random], None]


def mutated(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """Data with one to eight mutations, sometimes with a part of other data, sometimes gzipped."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(MUTATIONS)(changed, rng)
    if others and rng.random() < 0.05:
        _splice(changed, rng, rng.choice(others))
    if rng.random() < 0.03:
        zipped = bytearray(gzip.compress(changed, 1))
        if rng.random() < 0.5:
            rng.choice(MUTATIONS)(zipped, rng)
        return bytes(zipped)
    return bytes(changed)


def _span(data: bytearray, rng: Random) -> tuple[int, int]:
    begin = rng.randint(0, len(data))
    return begin, min(len(data), begin + rng.choice((1, 1, 2, 5, 20, 200)))


def _flip(data: bytearray, rng: Random) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(data: bytearray, rng: Random) -> None:
    begin, end = _span(data, rng)
    data[begin:end] = rng.randbytes(end - begin)


def _delete(data: bytearray, rng: Random) -> None:
    begin, end = _span(data, rng)
    del data[begin:end]


def _repeat(data: bytearray, rng: Random) -> None:
    begin, end = _span(data, rng)
    data[begin:begin] = data[begin:end] * rng.choice((1, 2, 50))


def _insert(data: bytearray, rng: Random) -> None:
    begin = rng.randint(0, len(data))
    data[begin:begin] = rng.choice(TOKENS)


def _replace(data: bytearray, rng: Random) -> None:
    begin, end = _span(data, rng)
    data[begin:end] = rng.choice(TOKENS)


def _replace_word(data: bytearray, rng: Random) -> None:
    """Put a tricky token in place of a word or a number."""
    begin = end = rng.randint(0, len(data))
    while begin and data[begin - 1 : begin].isalnum():
        begin -= 1
    while data[end : end + 1].isalnum():
        end += 1
    data[begin:end] = rng.choice(TOKENS)


def _cut(data: bytearray, rng: Random) -> None:
    del data[rng.randint(0, len(data)) :]


def _swap_lines(data: bytearray, rng: Random) -> None:
    lines = bytes(data).splitlines(keepends=True)
    rng.shuffle(lines)
    data[:] = b"".join(lines)


def _splice(data: bytearray, rng: Random, other: bytes) -> None:
    begin = rng.randint(0, len(data))
    data[begin:] = other[rng.randint(0, len(other)) :]


MUTATIONS: tuple[Mutation, ...] = (
    _flip,
    _flip,
    _overwrite,
    _delete,
    _repeat,
    _insert,
    _insert,
    _replace,
    _replace_word,
    _replace_word,
    _cut,
    _swap_lines,
)
