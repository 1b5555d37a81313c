"""JSON as crawls have it: JSON Lines, and one long list, read record by record in bounded memory.

Records are decoded strictly, but for escapes that name half a character.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TypeVar

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import CHUNK_BYTES, Reading, open_bytes, raw_lines
from sicetnon.formats.identifiers import check_identifier

Shape = TypeVar("Shape")

BOM = b"\xef\xbb\xbf"
_TOO_DEEP = "its lists and objects are nested too deeply"
_NOWHERE = -1
# elements are parsed again, strictly: here any object will do whose end can be told
_LENIENT, _SKIPPING = json.JSONDecoder(strict=False), msgspec.json.Decoder(msgspec.Raw)
# pieces of a chunk that fit the caches, and bytes of a usual element
_PIECE_BYTES, _USUAL_BYTES = 1 << 18, 1 << 16
_FIRST_KEY = re.compile(r'\{[ \t\r\n]*"[^"\\]*"')
# a string, whose group is empty if it is cut, or a bracket; possessive, so that time is linear
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\]]', re.DOTALL)


def decode(decoder: msgspec.json.Decoder[Shape], data: bytes) -> Shape:
    r"""Decode JSON; a lone `\\ud83d` becomes U+FFFD.

    Raises:
        ValueError: It is no UTF-8, no JSON, of another shape than the decoder's, or nested deeper
            than Python's limit on recursion.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_mended(decoder, data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _decode_mended(decoder: msgspec.json.Decoder[Shape], data: bytes) -> Shape:
    try:
        parsed = strict_json(_text(data))
        return msgspec.convert(mended(parsed), decoder.type)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def strict_json(text: str) -> Any:
    """Parse JSON as its standard has it, which Python does not: NaN and Infinity are no JSON.

    Raises:
        ValueError: It is no JSON, or holds a number beyond 64 bits of floating point.
    """
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found the number {text[:40]}; expected a finite one")
    return value


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} of it is not UTF-8; save the file as UTF-8"
        ) from None


def valid_text(text: str) -> str:
    """A text with U+FFFD for each half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def name_of(path: PathLike[str] | str) -> str:
    """The name of a file as text; U+FFFD stands for bytes that are no UTF-8."""
    return valid_text(PurePath(path).name)


def mended(value: Any) -> Any:
    """Parsed JSON with U+FFFD for each half of a character, which escapes in crawls name."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list | tuple):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value


def read_json_lines(
    path: Path | str,
    shape: type[Shape],
    expected: str,
    reading: Reading | None = None,
    identifier: Callable[[Shape], str] | None = None,
) -> Iterator[tuple[int, Shape]]:
    """Decode each line of a JSON Lines file, with its number; blank lines are passed over.

    Args:
        path: The file; gzip is fine.
        shape: The type of a line, for msgspec.
        expected: An example of a good line, for messages.
        reading: Counts bytes; handles unusable lines.
        identifier: Takes the id from a record; unusable ids make unusable lines.
    """
    reading = reading or Reading()
    with open_bytes(path, reading) as file:
        yield from json_lines_in(file, path, shape, expected, reading, identifier)


def json_lines_in(
    file: BinaryIO,
    path: Path | str,
    shape: type[Shape],
    expected: str,
    reading: Reading,
    identifier: Callable[[Shape], str] | None = None,
) -> Iterator[tuple[int, Shape]]:
    """Decode each line of an open JSON Lines file."""
    decoder = msgspec.json.Decoder(shape)
    for number, line in raw_lines(file, path, reading.limits):
        text = line.removeprefix(BOM) if number == 1 else line
        if text.isspace() or not text:
            continue
        try:
            record = decode(decoder, text)
            if identifier is not None:
                check_identifier(identifier(record))
        except ValueError as error:
            what = f"the line cannot be used: {error}; expected {expected}"
            reading.on_error(DataError(what, path, number))
        else:
            yield number, record


class JsonArray:
    """The elements of the one list in a JSON file: the file's own, or that of its one object.

    Iterating yields (offset, bytes) for every element, an object each.
    """

    def __init__(self, path: Path | str, key: str, reading: Reading | None = None):
        self.path, self.key, self.reading = path, key, reading or Reading()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        with open_bytes(self.path, self.reading) as file:
            pending = self._begin(file)
            yield from self._elements(file, pending)

    def _begin(self, file: BinaryIO) -> bytes:
        """The first bytes of the file, with more than blanks, the byte order mark blanked."""
        pending = b""
        while len(pending) <= len(BOM) or not pending.removeprefix(BOM).strip():
            if not (chunk := file.read(self.reading.chunk_bytes)):
                break
            pending += chunk
            if len(pending) > self.reading.limits.record_bytes:
                raise self._too_long(0, 0)
        if pending.startswith(BOM):
            # blanks instead, so that offsets stay those of the file
            pending = pending.replace(BOM, b" " * len(BOM), 1)
        first = pending.lstrip()[:1]
        if first not in (b"{", b"["):
            raise self._not_a_list("an empty file" if not first else repr(first.decode("latin-1")))
        return pending

    def _elements(  # noqa: C901 - one small state machine
        self, file: BinaryIO, pending: bytes
    ) -> Iterator[tuple[int, bytes]]:
        # Latin-1 has one letter for each byte, and JSON's own signs are the same in UTF-8. `text`
        # holds the file from offset `base` on; elements up to `used` are yielded, and tokens up
        # to `position` are read
        text = pending.decode("latin-1")
        base = used = position = depth = elements = 0
        element_depth = 1 if pending.lstrip().startswith(b"[") else _NOWHERE
        head, last_string, start = b"", "", _NOWHERE
        while True:
            token = _TOKEN.search(text, position)
            sign, end = token[0] if token else "", token.end() if token else len(text)
            is_cut = token is None
            if token and sign == "{" and depth == element_depth:
                start = base + token.start()
                end = _end_of_object(text, token.start())
                is_cut = end == _NOWHERE
                # of an object that a square bracket closes, the glue tells below
                if not is_cut and text[end - 1] == "}":
                    glue = text[used : token.start()]
                    self._check_glue(glue.encode("latin-1"), base + used, elements)
                    head = head if elements else glue.encode("latin-1")
                    for begin, data in _alike(text, used, token.start(), end):
                        if len(data) > self.reading.limits.record_bytes:
                            raise self._too_long(elements, base + begin)
                        yield base + begin, data
                        used, elements = begin + len(data), elements + 1
                    end, start = used, _NOWHERE
            elif sign in ("{", "["):
                if sign == "[" and depth == 1 and last_string == self.key:
                    element_depth = 2
                depth += 1
            elif sign in ("}", "]"):
                depth -= 1
                if depth < element_depth:
                    element_depth = _NOWHERE
            elif token:
                is_cut = not token[1]
                if depth == 1:
                    last_string = sign[1:-1]
            if not is_cut:
                position = end
                continue
            position = (token.start() if token else len(text)) - used
            text, base, used = text[used:], base + used, 0
            if len(text) > self.reading.limits.record_bytes:
                raise self._too_long(elements, base)
            if not (chunk := file.read(min(self.reading.chunk_bytes, _PIECE_BYTES))):
                break
            text += chunk.decode("latin-1")
        if depth > 0 or token:
            raise DataError(
                f'the JSON ends in the middle of element {elements + 1} of "{self.key}", so the '
                "file is cut short; copy or download it again",
                self.path,
                self.line_of(base if start == _NOWHERE else start),
            )
        self._check_skeleton(head, text.encode("latin-1"), elements, base)

    def _check_glue(self, glue: bytes, offset: int, elements: int) -> None:
        """Check the bytes before an element: the first is the first thing in its list."""
        if not elements:
            begin = glue.rfind(b"[") + 1
            if glue[begin:].strip():
                raise self._bad_glue(glue[begin:], begin, 0)
        elif glue.strip() != b",":
            raise self._bad_glue(glue, offset, elements)

    def _check_skeleton(self, head: bytes, tail: bytes, elements: int, end: int) -> None:
        """Check the rest of the file, which must be JSON without the elements, too."""
        try:
            outer = strict_json((head + tail).decode("latin-1"))
        except ValueError as error:
            position = getattr(error, "pos", len(head))
            if position < len(head):
                raise self._bad_glue(head[position:], position, 0) from None
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
        where = f"after element {elements}" if elements else "before the first element"
        cut = glue.strip()[:40].decode("utf-8", "replace")
        rest = glue.lstrip().removeprefix(b",").lstrip()
        return DataError(
            f'{where} of "{self.key}" found {cut!r}; expected a comma and '
            "the next object, or the end of the list",
            self.path,
            self.line_of(offset + len(glue) - len(rest)),
        )


def _alike(text: str, used: int, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """An element, and those after it that end and begin alike: their border is fast to find."""
    glue, key = text[used:begin], _FIRST_KEY.match(text, begin)
    yield begin, text[begin:end].encode("latin-1")
    if not key or not text.startswith(glue + key[0], end):
        return
    begin = end + len(glue)
    while end := text.find(f"}}{glue}{key[0]}", begin, begin + _USUAL_BYTES) + 1:
        data = text[begin:end].encode("latin-1")
        try:
            _SKIPPING.decode(data)
        except (msgspec.DecodeError, RecursionError):
            return  # the border is one inside the element
        yield begin, data
        begin = end + len(glue)


def _end_of_object(text: str, start: int) -> int:
    """The end of the object that begins at a position, or -1 if the text ends before it."""
    try:
        return _LENIENT.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        # it is no JSON, nested deeply, or cut: its brackets tell
        depth = 0
        for token in _TOKEN.finditer(text, start):
            if token[0] in ("{", "["):
                depth += 1
            elif token[0] in ("}", "]"):
                depth -= 1
                if not depth:
                    return token.end()
            elif not token[1]:
                break
        return _NOWHERE
