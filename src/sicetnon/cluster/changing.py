"""Add documents to an index on a cluster, and delete documents: whole or not at all.

Documents of a change are not found before the state names the change. Documents that go are named
in the same state, so that one write commits all; only then are they removed.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace as replaced_in
from typing import Any, cast

import msgspec

from sicetnon.cluster import layout
from sicetnon.cluster.address import Address
from sicetnon.cluster.building import ClusterOptions, reporter
from sicetnon.cluster.bulk import BulkLoader
from sicetnon.cluster.connection import Connection, TimeLimits
from sicetnon.cluster.counting import Counted, count_documents, numbers_of, refresh
from sicetnon.cluster.preparing import Preparation
from sicetnon.cluster.state import (
    Stored,
    WriterLock,
    finished_state,
    required_index,
    write_state,
)
from sicetnon.errors import BrokenIndexError, DataError, UsageError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.index.annotations import fitting
from sicetnon.index.builder import Batch
from sicetnon.index.manifest import recorded_analysis
from sicetnon.index.writing import BuildOptions

MOST_DELETED = 50_000
"""Documents that one change deletes or replaces; the engine's limit for a query is 65,536."""

_LOG = logging.getLogger("sicetnon.cluster")
_LONG = TimeLimits(120.0, 600.0)


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
            self._connection, self._index, len(state.fields), layout.live(change, pending)
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
        self._connection.ask("POST", path, {"query": query}, params=params, time_limits=_LONG)
