"""The passages of 2022 task 2: one JSON object a line, gzipped or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading, open_bytes
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
    reading = reading or Reading()
    for line, passage in read_json_lines(path, Passage, EXPECTED, reading):
        try:
            check_identifier(passage.id)
        except ValueError as error:
            reading.on_error(DataError(f"{error}; expected {EXPECTED}", path, line))
        else:
            yield passage


def read_json_lines(
    path: Path | str, shape: type[Shape], expected: str, reading: Reading | None = None
) -> Iterator[tuple[int, Shape]]:
    """Decode each line of a JSON Lines file, with its number; blank lines are passed over.

    Args:
        path: The file; gzip is fine.
        shape: What a line must decode to, for msgspec.
        expected: An example of a good line, for messages.
        reading: Counts bytes; decides what becomes of bad lines.
    """
    reading = reading or Reading()
    decoder = msgspec.json.Decoder(shape)
    with open_bytes(path, reading) as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.isspace() or not text:
                continue
            try:
                record = decode(decoder, text)
            except (ValueError, RecursionError) as error:
                reading.on_error(
                    DataError(
                        f"the line cannot be used: {error}; expected {expected}", path, number
                    )
                )
            else:
                yield number, record
