"""Topics: the questions of a task, in topics.xml or in queries.jsonl of TIREx."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from xml.etree.ElementTree import Element, ParseError

import defusedxml
import msgspec
from defusedxml.ElementTree import iterparse

from sicetnon.errors import DataError
from sicetnon.formats.files import Limits, Reading, open_bytes
from sicetnon.formats.json_records import json_lines_in
from sicetnon.records import Topic

EXPECTED = "<topics><topic><number>1</number><title>…</title></topic>…</topics>"
NAMES = ("topics.xml", "queries.jsonl")
"""The names of files of topics in an input directory; either may be gzipped."""
_DEEPEST = 100
_HEAD = 64
_BOM = b"\xef\xbb\xbf"


def topics_in(folder: Path) -> Path | None:
    """The file of topics in a folder, or None."""
    names = (f"{name}{ending}" for name in NAMES for ending in ("", ".gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def read_topics(path: Path | str) -> list[Topic]:
    """The topics of a file, in its order; white space and line breaks in a text are folded.

    The file is a topics.xml or, if it begins with a brace, queries.jsonl of TIREx.

    Raises:
        DataError: The XML is broken or hostile (its own entities, deep nesting and long topics are
            refused), a topic lacks its number or title, or a number occurs twice.
    """
    reading = Reading()
    with open_bytes(path, reading) as file:
        head = cast(io.BufferedReader, file).peek(_HEAD)
        if head.removeprefix(_BOM).lstrip().startswith(b"{"):
            return queries_in(file, path, reading)
        return _topics(file, path, reading)


def _topics(file: BinaryIO, path: Path | str, reading: Reading) -> list[Topic]:
    try:
        topics = list(_stream(file, path, reading))
    except ParseError as error:
        raise DataError(f"no well-formed XML: {error}; expected {EXPECTED}", path) from None
    except defusedxml.DefusedXmlException:
        raise DataError(
            "the XML declares entities of its own, which can be used to attack a reader; "
            "write their texts in place and remove the declarations",
            path,
        ) from None
    except (LookupError, ValueError) as error:
        raise DataError(f"the XML cannot be decoded: {error}; save it as UTF-8", path) from None
    times = Counter(topic.number for topic in topics)
    if twice := sorted(number for number, count in times.items() if count > 1):
        raise DataError(f"topic number {', '.join(twice[:5])} occurs more than once", path)
    return topics


def _stream(file: BinaryIO, path: Path | str, reading: Reading) -> Iterator[Topic]:
    """The topics of a file; what is read is forgotten before the next topic."""
    source = _TopicBytes(file, path, reading.limits)
    above: list[Element] = []
    inside = ordinal = 0
    for event, element in iterparse(cast(IO[bytes], source), ("start", "end")):
        if event == "start":
            above.append(element)
            inside += element.tag == "topic"
            if len(above) > _DEEPEST:
                raise DataError(f"the XML is nested more than {_DEEPEST} deep", path)
            continue
        above.pop()
        if element.tag == "topic":
            inside, ordinal, source.size = inside - 1, ordinal + 1, 0
            yield _topic(element, ordinal, path)
        if not inside:
            (above or [element])[-1].clear()
    if not ordinal:
        raise DataError(f"found no topic in <{element.tag}>; expected {EXPECTED}", path)


class _TopicBytes:
    """A file that counts the bytes of the topic that is read, and refuses too many."""

    def __init__(self, file: BinaryIO, path: Path | str, limits: Limits):
        self._file, self._path, self._limits, self.size = file, path, limits, 0

    def read(self, size: int) -> bytes:
        if self.size > self._limits.record_bytes:
            raise self._limits.too_long("the topic", self._path)
        data = self._file.read(size)
        self.size += len(data)
        return data


def _topic(element: Element, ordinal: int, path: Path | str) -> Topic:
    number, title = _text(element, "number"), _text(element, "title")
    if number.split() != [number] or not number.isprintable():
        raise DataError(f"topic {ordinal} in the file has no <number>; expected {EXPECTED}", path)
    if not title:
        raise DataError(f"topic {number} has no <title>; expected {EXPECTED}", path)
    objects = tuple(filter(None, (part.strip() for part in _text(element, "objects").split(","))))
    return Topic(number, title, objects, _text(element, "description"), _text(element, "narrative"))


def _text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else " ".join("".join(child.itertext()).split())


EXPECTED_QUERY = '{"qid": "…", "query": "…"}'


class _Query(msgspec.Struct):
    qid: str | int
    query: str
    original_query: Any = None


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
    """The queries of an open `queries.jsonl` as topics."""
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
                tuple(
                    map(str, objects if isinstance(objects, list) else _objects_in(str(objects)))
                ),
                str(original.get("description") or ""),
                str(original.get("narrative") or ""),
            )
        )
    if not topics:
        raise DataError(f"found no query; expected lines like {EXPECTED_QUERY}", path)
    return topics


def _objects_in(objects: str) -> list[str]:
    """Objects in a text, with commas between them, as in topics.xml."""
    return [each.strip() for each in objects.split(",") if each.strip()]
