"""A JSON file that is one long list, read element by element in bounded memory.

The args.me corpus is one object around one list of over a gigabyte. A compiled scan finds where
each element begins and ends; only that slice is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.formats.files import CHUNK_BYTES, Reading, open_bytes
from sicetnon.formats.jsontext import strict_json
from sicetnon.jit import compiled, inlined

_QUOTE, _ESCAPE = ord('"'), ord("\\")
# 8 bytes that are each the same
_ONES = np.uint64(0x0101010101010101)
_HIGH, _QUOTES, _ESCAPES = (
    _ONES * np.uint64(0x80),
    _ONES * np.uint64(_QUOTE),
    _ONES * np.uint64(_ESCAPE),
)
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_LIST, _CLOSE_LIST = ord("{"), ord("}"), ord("["), ord("]")


BOM = b"\xef\xbb\xbf"
_NOWHERE = -1
# what the plain scan takes, in seconds per byte
_SCANNING = 1e-8
_SPECIAL = re.compile(rb'["\\{}\[\]]')


def _plainly_scanned(  # noqa: C901 - the same state machine
    data: NDArray[np.uint8],
    key: NDArray[np.uint8],
    state: NDArray[np.int64],
    spans: NDArray[np.int64],
    base: int,
) -> int:
    """The same as `_scan`, from one bracket, quote or backslash to the next."""
    chunk, wanted = data.tobytes(), key.tobytes()
    depth, in_string, escaped, element_depth, start, shared = state.tolist()
    found = 0
    # the first byte may be escaped by the chunk before
    position = string_start = escaped
    while special := _SPECIAL.search(chunk, position):
        position, byte = special.start(), special.group()[0]
        if in_string:
            if depth == 1:
                shared = _shared(chunk[string_start:position], wanted, shared)
            in_string = int(byte != _QUOTE)
            if byte == _ESCAPE:
                # what follows it is not compared with the key
                position += 1
                string_start = position + 1
        elif byte == _QUOTE:
            in_string, string_start = 1, position + 1
            shared = 0 if depth == 1 else shared
        elif byte in (_OPEN_OBJECT, _OPEN_LIST):
            if depth == element_depth and byte == _OPEN_OBJECT:
                start = base + position
            elif depth == 1 and shared == len(wanted) and byte == _OPEN_LIST:
                element_depth = 2
            depth += 1
        elif byte in (_CLOSE_OBJECT, _CLOSE_LIST):
            depth -= 1
            if depth < element_depth:
                element_depth = _NOWHERE
            elif depth == element_depth and byte == _CLOSE_OBJECT and start >= 0:
                spans[found] = start, base + position + 1
                found += 1
                start = _NOWHERE
        position += 1
    if in_string and depth == 1:
        shared = _shared(chunk[string_start:], wanted, shared)
    escaped = int(position > len(chunk))
    state[:] = (depth, in_string, escaped, element_depth, start, shared)
    return found


def _shared(part: bytes, key: bytes, shared: int) -> int:
    """Bytes of the key that a string shares after one more part of it."""
    if shared == _NOWHERE or key[shared : shared + len(part)] != part:
        return _NOWHERE
    return shared + len(part)


@inlined(allocates=False)
def _next_in_string(data: NDArray[np.uint8], words: NDArray[np.uint64], position: int) -> int:
    """The place of the next quote or backslash: eight bytes are looked at at once."""
    while position < data.size:
        if not position & 7:
            word = position >> 3
            while word < words.size and not _has_special(words[np.uint64(word)]):
                word += 1
            position = max(position, word << 3)
            if position == data.size:
                break
        byte = data[np.uint64(position)]
        if byte in (_QUOTE, _ESCAPE):
            break
        position += 1
    return position


@inlined(allocates=False)
def _has_special(word: np.uint64) -> bool:
    """Whether one of eight bytes is a quote or a backslash (Warren, Hacker's Delight, 6-1)."""
    quote, escape = word ^ _QUOTES, word ^ _ESCAPES
    zero = (quote - _ONES) & ~quote | (escape - _ONES) & ~escape
    return bool(zero & _HIGH)


@compiled(
    numpy=_plainly_scanned,
    seconds=lambda data, *_: _SCANNING * data.size,
    allocates=False,
)
def _scan(  # noqa: C901 - one small state machine
    data: NDArray[np.uint8],
    key: NDArray[np.uint8],
    state: NDArray[np.int64],
    spans: NDArray[np.int64],
    base: int,
) -> int:
    """Scan one chunk; `state` is (depth, in a string, after a backslash, depth of elements, start,
    bytes of the key that the last string of the outer object shares).

    Writes (start, end) of each element that ends here to `spans`, as offsets in the file.
    """
    depth, in_string, escaped, element_depth, start, shared = state
    found, position = 0, -1
    words = data[: data.size // 8 * 8].view(np.uint64)
    while position + 1 < data.size:
        position += 1
        if in_string and depth != 1 and not escaped:
            position = _next_in_string(data, words, position)
            if position == data.size:
                break
        byte = data[position]
        if in_string:
            if escaped:
                escaped = 0
            elif byte == _ESCAPE:
                escaped = 1
            elif byte == _QUOTE:
                in_string = 0
            elif depth == 1 and shared != _NOWHERE:
                same = shared < key.size and byte == key[shared]
                shared = shared + 1 if same else _NOWHERE
        elif byte == _QUOTE:
            in_string = 1
            if depth == 1:
                shared = 0
        elif byte in (_OPEN_OBJECT, _OPEN_LIST):
            if depth == element_depth and byte == _OPEN_OBJECT:
                start = base + position
            elif depth == 1 and shared == key.size and byte == _OPEN_LIST:
                element_depth = 2
            depth += 1
        elif byte in (_CLOSE_OBJECT, _CLOSE_LIST):
            depth -= 1
            if depth < element_depth:
                element_depth = _NOWHERE
            elif depth == element_depth and byte == _CLOSE_OBJECT and start >= 0:
                spans[found, 0] = start
                spans[found, 1] = base + position + 1
                found += 1
                start = _NOWHERE
    state[:] = (depth, in_string, escaped, element_depth, start, shared)
    return found


class JsonArray:
    """The elements of the one list in a JSON file: the file's own, or that of its one object.

    Iterating yields (offset, bytes) for every element, an object each.
    """

    def __init__(self, path: Path | str, key: str, reading: Reading | None = None):
        self.path, self.key, self.reading = path, key, reading or Reading()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        longest = self.reading.limits.record_bytes
        with open_bytes(self.path, self.reading) as file:
            pending = b""
            while len(pending) <= len(BOM) or not pending.removeprefix(BOM).strip():
                if not (chunk := file.read(self.reading.chunk_bytes)):
                    break
                pending += chunk
                if len(pending) > longest:
                    raise self._too_long(0, 0)
            if pending.startswith(BOM):
                # blanks instead, so that offsets stay those of the file
                pending = pending.replace(BOM, b" " * len(BOM), 1)
            first = pending.lstrip()[:1]
            if first not in (b"{", b"["):
                raise self._not_a_list(
                    "an empty file" if not first else repr(first.decode("latin-1"))
                )
            depth = 1 if first == b"[" else _NOWHERE
            state = np.array([0, 0, 0, depth, _NOWHERE, _NOWHERE], dtype=np.int64)
            yield from self._elements(file, pending, state)

    def _elements(
        self, file: BinaryIO, pending: bytes, state: NDArray[np.int64]
    ) -> Iterator[tuple[int, bytes]]:
        # `pending` holds the file from offset `base` on; all before `used` is dealt with
        key = np.frombuffer(self.key.encode(), dtype=np.uint8)
        base, scanned, elements = 0, 0, 0
        longest = self.reading.limits.record_bytes
        head, usual, chunk = b"", b",", pending
        while chunk:
            spans = np.empty((len(chunk) // 2 + 1, 2), dtype=np.int64)
            data = np.frombuffer(chunk, dtype=np.uint8)
            found = _scan(data, key, state, spans, base + scanned)
            used = 0
            for start, end in spans[:found].tolist():
                glue = pending[used : start - base]
                if elements == 0:
                    head = glue
                    self._check_head(head)
                elif glue != usual:
                    if glue.strip() != b",":
                        raise self._bad_glue(glue, base + used, elements)
                    usual = glue
                if end - start > longest:
                    raise self._too_long(elements, start)
                yield start, pending[start - base : end - base]
                used = end - base
                elements += 1
            pending, base = pending[used:], base + used
            scanned = len(pending)
            if scanned > longest:
                raise self._too_long(elements, base)
            chunk = file.read(self.reading.chunk_bytes)
            pending += chunk
        self._check_end(state, elements, base)
        self._check_skeleton(head, pending, elements, base)

    def _check_head(self, head: bytes) -> None:
        """Check that the first element is the first thing in its list."""
        place = head.rfind(b"[") + 1
        if head[place:].strip():
            raise self._bad_glue(head[place:], place, 0)

    def _check_end(self, state: NDArray[np.int64], elements: int, end: int) -> None:
        depth, in_string, start = state[0], state[1], int(state[4])
        if depth > 0 or in_string:
            raise DataError(
                f'the JSON ends in the middle of element {elements + 1} of "{self.key}", so the '
                "file is cut short; copy or download it again",
                self.path,
                self.line_of(end if start == _NOWHERE else start),
            )

    def _check_skeleton(self, head: bytes, tail: bytes, elements: int, end: int) -> None:
        """Check the rest of the file, which must be JSON without the elements, too."""
        try:
            outer = strict_json((head + tail).decode("latin-1"))
        except ValueError as error:
            place = getattr(error, "pos", len(head))
            if place < len(head):
                raise self._bad_glue(head[place:], place, 0) from None
            raise self._bad_glue(tail, end, elements) from None
        except RecursionError:
            raise self._not_a_list("lists and objects nested too deeply") from None
        inner = outer.get(self.key) if isinstance(outer, dict) else outer
        if not isinstance(inner, list):
            raise self._not_a_list(f"an object with the keys {sorted(outer)[:5]}")
        if inner:
            raise self._bad_glue(json.dumps(inner[0]).encode(), end, elements)

    def line_of(self, offset: int) -> int:
        """The line that holds the byte at an offset (reads the file again: for messages only)."""
        lines = 1
        with open_bytes(self.path) as file:
            while offset > 0 and (chunk := file.read(min(CHUNK_BYTES, offset))):
                lines += chunk.count(b"\n")
                offset -= len(chunk)
        return lines

    def _not_a_list(self, found: str) -> DataError:
        return DataError(
            f'found {found}; expected {{"{self.key}": [{{…}}, …]}} or a list of objects', self.path
        )

    def _too_long(self, elements: int, offset: int) -> DataError:
        what = f'element {elements + 1} of "{self.key}", with the bytes before it,'
        return self.reading.limits.too_long(what, self.path, self.line_of(offset))

    def _bad_glue(self, glue: bytes, offset: int, elements: int) -> DataError:
        """The error of bytes at an offset that are no separator of two elements."""
        place = f"after element {elements}" if elements else "before the first element"
        shown = glue.strip()[:40].decode("utf-8", "replace")
        rest = glue.lstrip().removeprefix(b",").lstrip()
        return DataError(
            f'{place} of "{self.key}" found {shown!r}; expected a comma and '
            "the next object, or the end of the list",
            self.path,
            self.line_of(offset + len(glue) - len(rest)),
        )
