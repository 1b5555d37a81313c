"""Corpora that ir_datasets knows by id, for those who are online (extra `datasets`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sicetnon.errors import DataError, MissingExtraError
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, Record, Sentence

NO_SUCH_SOURCE = (
    "there is no such file or directory; expected a path that is there, or an id of ir_datasets"
)
_ID = re.compile(r"[a-z0-9]+([-_./][a-z0-9]+)*")


def may_be_dataset(name: str) -> bool:
    """Whether a name is shaped like an id of ir_datasets."""
    return _ID.fullmatch(name) is not None


def load_dataset(identifier: str) -> Any:
    """The ir_datasets dataset of an id. Nothing is fetched until its documents are read.

    Raises:
        MissingExtraError: ir_datasets is not installed.
        DataError: It knows no such id.
    """
    try:
        import ir_datasets
    except ImportError:
        what = f"{identifier}: {NO_SUCH_SOURCE}, which"
        raise MissingExtraError(what, "datasets") from None
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise DataError(NO_SUCH_SOURCE, identifier) from None
    if not dataset.has_docs():
        raise DataError(f"the ir_datasets id {identifier!r} has no documents")
    return dataset


def read_dataset(identifier: str) -> Iterator[Record]:
    """Stream the documents of an ir_datasets id as this package's records."""
    dataset = load_dataset(identifier)
    try:
        # some data sets are downloaded at once, others with their first document
        for document in dataset.docs_iter():
            yield to_record(document)
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"the ir_datasets id {identifier!r} cannot be downloaded or read: {_brief(error)}"
        ) from None


def _brief(error: BaseException) -> str:
    """The first words of an error, which may hold a list of errors or a page of text."""
    return " ".join(str(error).split())[:160]


def to_record(document: Any) -> Record:
    """One document of ir_datasets as a record: arguments and passages as such, else an entry."""
    if hasattr(document, "premises_texts") or hasattr(document, "premises"):
        return _argument(document)
    if hasattr(document, "chatnoir_url"):
        return Passage(document.doc_id, document.text, document.chatnoir_url or "")
    texts = {
        name: value
        for name, value in document._asdict().items()
        if name != "doc_id" and isinstance(value, str)
    }
    return Entry(document.doc_id, texts)


def _argument(document: Any) -> Argument | ProcessedArgument:
    context = {
        "discussionTitle": getattr(document, "topic", "") or "",
        "sourceId": getattr(document, "source_id", "") or "",
        "sourceTitle": getattr(document, "source_title", "") or "",
        "sourceUrl": getattr(document, "source_url", "") or "",
    }
    premises = tuple(
        Premise(premise.text, getattr(premise.stance, "name", None))
        for premise in document.premises
    )
    argument = Argument(document.doc_id, document.conclusion, premises, context)
    sentences = getattr(document, "sentences", None)
    if sentences is None:
        return argument
    return ProcessedArgument(argument, tuple(Sentence(s.id, s.text) for s in sentences))
