"""The texts of documents, cut to what has most to do with a question."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from sicetnon.formats.identifiers import SEPARATOR, is_pair
from sicetnon.records import ProcessedArgument, Record
from sicetnon.report.markup import Html, element, join
from sicetnon.text.snippets import snippet

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader

LENGTH = 180
_SENTENCE = "__"


class Texts:
    """Texts by document.

    Args:
        source: An index, or a mapping from ids to texts.
    """

    def __init__(self, source: IndexReader | Mapping[str, str]):
        self._source = source
        if isinstance(source, Mapping):
            # compiled code, of which scores without texts have no need
            from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

            analyzer = named_analysis(DEFAULT_ANALYSIS).analyzer()
        else:
            analyzer = source.analysis.analyzer()
        # one analysis a word of the language, not one a word of the texts
        self._stems: Callable[[str], list[str]] = functools.cache(analyzer.stems_of)

    def of(self, documents: Iterable[str]) -> dict[str, str]:
        """The texts that there are; a pair's two sentences are one text."""
        documents = list(documents)
        parts = {
            document: document.split(SEPARATOR) if is_pair(document) else [document]
            for document in documents
        }
        found = self._read({part for halves in parts.values() for part in halves} | set(documents))
        texts = {}
        for document in documents:
            if document in found:
                texts[document] = found[document]
            elif all(half in found for half in parts[document]):
                texts[document] = " \u2014 ".join(found[half] for half in parts[document])
        return texts

    def snippet(self, text: str, question: str) -> Html:
        """The part of a text that has most to do with a question, its words marked."""
        part = snippet(text, frozenset(self._stems(question)), self._stems, LENGTH)
        pieces: list[str] = []
        end = 0
        for start, stop in part.marks:
            pieces += [part.text[end:start], element("mark", part.text[start:stop])]
            end = stop
        return join(pieces, part.text[end:])

    def _read(self, wanted: set[str]) -> dict[str, str]:
        source = self._source
        if isinstance(source, Mapping):
            return {identifier: source[identifier] for identifier in wanted if identifier in source}
        numbers: dict[str, int] = {}
        for identifier in sorted(wanted):
            # a sentence is found in its argument
            for name in (identifier, identifier.partition(_SENTENCE)[0]):
                number = source.number(name)
                if number is not None:
                    numbers[identifier] = number
                    break
        records = source.records(list(numbers.values()))
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
