"""A JSON file that is one long list, read element by element in bounded memory.

The args.me corpus is one object around one list of over a gigabyte. A compiled scan finds where
each element begins and ends; only that slice is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.errors import DataError
from sicetnon.formats.files import CHUNK_BYTES, Reading, open_bytes

_QUOTE, _ESCAPE = ord('"'), ord("\\")
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_LIST, _CLOSE_LIST = ord("{"), ord("}"), ord("["), ord("]")


@compiled
def _scan(  # noqa: C901 - one small state machine
    data: NDArray[np.uint8], state: NDArray[np.int64], spans: NDArray[np.int64], base: int
) -> int:
    """Scan one chunk; `state` is (depth, in a string, after a backslash, depth of elements, start).

    Writes (start, end) of each element that ends here to `spans`, as offsets in the file.
    """
    depth, in_string, escaped, element_depth, start = state
    found = 0
    for position in range(data.size):
        byte = data[position]
        if in_string:
            if escaped:
                escaped = 0
            elif byte == _ESCAPE:
                escaped = 1
            elif byte == _QUOTE:
                in_string = 0
        elif byte == _QUOTE:
            in_string = 1
        elif byte in (_OPEN_OBJECT, _OPEN_LIST):
            if depth == element_depth and byte == _OPEN_OBJECT:
                start = base + position
            depth += 1
        elif byte in (_CLOSE_OBJECT, _CLOSE_LIST):
            depth -= 1
            if depth == element_depth and byte == _CLOSE_OBJECT and start >= 0:
                spans[found, 0] = start
                spans[found, 1] = base + position + 1
                found += 1
                start = -1
    state[0], state[1], state[2], state[4] = depth, in_string, escaped, start
    return found


class JsonArray:
    """The elements of the one list in a JSON file: the file's own, or that of its one object.

    Iterating yields (offset, bytes) for every element, an object each.

    Args:
        path: The file; gzip is fine.
        key: The name that the list has when the file is an object.
        reading: Counts the bytes read.
    """

    def __init__(self, path: Path | str, key: str, reading: Reading | None = None):
        self.path, self.key, self.reading = path, key, reading or Reading()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        with open_bytes(self.path, self.reading) as file:
            pending = file.read(CHUNK_BYTES).removeprefix(b"\xef\xbb\xbf")
            first = pending.lstrip()[:1]
            if first not in (b"{", b"["):
                raise self._not_a_list(
                    "an empty file" if not first else repr(first.decode("latin-1"))
                )
            state = np.array([0, 0, 0, 2 if first == b"{" else 1, -1], dtype=np.int64)
            yield from self._elements(file, pending, state)

    def _elements(
        self, file: object, pending: bytes, state: NDArray[np.int64]
    ) -> Iterator[tuple[int, bytes]]:
        # `pending` holds the file from offset `base` on; all before `used` is dealt with
        base, scanned, elements = 0, 0, 0
        head, chunk = b"", pending
        while chunk:
            spans = np.empty((len(chunk) // 2 + 1, 2), dtype=np.int64)
            found = _scan(np.frombuffer(chunk, dtype=np.uint8), state, spans, base + scanned)
            used = 0
            for start, end in spans[:found].tolist():
                glue = pending[used : start - base].strip()
                if elements == 0:
                    head = glue
                elif glue != b",":
                    raise self._bad_glue(glue, base + used, elements)
                yield start, pending[start - base : end - base]
                used = end - base
                elements += 1
            pending, base = pending[used:], base + used
            scanned = len(pending)
            chunk = file.read(CHUNK_BYTES)  # type: ignore[attr-defined]
            pending += chunk
        self._check_skeleton(head, pending.strip(), elements, state, base)

    def _check_skeleton(
        self, head: bytes, tail: bytes, elements: int, state: NDArray[np.int64], end: int
    ) -> None:
        if state[0] > 0 or state[1]:
            raise DataError(
                f'the JSON ends in the middle of element {elements + 1} of "{self.key}", so the '
                "file is cut short; copy or download it again",
                self.path,
                self.line_of(end),
            )
        try:
            outer = json.loads(head + tail)
        except (ValueError, UnicodeDecodeError):
            raise self._bad_glue(tail, end, elements) from None
        inner = outer.get(self.key) if isinstance(outer, dict) else outer
        if not isinstance(inner, list):
            raise self._not_a_list(f"an object with the keys {sorted(outer)[:5]}")
        if inner:
            raise self._bad_glue(repr(inner[0]).encode(), end, elements)

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

    def _bad_glue(self, glue: bytes, offset: int, elements: int) -> DataError:
        shown = glue[:40].decode("utf-8", "replace")
        return DataError(
            f'after element {elements} of "{self.key}" found {shown!r}; expected a comma and the '
            "next object, or the end of the list",
            self.path,
            self.line_of(offset),
        )
