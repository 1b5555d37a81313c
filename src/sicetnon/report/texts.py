"""The texts of documents, cut to the part that has most to do with a question."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from sicetnon.formats.identifiers import argument_of, halves
from sicetnon.records import ProcessedArgument, Record
from sicetnon.text.analysis import content_of
from sicetnon.text.snippets import Piece, snippet

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader

LENGTH = 180
"""Characters of a text that are shown."""


class Texts:
    """Texts by document."""

    def __init__(self, source: IndexReader | Mapping[str, str]):
        self._source = source
        if isinstance(source, Mapping):
            # compiled code, which scores without texts do not need
            from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

            analyzer = named_analysis(DEFAULT_ANALYSIS).analyzer()
        else:
            analyzer = source.analysis.analyzer()
        # each different word is analysed once
        self._stems: Callable[[str], list[str]] = functools.cache(analyzer.stems_of)

    def snippets(self, documents: Iterable[str], question: str) -> dict[str, tuple[Piece, ...]]:
        """For each document that has a text, the part that has most to do with a question."""
        wanted = frozenset(self._stems(content_of(question)))
        return {
            document: snippet(text, wanted, self._stems, LENGTH).pieces
            for document, text in self.of(documents).items()
        }

    def of(self, documents: Iterable[str]) -> dict[str, str]:
        """The texts that are known; the two sentences of a pair are one text."""
        documents = list(documents)
        parts = {document: halves(document) or (document,) for document in documents}
        found = self._read(
            {part for several in parts.values() for part in several} | set(documents)
        )
        texts = {}
        for document in documents:
            if document in found:
                texts[document] = found[document]
            elif all(half in found for half in parts[document]):
                texts[document] = " \u2014 ".join(found[half] for half in parts[document])
        return texts

    def _read(self, wanted: set[str]) -> dict[str, str]:
        source = self._source
        if isinstance(source, Mapping):
            return {identifier: source[identifier] for identifier in wanted if identifier in source}
        numbers: dict[str, int] = {}
        for identifier in sorted(wanted):
            # a sentence is found in its argument
            for name in (identifier, argument_of(identifier)):
                number = source.number(name)
                if number is not None:
                    numbers[identifier] = number
                    break
        records = source.records_at(list(numbers.values()))
        pairs = zip(numbers, records, strict=True)
        texts = {identifier: _text(record, identifier) for identifier, record in pairs}
        return {identifier: text for identifier, text in texts.items() if text is not None}


def _text(record: Record, identifier: str) -> str | None:
    """The text of a record, or of one sentence of it."""
    if identifier == record.id:
        return record.default_text()
    if not isinstance(record, ProcessedArgument):
        return None
    return next((each.text for each in record.sentences if each.id == identifier), None)
