"""Documents from whatever people give: paths, texts, dictionaries, records, data frames."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from sicetnon.errors import UsageError
from sicetnon.formats.corpora import Corpus, Document, memory_corpus, open_corpus
from sicetnon.formats.entries import EntryFields

Source: TypeAlias = str | Path | Iterable[Document] | Iterable[Path]


def corpus_of(source: Source, named: EntryFields, places: Iterable[int] | None = None) -> Corpus:
    """The corpus of a source of `Index.build`.

    Raises:
        DataError: A path leads to nothing that can be read.
        UsageError: It is no iterable of documents.
    """
    if isinstance(source, str) and " " in source.strip() and not _is_there(source):
        raise UsageError(
            f"found {source!r:.60}, and no file has this name; expected a path that is there, or a "
            "list of texts, such as ['Tenure protects academic freedom.']"
        )
    if isinstance(source, str | Path):
        return open_corpus([source], named)
    if hasattr(source, "columns"):
        return memory_corpus(_rows(source), named, places)
    if isinstance(source, Mapping):
        raise UsageError("found one dictionary; expected an iterable of documents, or a path")
    if not isinstance(source, Iterable):
        raise UsageError(
            f"found {type(source).__name__}; expected an iterable of documents, or a path"
        )
    documents = iter(source)
    first = next(documents, None)
    if isinstance(first, str) and _is_file(first):
        raise UsageError(f"found the name of a file, {first!r}; expected texts, or a Path of it")
    if isinstance(first, Path):
        return open_corpus([first, *documents], named)  # type: ignore[list-item]
    if isinstance(source, list | tuple):
        return memory_corpus(list(source), named, places)
    together: Any = () if first is None else itertools.chain([first], documents)
    return memory_corpus(together, named, places)


def _is_file(text: str) -> bool:
    return _is_there(text) and Path(text).is_file()


def _is_there(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # a text that is too long for a name
        return False


def _rows(frame: Any) -> Iterable[Document]:
    """The rows of a data frame of pandas or polars."""
    # most sources are no frame
    from sicetnon.evaluation.sources import check_frame

    check_frame(frame)
    rows: Iterable[Document]
    rows = frame.iter_rows(named=True) if hasattr(frame, "iter_rows") else frame.to_dict("records")
    return rows
