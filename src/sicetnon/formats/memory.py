"""A corpus from what a program holds in memory: texts, dictionaries with named fields, records."""

from __future__ import annotations

import itertools
import math
import numbers
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sicetnon.errors import DataError
from sicetnon.formats.corpora import KINDS, Corpus
from sicetnon.formats.entries import (
    LOOKED_AT,
    EntryFields,
    are_texts,
    complete,
    entry_of,
    field_values,
)
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.records import Entry, Record

Document: TypeAlias = str | Mapping[str, Any] | Record
_NAME = "documents"


def memory_corpus(
    documents: Iterable[Document], named: EntryFields, places: Iterable[int] | None = None
) -> Corpus:
    """A corpus of documents in memory, which is read once.

    Args:
        documents: All of one kind. A text's id is its number. A dictionary has its id under `id`
            (or `docno`, `doc_id`, …; its number where there is none).
        named: For dictionaries: the names of their fields. The id is found and all texts but links
            are indexed where they are not named; the other fields are kept beside them. If the
            documents are no list, the first 100 tell the fields, and later ones are warned of.
        places: The numbers of the documents; from 0 when left out.

    Raises:
        DataError: There is no document, or the named fields are missing.
    """
    is_list = isinstance(documents, list)
    remaining = map(_of_python, documents)
    head = list(remaining if is_list else itertools.islice(remaining, LOOKED_AT))
    if not head:
        raise DataError("found no document; expected at least one text, dictionary or record")
    kind = type(head[0])
    records, known = KINDS.get(kind, ("entries", ()))  # type: ignore[arg-type]
    if (known or kind is str) and any((*named[1:], named.texts not in ((), known, ("text",)))):
        names = ", ".join((*named.texts, *filter(None, named[1:])))
        raise DataError(
            f"found documents of type {kind.__name__}; expected dictionaries with {names}"
        )
    fields = named._replace(texts=known) if known else _fields(head, named)
    numbers = itertools.count() if places is None else places
    numbered = zip(numbers, itertools.chain(head, remaining), strict=False)

    seen = _names(head)
    may_lack = not is_list and not named.texts

    def read(_: Path | str, reading: Reading) -> Iterator[Record]:
        for place, document in numbered:
            if may_lack and isinstance(document, Mapping):
                _warn_of_texts(document, place, seen)
            try:
                record = _record(document, place, fields, kind)
                if not named.texts and isinstance(record, Entry):
                    _refuse_other_fields(record, fields.texts)
                yield record
            except ValueError as error:
                reading.on_error(DataError(f"document {place} cannot be used: {error}"))

    return Corpus(records, fields.texts, (_NAME,), read)


def is_gap(value: object) -> bool:
    """Whether a value stands for none: None, NaN, or NA and NaT of pandas."""
    if value is None or isinstance(value, str | Iterable):
        return value is None
    try:
        return bool(value != value)
    except TypeError:  # NA is neither equal nor unequal to itself
        return True


def _of_python(document: Document) -> Document:
    """A document without the texts of numpy and the gaps of data frames."""
    if isinstance(document, str):
        return str(document)
    if not isinstance(document, Mapping):
        return document
    return {str(name): None if is_gap(each) else each for name, each in document.items()}


def _fields(head: Sequence[Document], named: EntryFields) -> EntryFields:
    """The fields of the first documents."""
    first = head[0]
    if isinstance(first, str):
        return EntryFields(("text",))
    if isinstance(first, Entry):
        names = itertools.chain(*(each.texts for each in head if isinstance(each, Entry)))
        return EntryFields(named.texts or tuple(dict.fromkeys(names)))
    if not isinstance(first, Mapping):
        raise DataError(f"found {type(first).__name__}; expected a text, dictionary or record")
    try:
        return complete(
            named, field_values((row for row in head if isinstance(row, Mapping)), named)
        )
    except ValueError as error:
        raise DataError(str(error)) from None


def _names(documents: Iterable[Document]) -> set[str]:
    """The names of the fields that have a value."""
    rows = (each for each in documents if isinstance(each, Mapping))
    return {name for row in rows for name, value in row.items() if value is not None}


def _warn_of_texts(row: Mapping[str, Any], place: int, known: set[str]) -> None:
    """Warn once of each field with texts that the first documents lack."""
    for name in row.keys() - known:
        if row[name] is not None:
            known.add(name)
            if are_texts([row[name]]):
                warnings.warn(
                    f"document {place} has a text {name!r}, which the first {LOOKED_AT} documents "
                    "lack and which is not indexed; give a list of documents, or name the fields: "
                    "fields=[…]",
                    stacklevel=2,
                )


def _record(document: Document, place: int, fields: EntryFields, kind: type) -> Record:
    if isinstance(document, str) and kind is str:
        return Entry(str(place), {"text": document})
    if isinstance(document, Mapping) and issubclass(kind, Mapping):
        identifier = document.get(fields.id or "")
        # a column of a data frame with a gap holds whole numbers as floats
        if isinstance(identifier, numbers.Real) and math.floor(identifier) == identifier:
            document = {**document, str(fields.id): math.floor(identifier)}
        return entry_of(document, fields, place)
    if not isinstance(document, str | Mapping) and type(document) is kind:
        check_identifier(document.id)
        return document
    raise ValueError(f"found {type(document).__name__} among documents of type {kind.__name__}")


def _refuse_other_fields(entry: Entry, fields: Sequence[str]) -> None:
    if not entry.texts.keys() <= set(fields):
        raise ValueError(f"found the fields {', '.join(entry.texts)}; expected {', '.join(fields)}")
