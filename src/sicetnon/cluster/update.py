"""Add documents to an index on a cluster, delete documents, and annotate them.

Changes are atomic. Searches do not see the documents of a change before the state names the change.
Documents that go are named in the same state, so that one write commits all; only then are they
removed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from sicetnon.cluster.address import Address
from sicetnon.cluster.build import (
    ClusterOptions,
    Preparation,
    build_on_cluster,
)
from sicetnon.cluster.bulk import BulkLoader
from sicetnon.cluster.collection_statistics import COUNTING, count_documents, numbers_of
from sicetnon.cluster.index_state import (
    StoredState,
    WriterLock,
    finished_state,
    required_index,
    write_state,
)
from sicetnon.cluster.mapping import live
from sicetnon.cluster.transport import Connection, IndexClient, TimeLimits
from sicetnon.errors import BrokenIndexError, DataError, UsageError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.annotations import AnnotationProgress, Annotator, Callback, fitting
from sicetnon.index.builder import Batch
from sicetnon.index.manifest import AnnotationEntry, recorded_analysis
from sicetnon.index.writing import BuildOptions
from sicetnon.records import Record

if TYPE_CHECKING:
    from sicetnon.cluster.remote_index import ClusterReader

_MOST_DELETED = 50_000
"""Documents that one change deletes or replaces; the engine's limit for a query is 65,536."""

_RECORDS_PER_REQUEST = 1000
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

    They are of the same kind, fields and analysis as the index. With `replace`, a document whose id
    is in the index takes the place of that one.
    """
    with _changing(address, loading or ClusterOptions()) as change:
        change.refuse_other_kind(corpus, options)
        return change.add(corpus, options, replace)


def delete_on_cluster(
    address: Address, identifiers: Sequence[str], loading: ClusterOptions | None = None
) -> int:
    """Delete documents by id, and return their number. Unknown ids are ignored."""
    with _changing(address, loading or ClusterOptions()) as change:
        return change.delete(identifiers)


@contextlib.contextmanager
def _changing(address: Address, loading: ClusterOptions) -> Iterator[_Change]:
    with contextlib.closing(Connection(address, loading.workers + 4)) as connection:
        index = required_index(connection)
        with WriterLock(connection, index, loading.lease):
            change = _Change(connection, index, finished_state(connection, index), loading)
            change.clean()
            yield change


class _Change:
    """A change of an index by the holder of its lock."""

    def __init__(
        self, connection: Connection, index: str, stored: StoredState, loading: ClusterOptions
    ):
        self._connection, self._index = connection, index
        self._client = IndexClient(connection, index)
        self._stored, self._loading = stored, loading

    def clean(self) -> None:
        """Finish the previous change, and remove what one left that was never committed."""
        self._client.within(COUNTING).refresh()
        self._remove({"range": {"added": {"gt": self._stored.state.change}}})
        if self._stored.state.pending:
            self._finish()

    def refuse_other_kind(self, corpus: Corpus, options: BuildOptions) -> None:
        """Refuse documents of another kind, or analysed in another way."""
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
        """Add documents, and return their number."""
        state, loading = self._stored.state, self._loading
        location = str(self._connection.address)
        options = dataclasses.replace(
            options,
            annotators=fitting(location, state.annotations, options.annotators),
            analysis=recorded_analysis(cast(Any, location), state.manifest()),
        )
        change, replaced = state.change + 1, set[int]()
        preparation = Preparation(corpus, options, change, state.next_number, loading.batch_bytes)
        try:
            with BulkLoader(
                self._connection, self._index, change, loading.workers, options.on_error
            ) as loader:
                for numbers, documents in preparation.groups():
                    new_numbers, new = self._new(
                        numbers, documents, options, replaced if replace else None
                    )
                    for batch in preparation.batches(new_numbers, new):
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
        """Delete documents, and return their number."""
        state = self._stored.state
        numbers = sorted(numbers_of(self._client, list(set(identifiers)), state.change).values())
        if len(numbers) == state.documents:
            raise UsageError(
                f"{self._connection.address}: no document would be left; remove the index instead"
            )
        if numbers:
            self._commit(numbers, state.next_number, 0)
        return len(numbers)

    def _new(
        self,
        numbers: Sequence[int],
        documents: Batch,
        options: BuildOptions,
        replaced: set[int] | None,
    ) -> tuple[list[int], Batch]:
        """The documents to send, with their numbers; None replaces no document."""
        ids = [identifier.decode() for identifier in documents.ids]
        taken = numbers_of(self._client, ids, self._stored.state.change)
        if replaced is not None:
            replaced.update(taken.values())
            return list(numbers), documents
        rows = [row for row, identifier in enumerate(ids) if identifier not in taken]
        for identifier in ids:
            if identifier in taken:
                what = "is already in the index; to replace it: --replace, in Python replace=True"
                options.on_error(DataError(f"the id {identifier!r} {what}", documents.file))
        fields = len(self._stored.state.fields)
        return [numbers[row] for row in rows], documents.keep(rows, fields)

    def _commit(self, pending: Sequence[int], next_number: int, added: int) -> None:
        state, address = self._stored.state, self._connection.address
        if len(pending) > _MOST_DELETED:
            raise UsageError(
                f"{address}: {len(pending):,} documents would be replaced or deleted; a cluster "
                f"takes at most {_MOST_DELETED:,} at once; do it in parts, or build anew"
            )
        self._client.within(COUNTING).refresh()
        change = state.change + 1
        counts = count_documents(self._client, len(state.fields), live(change, pending))
        expected = state.documents + added - len(pending)
        if counts.documents != expected:
            raise BrokenIndexError(
                f"{address}: found {counted(counts.documents, 'document')} after the change, "
                f"expected {expected:,}; nothing was changed"
            )
        self._write(
            change=change,
            pending=tuple(pending),
            next_number=next_number,
            documents=counts.documents,
            field_totals=counts.field_totals,
            hashes=counts.hashes,
            source={},
        )
        self._finish()
        _LOG.info("changed %s: %d added, %d removed", address, added, len(pending))

    def _write(self, **changes: object) -> None:
        state = msgspec.structs.replace(self._stored.state, **changes)
        self._stored = write_state(self._connection, self._index, state, self._stored)

    def _finish(self) -> None:
        """Remove what the last change deleted."""
        pending = list(self._stored.state.pending)
        if pending:
            self._remove({"terms": {"number": pending}})
            self._write(pending=())

    def _remove(self, query: dict[str, Any]) -> None:
        path = f"/{self._index}/_delete_by_query"
        params = {"conflicts": "proceed", "refresh": "true"}
        self._connection.ask("POST", path, {"query": query}, params=params, time_limits=_DELETING)


def annotate_on_cluster(
    address: Address,
    annotators: Sequence[Annotator],
    progress: Callback = lambda _: None,
    loading: ClusterOptions | None = None,
) -> None:
    """Give every document of an index on a cluster the numbers of some annotators.

    The engine cannot add to a document whose terms it does not store as text, so that all documents
    are loaded anew, with the numbers, into an index that takes the place of the old one when it is
    complete; the same command resumes. An annotation by the same model stays, one by another model
    is replaced. The numbers of shards and copies do not change.
    """
    from sicetnon.cluster.remote_index import ClusterReader

    loading = loading or ClusterOptions()
    with ClusterReader.open(address) as index:
        stored = index.manifest.annotations
        new = {each.name: each for each in annotators if stored.get(each.name) != each.entry}
        if not new:
            return
        old = [_stored_annotator(index, name, stored[name]) for name in stored if name not in new]

        def report(done: AnnotationProgress) -> None:
            progress(AnnotationProgress(tuple(new), done.documents, index.document_count))

        options = BuildOptions(
            index.analysis,
            source=index.manifest.source,
            annotators=[*old, *new.values()],
            annotated=report,
        )
        physical, _ = index.known_version
        with (
            contextlib.closing(Connection(address)) as connection,
            WriterLock(connection, physical, loading.lease),
        ):
            settings = connection.ask("GET", f"/{physical}/_settings")[physical]["settings"]
            loading = dataclasses.replace(
                loading,
                shards=int(settings["index"]["number_of_shards"]),
                replicas=int(settings["index"]["number_of_replicas"]),
            )
            build_on_cluster(_IndexedCorpus.of(index), address, options, loading)


def _stored_annotator(index: ClusterReader, name: str, entry: AnnotationEntry) -> Annotator:
    """An annotator that gives the numbers that an index has already, by document id."""
    stored = index.annotation(name)
    assert stored is not None

    def numbers(ids: Sequence[str]) -> Any:
        # the first row shows the form, whatever the id
        rows = index.numbers(ids) if index.number(ids[0]) is not None else [0]
        return stored[rows]

    return Annotator(name, entry.model, entry.reads, lambda record: record.id, numbers)


@dataclasses.dataclass(frozen=True)
class _IndexedCorpus(Corpus):
    """The documents of an index; `version` names the index and its last change."""

    version: str = ""
    documents: int = 0

    @classmethod
    def of(cls, index: ClusterReader) -> _IndexedCorpus:
        """The documents of an index, in the order of their numbers."""

        def read(_: Path | str, __: Reading) -> Iterator[Record]:
            for first in range(0, index.size, _RECORDS_PER_REQUEST):
                last = min(first + _RECORDS_PER_REQUEST, index.size)
                yield from index.records_between(first, last)

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
