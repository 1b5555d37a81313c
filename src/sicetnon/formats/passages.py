"""The passages of 2022 task 2: one JSON object a line, gzipped or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading, open_bytes, raw_lines
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.jsontext import decode
from sicetnon.records import Passage

EXPECTED = '{"id": "…", "contents": "…", "chatNoirUrl": "…"}'

Shape = TypeVar("Shape")


def read_passages(path: Path | str, reading: Reading | None = None) -> Iterator[Passage]:
    """Stream the passages of a file, in its order.

    Raises:
        DataError: A line is no passage, and `reading.on_error` raises.
    """
    for _, passage in read_json_lines(path, Passage, EXPECTED, reading, lambda each: each.id):
        yield passage


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
    """As `read_json_lines`, from an open file."""
    decoder = msgspec.json.Decoder(shape)
    for number, line in raw_lines(file, path, reading.limits):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
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
