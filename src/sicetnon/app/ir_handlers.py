"""Handlers of ir_datasets for this package's documents, topics and judgments.

ir_datasets and PyTerrier read the types of fields, so annotations are no texts in this module.
"""

import itertools
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ir_datasets.formats import ArgsMePremise, ArgsMeStance, BaseDocs, BaseQrels, BaseQueries
from ir_datasets.formats import TrecQrel as IrQrel
from ir_datasets.indices import Docstore

from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.records import Argument, Passage, ProcessedArgument, Record, Sentence, WebPage


class ArgumentDocument(NamedTuple):
    """An argument; `sentences` is empty but for the corpus of 2022."""

    doc_id: str
    text: str
    conclusion: str
    premises: tuple[ArgsMePremise, ...]
    topic: str
    source_url: str
    sentences: tuple[Sentence, ...] | None

    def default_text(self) -> str:
        """Conclusion and premises."""
        return self.text


class PassageDocument(NamedTuple):
    """A passage."""

    doc_id: str
    text: str
    chatnoir_url: str

    def default_text(self) -> str:
        """The whole text."""
        return self.text


class PageDocument(NamedTuple):
    """A web page."""

    doc_id: str
    title: str
    text: str
    url: str

    def default_text(self) -> str:
        """Title and text."""
        return "\n".join(filter(None, (self.title, self.text)))


class TextDocument(NamedTuple):
    """A document of one's own."""

    doc_id: str
    text: str

    def default_text(self) -> str:
        """The whole text."""
        return self.text


class Query(NamedTuple):
    """A topic."""

    query_id: str
    title: str
    objects: tuple[str, ...]
    description: str
    narrative: str

    def default_text(self) -> str:
        """The title."""
        return self.title


class DocumentIterator(Iterator[Any]):
    """The documents of a corpus; slices of them as ir_datasets documents for `docs_iter`.

    A slice takes a number from either end, or a share of all documents as a `float`; one document
    is had by its number.
    """

    def __init__(self, documents: "Documents", places: range | None = None):
        self._documents = documents
        self._places = range(sys.maxsize) if places is None else places
        self._remaining: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._remaining is None:
            places = self._places
            # a slice of every second document may end beyond what islice takes
            stop = min(max(places.start, places.stop), sys.maxsize)
            self._remaining = itertools.islice(
                self._documents.read(), places.start, stop, places.step
            )
        return next(self._remaining)

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            if key.step is not None and key.step <= 0:
                raise ValueError(f"found the step {key.step}; expected a number above 0")
            bounds = (key.start, key.stop)
            is_counted = any(isinstance(each, float) or (each or 0) < 0 for each in bounds)
            places = self._counted() if is_counted else self._places
            start, stop = (_place(each, len(places)) for each in bounds)
            return _DocumentSlice(self._documents, places[start : stop : key.step])
        place = (self._counted() if key < 0 else self._places)[key]
        for document in DocumentIterator(self._documents, range(place, place + 1)):
            return document
        raise IndexError(f"there is no document {key}")

    def _counted(self) -> range:
        """The places that have a document."""
        return range(self._documents.docs_count())[
            self._places.start : self._places.stop : self._places.step
        ]


class _DocumentSlice(DocumentIterator):
    # all documents have no length: list() would read them twice
    def __len__(self) -> int:
        return sum(1 for _ in DocumentIterator(self._documents, self._places))


def _place(bound: float | None, size: int) -> int | None:
    if not isinstance(bound, float):
        return bound
    if not 0 <= bound <= 1:
        raise ValueError(f"found the share {bound}; expected 0 to 1")
    return math.floor(bound * size)


class Documents(BaseDocs):  # type: ignore[misc]
    """The documents of a corpus."""

    def __init__(self, corpus: Corpus):
        self._corpus = corpus
        self._store: _Store | None = None
        self._count: int | None = None

    def docs_iter(self) -> DocumentIterator:
        """Stream the documents, in the order of the files."""
        return DocumentIterator(self)

    def read(self) -> Iterator[Any]:
        """The documents, from the first on."""
        for file in self._corpus.files:
            for record in self._corpus.read(file, Reading()):
                yield _document(record)

    def docs_cls(self) -> type:
        """The type of the documents."""
        return _TYPES.get(self._corpus.records, TextDocument)

    def docs_store(self, **_: object) -> Docstore:
        """The documents by their ids, in memory."""
        if self._store is None:
            self._store = _Store(self.docs_cls(), self.docs_iter())
        return self._store

    def docs_count(self) -> int:
        """Number of documents."""
        if self._count is None:
            self._count = sum(1 for _ in self.read())
        return self._count

    def docs_lang(self) -> str | None:
        """English for the corpora of the tasks, else not known."""
        is_own = self._corpus.records in ("entries", "pages")
        return None if is_own else _LANGUAGE


class _Store(Docstore):  # type: ignore[misc]
    def __init__(self, kind: type, documents: Iterable[Any]):
        super().__init__(kind)
        self._documents = {document.doc_id: document for document in documents}

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Any]:
        """The documents of some ids; unknown ids are passed over."""
        known = self._documents
        return (known[identifier] for identifier in doc_ids if identifier in known)


class Queries(BaseQueries):  # type: ignore[misc]
    """The topics of a file."""

    def __init__(self, path: Path):
        self._path = path

    def queries_iter(self) -> Iterator[Query]:
        """The topics, in the order of the file."""
        for topic in read_topics(self._path):
            yield Query(
                topic.number, topic.title, topic.objects, topic.description, topic.narrative
            )

    def queries_cls(self) -> type:
        """The type of the queries."""
        return Query

    def queries_lang(self) -> str | None:
        """English for the topics of the tasks, else not known."""
        return _LANGUAGE if self._path.suffix == ".xml" else None


class Judgments(BaseQrels):  # type: ignore[misc]
    """The judgments of a file; a label of stance stays a word."""

    def __init__(self, path: Path):
        self._path = path

    def qrels_iter(self) -> Iterator[IrQrel]:
        """The judgments, in the order of the file."""
        for judgment in read_qrels(self._path):
            yield IrQrel(judgment.topic, judgment.document, judgment.label, "0")

    def qrels_cls(self) -> type:
        """The type of the judgments."""
        return IrQrel  # type: ignore[no-any-return]

    def qrels_path(self) -> str:
        """The file."""
        return str(self._path)

    def qrels_defs(self) -> dict[int, str]:
        """The meanings of labels; empty, since the files do not say."""
        return {}


_LANGUAGE = "en"
_TYPES: dict[str, type] = {
    "arguments": ArgumentDocument,
    "processed": ArgumentDocument,
    "passages": PassageDocument,
    "pages": PageDocument,
}


def _document(record: Record) -> Any:
    if isinstance(record, Argument | ProcessedArgument):
        return _argument(record)
    if isinstance(record, Passage):
        return PassageDocument(record.id, record.contents, record.url)
    if isinstance(record, WebPage):
        return PageDocument(record.id, record.title, record.text, record.url)
    return TextDocument(record.id, record.default_text())


def _argument(record: Argument | ProcessedArgument) -> ArgumentDocument:
    argument = record.argument if isinstance(record, ProcessedArgument) else record
    premises = tuple(
        ArgsMePremise(premise.text, premise.stance and ArgsMeStance[premise.stance], [])
        for premise in argument.premises
    )
    url = str(argument.context.get("sourceUrl") or "")
    sentences = record.sentences if isinstance(record, ProcessedArgument) else None
    return ArgumentDocument(
        argument.id, argument.default_text(), argument.conclusion, premises, argument.title, url,
        sentences,
    )  # fmt: skip
