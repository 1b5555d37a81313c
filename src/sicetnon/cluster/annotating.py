"""Annotate an index on a cluster: its documents are loaded anew, with the models' numbers.

The engine cannot add to a document whose terms it does not keep as text. The new index takes the
place of the old one when it is whole, and the same command resumes one that was stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sicetnon.cluster.address import Address
from sicetnon.cluster.building import ClusterOptions, build_on_cluster
from sicetnon.cluster.connection import Connection
from sicetnon.cluster.reader import ClusterReader
from sicetnon.cluster.state import WriterLock
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.annotations import AnnotationProgress, Annotator, Callback
from sicetnon.index.manifest import AnnotationEntry
from sicetnon.index.writing import BuildOptions
from sicetnon.records import Record

_AT_ONCE = 1000


def annotate_on_cluster(
    address: Address,
    annotators: Sequence[Annotator],
    progress: Callback = lambda _: None,
    loading: ClusterOptions | None = None,
) -> None:
    """Give every document of an index on a cluster the numbers of some annotators.

    An annotation by the same model is kept, one by another model is replaced.

    Args:
        address: The index.
        annotators: The annotators, each of another name.
        progress: Called after every batch.
        loading: How documents are loaded; the numbers of shards and copies stay as they are.

    Raises:
        SicetnonError: Another process is changing it, or an annotator gives no usable numbers.
        ClusterError: The cluster cannot be used. The index is as it was in each case.
    """
    loading = loading or ClusterOptions()
    with ClusterReader.open(address) as index:
        known = index.manifest.annotations
        if all(known.get(each.name) == each.entry for each in annotators):
            return
        new = {each.name: each for each in annotators if known.get(each.name) != each.entry}
        kept = [_kept(index, name, known[name]) for name in known if name not in new]

        def told(done: AnnotationProgress) -> None:
            progress(AnnotationProgress(tuple(new), done.documents, index.document_count))

        options = BuildOptions(
            index.analysis,
            source=index.manifest.source,
            annotators=[*kept, *new.values()],
            annotated=told,
        )
        physical, _ = index.known_version
        with (
            closing(Connection(address)) as connection,
            WriterLock(connection, physical, loading.lease),
        ):
            loading = _as_before(connection, physical, loading)
            build_on_cluster(_IndexedCorpus.of(index), address, options, loading)


def _kept(index: ClusterReader, name: str, entry: AnnotationEntry) -> Annotator:
    """An annotator that gives the numbers that an index has already, by document id."""
    stored = index.annotation(name)
    assert stored is not None

    def numbers(ids: Sequence[str]) -> Any:
        # the first row shows the form, whatever the id
        places = index.numbers(ids) if index.number(ids[0]) is not None else [0]
        return stored[places]

    return Annotator(name, entry.model, entry.reads, lambda record: record.id, numbers)


def _as_before(connection: Connection, physical: str, loading: ClusterOptions) -> ClusterOptions:
    """The options with the shards and copies that the index has."""
    found = connection.ask("GET", f"/{physical}/_settings")[physical]["settings"]["index"]
    shards, replicas = int(found["number_of_shards"]), int(found["number_of_replicas"])
    return replace(loading, shards=shards, replicas=replicas)


@dataclass(frozen=True)
class _IndexedCorpus(Corpus):
    """The documents of an index.

    Attributes:
        version: The index and its last change.
        documents: Their number.
    """

    version: str = ""
    documents: int = 0

    @classmethod
    def of(cls, index: ClusterReader) -> _IndexedCorpus:
        """The documents of an index, in the order of their numbers."""

        def read(_: Path | str, __: Reading) -> Iterator[Record]:
            for first in range(0, index.size, _AT_ONCE):
                yield from index.records_between(first, min(first + _AT_ONCE, index.size))

        manifest = index.manifest
        return cls(
            manifest.records, manifest.fields, (str(index.folder),), read, (),
            str(index.known_version), index.document_count,
        )  # fmt: skip

    def size(self) -> int:
        """The number of documents; a size above 0 marks documents that do not change."""
        return self.documents

    def checksum(self) -> str:
        """The version of the index, which identifies the documents."""
        return self.version
