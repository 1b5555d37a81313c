"""TIREx, today's TIRA: documents and queries as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading
from sicetnon.formats.passages import read_json_lines
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
    original_query: dict[str, Any] = {}


def read_documents(path: Path | str, reading: Reading | None = None) -> Iterator[Entry]:
    """Stream `documents.jsonl` as entries with one text, `text`."""
    lines = read_json_lines(path, _Document, EXPECTED_DOCUMENT, reading, lambda each: each.docno)
    for _, document in lines:
        yield Entry(document.docno, {"text": document.text}, document.original_document)


def read_queries(path: Path | str) -> list[Topic]:
    """The queries of `queries.jsonl` as topics.

    Raises:
        DataError: A line is no query, a qid occurs twice or could not stand in a run, or there is
            no query.
    """
    topics: list[Topic] = []
    known: set[str] = set()
    lines = read_json_lines(path, _Query, EXPECTED_QUERY, None, lambda each: str(each.qid))
    for line, query in lines:
        if str(query.qid) in known:
            raise DataError(f"the qid {str(query.qid)!r} occurs more than once", path, line)
        known.add(str(query.qid))
        original = query.original_query
        topics.append(
            Topic(
                str(query.qid),
                " ".join(query.query.split()),
                description=str(original.get("description") or ""),
                narrative=str(original.get("narrative") or ""),
            )
        )
    if not topics:
        raise DataError(f"found no query; expected lines like {EXPECTED_QUERY}", path)
    return topics
