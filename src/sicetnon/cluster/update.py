"""Add documents to an index on a cluster, delete them, annotate them. Changes are atomic."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from dataclasses import replace as replaced_in
from pathlib import Path
from typing import Any, cast

import msgspec

from sicetnon.cluster import mapping
from sicetnon.cluster.address import Address
from sicetnon.cluster.build import ClusterOptions, Preparation, build_on_cluster, reporter
from sicetnon.cluster.bulk import BulkLoader
from sicetnon.cluster.index_state import (
    Stored,
    WriterLock,
    finished_state,
    required_index,
    write_state,
)
from sicetnon.cluster.reader import ClusterReader
from sicetnon.cluster.statistics import Counted, count_documents, numbers_of, refresh
from sicetnon.cluster.transport import Connection, TimeLimits
from sicetnon.errors import BrokenIndexError, DataError, UsageError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.annotation_writer import AnnotationProgress, Callback, fitting
from sicetnon.index.annotations import Annotator
from sicetnon.index.builder import Batch
from sicetnon.index.manifest import AnnotationEntry, recorded_analysis
from sicetnon.index.writing import BuildOptions
from sicetnon.records import Record

MOST_DELETED = 50_000
"""Documents that one change deletes or replaces; the engine's limit for a query is 65,536."""

_LOG = logging.getLogger("sicetnon.cluster")
_DELETING = TimeLimits(120.0, 600.0)


def add_on_cluster(
    corpus: Corpus,
    address: Address,
    options: BuildOptions,
    replace: bool = False,
    loading: ClusterOptions | None = None,
) -> int:
    """Add documents to an index on a cluster, and return their number.

    Args:
        corpus: The documents; of the same kind and fields as those of the index.
        address: The index.
        options: Its analysis must be that of the index.
        replace: Whether a document whose id is in the index takes the place of that one.
        loading: How documents are loaded.

    Raises:
        DataError: The documents are of another kind, or an id is taken and `replace` is false.
        UsageError: The analysis is another, or too many documents would be replaced.
        ClusterError: The cluster cannot be used. Nothing has changed in each of these cases.
    """
    loading = loading or ClusterOptions()
    with _changing(address, loading) as change:
        change.refuse_other_kind(corpus, options)
        return change.add(corpus, options, replace)


def delete_on_cluster(
    address: Address, identifiers: Sequence[str], loading: ClusterOptions | None = None
) -> int:
    """Delete documents by id, and return their number. Unknown ids are ignored.

    Raises:
        UsageError: No document would be left, or too many would be deleted at once.
        ClusterError: The cluster cannot be used. Nothing has changed in each of these cases.
    """
    loading = loading or ClusterOptions()
    with _changing(address, loading) as change:
        return change.delete(identifiers)


@contextlib.contextmanager
def _changing(address: Address, loading: ClusterOptions) -> Iterator[_Change]:
    with contextlib.closing(Connection(address, concurrency=loading.workers + 4)) as connection:
        index = required_index(connection)
        with WriterLock(connection, index, loading.lease):
            change = _Change(connection, index, finished_state(connection, index), loading)
            change.clean()
            yield change


class _Change:
    """A change of an index by the holder of its lock."""

    def __init__(self, connection: Connection, index: str, stored: Stored, loading: ClusterOptions):
        self._connection, self._index = connection, index
        self._stored, self._loading = stored, loading

    def clean(self) -> None:
        """Finish the change before, and remove what one left that was never committed."""
        change = self._stored.state.change
        later = {"range": {"added": {"gt": change}}}
        refresh(self._connection, self._index)
        self._remove(later)
        if self._stored.state.pending:
            self._finish()

    def refuse_other_kind(self, corpus: Corpus, options: BuildOptions) -> None:
        """Refuse documents of another kind.

        Raises:
            DataError: They are.
            UsageError: Their analysis is another one.
        """
        state, address = self._stored.state, self._connection.address
        if (corpus.records, corpus.fields) != (state.records, state.fields):
            raise DataError(
                f"holds {corpus.records} ({', '.join(corpus.fields)}), but {address} is an index "
                f"of {state.records} ({', '.join(state.fields)})",
                str(corpus.files[0]),
            )
        if not options.analysis.is_same_as(recorded_analysis(cast(Any, address), state.manifest())):
            raise UsageError(
                f"{address} was made with the analysis {state.analysis['name']!r}, and what is "
                f"added must be too; found {options.analysis.name!r}"
            )

    def add(self, corpus: Corpus, options: BuildOptions, replace: bool) -> int:
        """See `add_on_cluster`."""
        state, loading = self._stored.state, self._loading
        place = str(self._connection.address)
        annotators = fitting(place, state.annotations, options.annotators)
        analysis = recorded_analysis(cast(Any, place), state.manifest())
        options = replaced_in(options, analysis=analysis, annotators=annotators)
        change, replaced = state.change + 1, set[int]()
        preparation = Preparation(corpus, options, change, state.next_number, loading.batch_bytes)
        try:
            with BulkLoader(
                self._connection, self._index, change, loading.workers, reporter(options)
            ) as loader:
                for numbers, documents in preparation.groups():
                    wanted, fresh = self._untaken(
                        numbers, documents, options, replaced if replace else None
                    )
                    for batch in preparation.batches(wanted, fresh):
                        loader.submit(batch)
                counts = loader.finish()
            if not counts.acknowledged:
                raise DataError("holds no document", str(corpus.files[0]))
            self._commit(sorted(replaced), preparation.next_number, counts.acknowledged)
        except BaseException:
            # a kill leaves what was added; the next change removes it
            with contextlib.suppress(Exception):
                self.clean()
            raise
        return counts.acknowledged

    def delete(self, identifiers: Sequence[str]) -> int:
        """See `delete_on_cluster`."""
        state = self._stored.state
        found = sorted(
            numbers_of(self._connection, self._index, list(set(identifiers)), state.change).values()
        )
        if len(found) == state.documents:
            raise UsageError(
                f"{self._connection.address}: no document would be left; remove the index instead"
            )
        if found:
            self._commit(found, state.next_number, 0)
        return len(found)

    def _untaken(
        self,
        numbers: Sequence[int],
        documents: Batch,
        options: BuildOptions,
        replaced: set[int] | None,
    ) -> tuple[list[int], Batch]:
        """The documents that are to be sent, with their numbers.

        Args:
            numbers: The number of each document.
            documents: The documents.
            options: Who is told of taken ids.
            replaced: Gets the numbers of the documents that are replaced; None where none may be.
        """
        ids = [identifier.decode() for identifier in documents.ids]
        change = self._stored.state.change
        taken = numbers_of(self._connection, self._index, ids, change)
        if replaced is not None:
            replaced.update(taken.values())
            return list(numbers), documents
        kept = [place for place, identifier in enumerate(ids) if identifier not in taken]
        for identifier in ids:
            if identifier in taken:
                what = "is already in the index; to replace it: --replace, in Python replace=True"
                options.on_error(DataError(f"the id {identifier!r} {what}", documents.file))
        fields = len(self._stored.state.fields)
        return [numbers[place] for place in kept], documents.keep(kept, fields)

    def _commit(self, pending: Sequence[int], next_number: int, added: int) -> None:
        state, address = self._stored.state, self._connection.address
        if len(pending) > MOST_DELETED:
            raise UsageError(
                f"{address}: {len(pending):,} documents would be replaced or deleted; a cluster "
                f"takes at most {MOST_DELETED:,} at once; do it in parts, or build anew"
            )
        refresh(self._connection, self._index)
        change = state.change + 1
        found = count_documents(
            self._connection, self._index, len(state.fields), mapping.live(change, pending)
        )
        expected = state.documents + added - len(pending)
        if found.documents != expected:
            raise BrokenIndexError(
                f"{address}: found {counted(found.documents, 'document')} after the change, "
                f"expected {expected:,}; nothing was changed"
            )
        self._write(found, change, pending, next_number)
        self._finish()
        _LOG.info("changed %s: %d added, %d removed", address, added, len(pending))

    def _write(self, found: Counted, change: int, pending: Sequence[int], next_number: int) -> None:
        state = msgspec.structs.replace(
            self._stored.state,
            change=change,
            pending=tuple(pending),
            next_number=next_number,
            documents=found.documents,
            field_totals=found.field_totals,
            hashes=found.hashes,
            source={},
        )
        self._stored = write_state(self._connection, self._index, state, self._stored)

    def _finish(self) -> None:
        """Remove what the last change deleted."""
        pending = list(self._stored.state.pending)
        if pending:
            self._remove({"terms": {"number": pending}})
            state = msgspec.structs.replace(self._stored.state, pending=())
            self._stored = write_state(self._connection, self._index, state, self._stored)

    def _remove(self, query: dict[str, Any]) -> None:
        path = f"/{self._index}/_delete_by_query"
        params = {"conflicts": "proceed", "refresh": "true"}
        self._connection.ask("POST", path, {"query": query}, params=params, time_limits=_DELETING)


_RECORDS_PER_REQUEST = 1000


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
            for first in range(0, index.size, _RECORDS_PER_REQUEST):
                yield from index.records_between(
                    first, min(first + _RECORDS_PER_REQUEST, index.size)
                )

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
