"""The passages of 2022 task 2: one JSON object a line, gzipped or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sicetnon.formats.files import Reading
from sicetnon.formats.json_records import read_json_lines
from sicetnon.records import Passage

EXPECTED = '{"id": "…", "contents": "…", "chatNoirUrl": "…"}'


def read_passages(path: Path | str, reading: Reading | None = None) -> Iterator[Passage]:
    """Stream the passages of a file, in its order.

    Raises:
        DataError: A line is no passage, and `reading.on_error` raises.
    """
    for _, passage in read_json_lines(path, Passage, EXPECTED, reading, lambda each: each.id):
        yield passage
