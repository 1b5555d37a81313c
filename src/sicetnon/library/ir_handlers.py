"""Handlers of ir_datasets for this package's documents, topics and judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ir_datasets.formats import ArgsMePremise, ArgsMeStance, BaseDocs, BaseQrels, BaseQueries
from ir_datasets.formats import TrecQrel as IrQrel
from ir_datasets.indices import Docstore

from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.tirex import read_queries
from sicetnon.formats.topics import read_topics
from sicetnon.records import Argument, Passage, ProcessedArgument, Record, Sentence


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


class TextDocument(NamedTuple):
    """A passage, a page, or a document of one's own."""

    doc_id: str
    text: str
    url: str

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


class Documents(BaseDocs):  # type: ignore[misc]
    """The documents of a corpus."""

    def __init__(self, corpus: Corpus):
        self._corpus = corpus
        self._store: _Store | None = None

    def docs_iter(self) -> Iterator[Any]:
        """Stream the documents, in the order of the files."""
        for file in self._corpus.files:
            for record in self._corpus.read(file, Reading()):
                yield _document(record)

    def docs_cls(self) -> type:
        """The type of the documents."""
        is_argument = self._corpus.records in ("arguments", "processed")
        return ArgumentDocument if is_argument else TextDocument

    def docs_store(self, **_: object) -> Docstore:
        """The documents by their ids, in memory."""
        if self._store is None:
            self._store = _Store(self.docs_cls(), self.docs_iter())
        return self._store

    def docs_count(self) -> int:
        """Number of documents."""
        return sum(1 for _ in self.docs_iter())


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
        read = read_topics if self._path.suffix == ".xml" else read_queries
        for topic in read(self._path):
            yield Query(
                topic.number, topic.title, topic.objects, topic.description, topic.narrative
            )

    def queries_cls(self) -> type:
        """The type of the queries."""
        return Query


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


def _document(record: Record) -> ArgumentDocument | TextDocument:
    if isinstance(record, Argument | ProcessedArgument):
        return _argument(record)
    url = record.url if isinstance(record, Passage) else getattr(record, "url", "")
    return TextDocument(record.id, record.default_text(), url)


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
