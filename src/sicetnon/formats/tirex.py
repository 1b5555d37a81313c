"""TIREx, today's TIRA: documents and queries as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading, open_bytes
from sicetnon.formats.json_records import json_lines_in, read_json_lines
from sicetnon.records import Entry, Topic

DOCUMENTS = "documents.jsonl"
EXPECTED_DOCUMENT = '{"docno": "…", "text": "…"}'
EXPECTED_QUERY = '{"qid": "…", "query": "…"}'


class _Document(msgspec.Struct):
    docno: str
    text: str
    original_document: dict[str, Any] = {}


class _Query(msgspec.Struct):
    qid: str | int
    query: str
    original_query: Any = None


def read_documents(path: Path | str, reading: Reading | None = None) -> Iterator[Entry]:
    """Stream `documents.jsonl` as entries with one text, `text`."""
    lines = read_json_lines(path, _Document, EXPECTED_DOCUMENT, reading, lambda each: each.docno)
    for _, document in lines:
        yield Entry(document.docno, {"text": document.text}, document.original_document)


def read_queries(path: Path | str) -> list[Topic]:
    """The queries of `queries.jsonl` as topics.

    Raises:
        DataError: A line is no query, has no text, a qid occurs twice or could not stand in a run,
            or there is no query.
    """
    reading = Reading()
    with open_bytes(path, reading) as file:
        return queries_in(file, path, reading)


def queries_in(file: BinaryIO, path: Path | str, reading: Reading) -> list[Topic]:
    """As `read_queries`, from an open file."""
    topics: list[Topic] = []
    known: set[str] = set()
    lines = json_lines_in(file, path, _Query, EXPECTED_QUERY, reading, lambda each: str(each.qid))
    for line, query in lines:
        number, title = str(query.qid), " ".join(query.query.split())
        if number in known:
            raise DataError(f"the qid {number!r} occurs more than once", path, line)
        if not title:
            raise DataError(
                f"the qid {number!r} has no query; expected {EXPECTED_QUERY}", path, line
            )
        known.add(number)
        original = query.original_query if isinstance(query.original_query, dict) else {}
        objects = original.get("objects") or ""
        topics.append(
            Topic(
                number,
                title,
                tuple(map(str, objects if isinstance(objects, list) else _named(str(objects)))),
                str(original.get("description") or ""),
                str(original.get("narrative") or ""),
            )
        )
    if not topics:
        raise DataError(f"found no query; expected lines like {EXPECTED_QUERY}", path)
    return topics


def _named(objects: str) -> list[str]:
    """Objects in a text, with commas between them, as in topics.xml."""
    return [each.strip() for each in objects.split(",") if each.strip()]
