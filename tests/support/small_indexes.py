"""Small indexes, built in a moment, for the tests of retrieval and of what stands on it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from sicetnon.app.index import Index
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.entries import EntryFields
from sicetnon.index.writing import BuildOptions, add_documents, build_index, delete_documents
from sicetnon.records import Ranking
from sicetnon.text.analysis import named_analysis

Texts = Mapping[str, str]
"""A document: field names with texts."""


def build(
    folder: Path,
    documents: Sequence[Texts],
    analysis: str = "plain",
    cuts: Sequence[int] = (),
    deleted: Sequence[int] = (),
) -> Path:
    """Build an index whose documents have their places, from 0, for ids and for numbers.

    Args:
        folder: Any that exists.
        documents: All with the same fields.
        analysis: Its name.
        cuts: Places at which a new segment begins.
        deleted: Places of documents that are deleted again.
    """
    index, options = folder / "index", BuildOptions(named_analysis(analysis))
    bounds = [0, *sorted({cut for cut in cuts if 0 < cut < len(documents)}), len(documents)]
    for begin, end in pairwise(bounds):
        change = add_documents if begin else build_index
        change(corpus(folder, documents[begin:end], begin), index, options)
    if deleted:
        delete_documents(index, [str(place) for place in deleted])
    return index


def corpus(folder: Path, documents: Sequence[Texts], first: int = 0) -> Corpus:
    """Documents as a corpus, with their places from `first` on for ids."""
    rows = [{"id": str(first + place), **texts} for place, texts in enumerate(documents)]
    path = folder / f"documents-{first}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_corpus([path], EntryFields(tuple(documents[0]), "id"))


@contextmanager
def opened(
    documents: Sequence[Texts],
    analysis: str = "plain",
    cuts: Sequence[int] = (),
    deleted: Sequence[int] = (),
) -> Iterator[Index]:
    """A passing index of some documents; see `build`."""
    with (
        passing_folder() as folder,
        Index.open(build(folder, documents, analysis, cuts, deleted)) as index,
    ):
        yield index


def places(ranking: Ranking) -> list[int]:
    """The places of the documents in a ranking: their ids, as numbers."""
    return [int(identifier) for identifier in ranking.ids]


def by_place(ranking: Ranking) -> dict[int, float]:
    """The scores of the documents in a ranking by their places, best first."""
    return {int(identifier): score for identifier, score in ranking}


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder for small indexes, in memory where that can be: they wait for the disk else."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="small-index-", dir=memory) as folder:
        yield Path(folder)
