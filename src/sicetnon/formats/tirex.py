"""TIREx, today's TIRA: documents, queries, and re-rank inputs as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.passages import read_json_lines
from sicetnon.records import Entry, Topic

DOCUMENTS, QUERIES, RERANK = "documents.jsonl", "queries.jsonl", "rerank.jsonl.gz"
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


class Candidate(msgspec.Struct, frozen=True):
    """One line of a re-rank input: a query, and a document found for it."""

    qid: str | int
    query: str
    docno: str
    text: str = ""
    rank: int = 0
    score: float = 0.0


def read_documents(path: Path | str, reading: Reading | None = None) -> Iterator[Entry]:
    """Stream `documents.jsonl` as entries with one text, `text`."""
    reading = reading or Reading()
    for line, document in read_json_lines(path, _Document, EXPECTED_DOCUMENT, reading):
        try:
            check_identifier(document.docno)
        except ValueError as error:
            reading.on_error(DataError(f"{error}; expected {EXPECTED_DOCUMENT}", path, line))
        else:
            yield Entry(document.docno, {"text": document.text}, document.original_document)


def read_queries(path: Path | str) -> list[Topic]:
    """The queries of `queries.jsonl` as topics.

    Raises:
        DataError: A line is no query, a qid occurs twice or could not stand in a run, or there is
            no query.
    """
    topics: list[Topic] = []
    known: set[str] = set()
    for line, query in read_json_lines(path, _Query, EXPECTED_QUERY):
        try:
            check_identifier(str(query.qid))
        except ValueError as error:
            raise DataError(f"{error}; expected {EXPECTED_QUERY}", path, line) from None
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


def read_candidates(path: Path | str) -> Iterator[Candidate]:
    """Stream the lines of a re-rank input."""
    for _, candidate in read_json_lines(path, Candidate, '{"qid", "query", "docno", "text"}'):
        yield candidate
