"""A corpus from what a program holds in memory: texts, dictionaries with named fields, records."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from sicetnon.errors import DataError
from sicetnon.formats.corpora import ARGUMENT_FIELDS, PAGE_FIELDS, Corpus
from sicetnon.formats.entries import ID_NAMES
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.records import Argument, Entry, Passage, ProcessedArgument, Record, WebPage

Document: TypeAlias = str | Mapping[str, Any] | Record
_NAME = "documents"
_KINDS: dict[type[Record], tuple[str, tuple[str, ...]]] = {
    Argument: ("arguments", ARGUMENT_FIELDS),
    ProcessedArgument: ("processed", ARGUMENT_FIELDS),
    Passage: ("passages", ("contents",)),
    WebPage: ("pages", PAGE_FIELDS),
}


def memory_corpus(
    documents: Iterable[Document], fields: Iterable[str] = (), id_field: str | None = None
) -> Corpus:
    """A corpus of documents in memory, which is read once.

    Args:
        documents: All of one kind. A text's id is its place, from 0. A dictionary has its id under
            `id` (or `docno`, `doc_id`, …; its place where there is none); its other texts are
            indexed as fields, and what is no text is kept beside them.
        fields: For dictionaries: the fields to index; those of the first one when left out.
        id_field: For dictionaries: the field with the id.

    Raises:
        DataError: There is no document.
    """
    remaining = iter(documents)
    first = next(remaining, None)
    if first is None:
        raise DataError("found no document; expected at least one text, dictionary or record")
    records, known = _KINDS.get(type(first), ("entries", ()))  # type: ignore[arg-type]
    named = tuple(fields) or known or _fields_of(first, id_field)
    numbered = enumerate(itertools.chain([first], remaining))

    def read(_: Path | str, reading: Reading) -> Iterator[Record]:
        for place, document in numbered:
            try:
                yield _record(document, place, named, id_field, type(first))
            except ValueError as error:
                reading.on_error(DataError(f"document {place} cannot be used: {error}"))

    return Corpus(records, named, (_NAME,), read)


def _fields_of(document: Document, id_field: str | None) -> tuple[str, ...]:
    """The names of a document's texts."""
    if isinstance(document, str):
        return ("text",)
    if isinstance(document, Entry):
        return tuple(document.texts)
    if not isinstance(document, Mapping):
        raise DataError(f"found {type(document).__name__}; expected a text, dictionary or record")
    identifier = _id_name(document, id_field)
    names = tuple(
        name for name, value in document.items() if name != identifier and isinstance(value, str)
    )
    if not names:
        raise DataError(f"found the fields {', '.join(document)}; expected one with a text")
    return names


def _id_name(document: Mapping[str, Any], id_field: str | None) -> str | None:
    return id_field or next((name for name in ID_NAMES if name in document), None)


def _record(
    document: Document, place: int, fields: tuple[str, ...], id_field: str | None, kind: type
) -> Record:
    if isinstance(document, str) and kind is str:
        return Entry(str(place), {"text": document})
    if isinstance(document, Mapping) and issubclass(kind, Mapping):
        return _entry(document, place, fields, id_field)
    if not isinstance(document, str | Mapping) and type(document) is kind:
        check_identifier(document.id)
        return document
    raise ValueError(f"found {type(document).__name__} among documents of type {kind.__name__}")


def _entry(
    document: Mapping[str, Any], place: int, fields: tuple[str, ...], id_field: str | None
) -> Entry:
    name = _id_name(document, id_field)
    identifier = str(place if name is None else document.get(name, ""))
    check_identifier(identifier)
    texts = {field: document.get(field) or "" for field in fields}
    for field, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"field {field!r} holds {type(text).__name__}; expected a text")
    rest = {key: value for key, value in document.items() if key not in texts and key != name}
    return Entry(identifier, texts, rest)
