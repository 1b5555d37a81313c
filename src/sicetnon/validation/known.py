"""The ids of a run that an index knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sicetnon.formats.identifiers import argument_of
from sicetnon.index.reader import IndexReader
from sicetnon.records import ProcessedArgument


def known_to(index: IndexReader) -> Callable[[Sequence[str]], list[str]]:
    """A function that picks the ids an index knows: of sentences if it has any, or of documents."""

    def documents(identifiers: Sequence[str]) -> list[str]:
        return [name for name in identifiers if index.number(name) is not None]

    def sentences(identifiers: Sequence[str]) -> list[str]:
        numbers = {index.number(argument_of(name)) for name in identifiers} - {None}
        records = index.records_at([number for number in numbers if number is not None])
        held = {
            sentence.id
            for record in records
            if isinstance(record, ProcessedArgument)
            for sentence in record.sentences
        }
        return [name for name in identifiers if name in held]

    return sentences if index.manifest.records == "processed" else documents
