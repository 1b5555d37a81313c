"""Build an index on a cluster: atomic, and resumable.

The documents go to a new index of the engine. When their number, their lengths and a checksum of
their ids agree with what was read, an alias moves to it, and the previous index is removed.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from sicetnon.cluster.address import Address
from sicetnon.cluster.bulk import BulkBatch, BulkCounts, BulkDocument, BulkLoader
from sicetnon.cluster.collection_statistics import COUNTING, count_documents, numbers_between
from sicetnon.cluster.index_state import (
    LEASE_SECONDS,
    ClusterState,
    StoredState,
    WriterLock,
    physical_index,
    read_state,
    required_index,
    write_state,
)
from sicetnon.cluster.mapping import (
    LARGEST_RECORD,
    LONGEST_ID,
    annotation_field,
    document_lines,
    form_lines,
    index_mapping,
    index_settings,
    live,
)
from sicetnon.cluster.queries import SIMILARITY
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.transport import Connection, IndexClient, TimeLimits
from sicetnon.errors import DataError, SicetnonError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.index.annotations import AnnotationProgress, Annotator, packed
from sicetnon.index.array_files import ByteColumn
from sicetnon.index.builder import Batch
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.writing import BuildOptions, batches
from sicetnon.text.analysis import STOPPED, Analyzer

_LOG = logging.getLogger("sicetnon.cluster")
_MOST_WORDS = 2_000_000
_MERGING = TimeLimits(600.0, 600.0)
_SETTING = TimeLimits(30.0, 600.0)
"""Time limits of changes to settings: a busy cluster may take long, a host that hangs must not."""
_FIRST_CHANGE = 1
_DELAY = "unassigned.node_left.delayed_timeout"
"""The setting for how long the engine waits for a node before it places its copies elsewhere."""
_PATIENT_SECONDS = 5.0
"""Seconds of waiting for copies that need no explanation."""


@dataclass(frozen=True)
class ClusterOptions:
    """How documents are loaded into a cluster.

    Attributes:
        shards: Number of shards of a new index.
        replicas: Number of further copies of each shard.
        workers: Number of bulk requests at a time.
        batch_bytes: Size of a bulk request.
        merge: Whether each shard is merged into one segment after loading.
        lease: Seconds after which the lock of a dead writer is free.
        placing_seconds: Seconds to wait until nodes take the copies of the empty index.
        copies_seconds: Seconds to wait until all copies are there, when all is loaded.
        message: Called with a line for people.
    """

    shards: int = 3
    replicas: int = 1
    workers: int = 2
    batch_bytes: int = 4 << 20
    merge: bool = False
    lease: float = LEASE_SECONDS
    placing_seconds: float = 30.0
    copies_seconds: float = 600.0
    message: Callable[[str], None] = lambda _: None


class Preparation:
    """Analyses documents, numbers them, and cuts them into batches of so many bytes."""

    def __init__(
        self,
        corpus: Corpus,
        options: BuildOptions,
        change: int,
        first_number: int,
        batch_bytes: int,
    ):
        self._corpus, self._options, self._change = corpus, options, change
        self._fields, self._batch_bytes = len(corpus.fields), batch_bytes
        self.next_number, self._annotated = first_number, 0
        self._forget_words()

    def groups(self) -> Iterator[tuple[range, Batch]]:
        """Documents in the order of the corpus, with their numbers."""
        for batch in batches(self._corpus, self._options):
            storable = self._storable(batch)
            numbers = range(self.next_number, self.next_number + len(storable.ids))
            self.next_number = numbers.stop
            if storable.ids:
                yield numbers, storable

    def batches(self, numbers: list[int], documents: Batch) -> Iterator[BulkBatch]:
        """Documents as bulk requests, with the number of each document."""
        terms, records = self._terms(documents.texts), documents.records.each()
        stored = _annotated(self._options.annotators, self._corpus.records, records)
        self._report_annotations(len(numbers))
        forms, size, waiting = self._new_forms(), 0, []
        for row, (identifier, number) in enumerate(zip(documents.ids, numbers, strict=True)):
            words = terms[row * self._fields : (row + 1) * self._fields]
            stems = self._stems_of(words) if self._options.analysis.forms else []
            name = identifier.decode()
            lines = document_lines(
                name, self._change, number, words, records[row], stems, stored[row]
            )
            waiting.append(BulkDocument(name, number, lines))
            size += len(lines)
            if size >= self._batch_bytes:
                yield BulkBatch(waiting, forms, documents.file)
                forms, size, waiting = b"", 0, []
        if waiting:
            yield BulkBatch(waiting, forms, documents.file)

    def _report_annotations(self, documents: int) -> None:
        if names := tuple(each.name for each in self._options.annotators):
            self._annotated += documents
            done = max(self._annotated, self.next_number)
            self._options.annotated(AnnotationProgress(names, self._annotated, done))

    def _storable(self, batch: Batch) -> Batch:
        """A batch without the documents that the engine could not store unchanged."""
        rows = []
        for row, (identifier, size) in enumerate(zip(batch.ids, batch.records.sizes, strict=True)):
            name = identifier.decode()
            if len(identifier) > LONGEST_ID:
                what = f"the id {name[:60]!r}… has {len(identifier)} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LONGEST_ID}", batch.file))
            elif size > LARGEST_RECORD:
                what = f"document {name!r} has {size:,} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LARGEST_RECORD:,}", batch.file))
            else:
                rows.append(row)
        return batch if len(rows) == len(batch.ids) else batch.keep(rows, self._fields)

    def _forget_words(self) -> None:
        """Forget the words met so far, so that memory does not grow with the corpus."""
        self._analyzer = Analyzer(self._options.analysis)
        self._words: list[str] = []
        self._stems: dict[str, str] = {}

    def _terms(self, texts: ByteColumn) -> list[list[str]]:
        if len(self._words) > _MOST_WORDS:
            self._forget_words()
        words, ends = self._analyzer.word_numbers(*texts.arrays())
        self._words += self._analyzer.terms.words(len(self._words))
        seen = self._words
        numbers = self._analyzer.term_of_word[words].tolist()
        return [
            [seen[number] for number in numbers[start:end] if number != STOPPED]
            for start, end in pairwise([0, *ends.tolist()])
        ]

    def _new_forms(self) -> bytes:
        """The lines of forms that were not met before; they must arrive before their documents."""
        if not self._options.analysis.forms:
            return b""
        new = self._words[len(self._stems) :]
        stems = dict(zip(new, self._analyzer.stem(new), strict=True))
        self._stems |= stems
        return form_lines(stems)

    def _stems_of(self, terms: list[list[str]]) -> list[str]:
        return [self._stems[term] for words in terms for term in words]


def _annotated(
    annotators: Sequence[Annotator], kind: str, records: Sequence[bytes]
) -> list[dict[str, str]]:
    """The stored numbers of documents, by the field of each annotation."""
    rows: list[dict[str, str]] = [{} for _ in records]
    if not annotators:
        return rows
    decode = msgspec.json.Decoder(RECORD_TYPES[kind]).decode
    decoded = [decode(record) for record in records]
    for each in annotators:
        for first in range(0, len(decoded), each.batch_documents):
            texts = [each.text(record) for record in decoded[first : first + each.batch_documents]]
            for row, numbers in enumerate(packed(each.numbers(texts)), start=first):
                encoded = base64.b64encode(numbers.tobytes()).decode()
                rows[row][annotation_field(each.name)] = encoded
    return rows


class _MissingCopiesError(ClusterError):
    """No nodes take all copies of the shards."""


def build_on_cluster(
    corpus: Corpus,
    address: Address,
    options: BuildOptions,
    loading: ClusterOptions | None = None,
) -> BulkCounts:
    """Build an index on a cluster, in place of the one that may be there.

    A build that was stopped is resumed by the same call: documents that the cluster has
    acknowledged are not sent again. After an error the previous index is unchanged.
    """
    loading = loading or ClusterOptions()
    with closing(Connection(address, concurrency=loading.workers + 4)) as connection:
        return _Build(connection, corpus, options, loading).run()


class _Build:
    def __init__(
        self,
        connection: Connection,
        corpus: Corpus,
        options: BuildOptions,
        loading: ClusterOptions,
    ):
        self._connection, self._corpus = connection, corpus
        self._options, self._loading = options, loading
        self._old = physical_index(connection)

    def run(self) -> BulkCounts:
        index, is_new = self._index()
        with WriterLock(self._connection, index, self._loading.lease) as lock:
            stored = read_state(self._connection, index)
            # it may have been chosen while another process had the lock
            if stored is not None and stored.state.is_finished:
                raise SicetnonError(
                    f"{self._connection.address}: another process has just finished this build; "
                    "nothing was changed"
                )
            try:
                if stored is None:
                    self._place_copies(index)
                    stored = self._write_state(index)
                counts, next_number = self._load(index, is_new)
            except (DataError, _MissingCopiesError):
                # it would fail again: nothing is left to resume
                lock.stop_heartbeat()
                self._remove(index)
                raise
            self._put_in_place(index, stored, counts, next_number)
        return counts

    def _index(self) -> tuple[str, bool]:
        """The index to load, and whether it is new."""
        start = f"{self._connection.address.name}.{self._fingerprint()}-"
        present = self._connection.ask("GET", f"/{start}*", params={"expand_wildcards": "all"})
        names = sorted(present or {}, key=lambda name: int(name.removeprefix(start)))
        for name in names:
            stored = read_state(self._connection, name)
            if name != self._old and (stored is None or not stored.state.is_finished):
                IndexClient(self._connection, name, COUNTING).refresh()
                self._loading.message("resuming the build that was stopped")
                return name, False
        number = int(names[-1].removeprefix(start)) + 1 if names else 1
        name = f"{start}{number}"
        annotations = [each.name for each in self._options.annotators]
        body = {
            "settings": index_settings(self._loading.shards, SIMILARITY),
            "mappings": index_mapping(
                len(self._corpus.fields), self._options.analysis.forms, annotations
            ),
        }
        try:
            self._connection.ask("PUT", f"/{name}", body, params={"wait_for_active_shards": "1"})
        except ClusterError as error:
            # a response may have been lost
            if error.kind != "resource_already_exists_exception":
                raise
        return name, True

    def _place_copies(self, index: str) -> None:
        """See that nodes take the copies of an empty index, before hours of loading.

        The copies are removed again: to make them when all is loaded takes less work.
        """
        loading = self._loading
        if loading.replicas:
            # where a node has just gone, the engine would wait a minute for it
            self._set_copies(index, loading.replicas, **{_DELAY: "0s"})
            self._wait_for_copies(index, loading.placing_seconds, "nothing was loaded")
        # a build that was stopped before this line may have set more
        self._set_copies(index, 0, **{_DELAY: None})

    def _fingerprint(self) -> str:
        """A hash of the source and settings: a build that was stopped has the same one."""
        corpus, options = self._corpus, self._options
        # a unique text where the documents cannot be compared with those of another build
        unique = "" if corpus.size() else uuid.uuid4().hex
        settings = msgspec.json.encode(
            [
                corpus.records, corpus.fields, options.analysis.signature(), self._loading.shards,
                corpus.checksum(), unique, [(each.name, each.entry) for each in options.annotators],
            ],
            order="sorted",
        )  # fmt: skip
        return hashlib.sha256(settings).hexdigest()[:12]

    def _write_state(self, index: str) -> StoredState:
        annotators = self._options.annotators
        state = ClusterState(
            self._corpus.records,
            self._corpus.fields,
            self._options.analysis.signature(),
            source=self._options.source or {},
            annotations={each.name: each.entry for each in annotators},
            widths={each.name: _width_of(each) for each in annotators},
        )
        return write_state(self._connection, index, state, None)

    def _load(self, index: str, is_new: bool) -> tuple[BulkCounts, int]:
        client, loading = IndexClient(self._connection, index), self._loading
        preparation = Preparation(
            self._corpus, self._options, _FIRST_CHANGE, 0, loading.batch_bytes
        )
        on_error = self._options.on_error
        with BulkLoader(
            self._connection, index, _FIRST_CHANGE, loading.workers, on_error
        ) as loader:
            for numbers, documents in preparation.groups():
                missing = list(numbers)
                if not is_new:
                    present = numbers_between(client, numbers, _FIRST_CHANGE)
                    ids = zip(documents.ids, numbers, strict=True)
                    loader.count([name.decode() for name, number in ids if number in present])
                    rows = [row for row, number in enumerate(numbers) if number not in present]
                    documents = documents.keep(rows, len(self._corpus.fields))
                    missing = [numbers[row] for row in rows]
                for batch in preparation.batches(missing, documents):
                    loader.submit(batch)
            counts = loader.finish()
        if not counts.acknowledged:
            raise DataError("holds no document", str(self._corpus.files[0]))
        return counts, preparation.next_number

    def _put_in_place(
        self, index: str, stored: StoredState, counts: BulkCounts, next_number: int
    ) -> None:
        connection, loading = self._connection, self._loading
        client = IndexClient(connection, index, COUNTING)
        self._set_copies(index, loading.replicas, refresh_interval=None)
        if loading.merge:
            params = {"max_num_segments": "1"}
            connection.ask("POST", f"/{index}/_forcemerge", params=params, time_limits=_MERGING)
        self._wait_for_copies(index, loading.copies_seconds, "the same command resumes")
        client.refresh()
        present = count_documents(client, len(self._corpus.fields), live(_FIRST_CHANGE))
        if (present.documents, present.hashes) != (counts.acknowledged, counts.hashes):
            raise SicetnonError(
                f"{connection.address}: the cluster has {counted(present.documents, 'document')}, "
                f"but acknowledged {counts.acknowledged:,}, or others; nothing was changed, and "
                "the same command resumes"
            )
        state = msgspec.structs.replace(
            stored.state,
            is_finished=True,
            change=_FIRST_CHANGE,
            next_number=next_number,
            documents=present.documents,
            field_totals=present.field_totals,
            hashes=present.hashes,
        )
        write_state(connection, index, state, stored)
        self._move_alias(index)
        _LOG.info("built %s: %s", connection.address, counted(present.documents, "document"))

    def _set_copies(self, index: str, replicas: int, **others: object) -> None:
        settings = {"index": {"number_of_replicas": replicas, **others}}
        self._connection.ask("PUT", f"/{index}/_settings", settings, time_limits=_SETTING)

    def _wait_for_copies(self, index: str, seconds: float, outcome: str) -> None:
        """Wait until all copies of all shards are there; an error after so many seconds."""
        begin, is_explained = time.monotonic(), False
        while True:
            # a refresh also counts copies that are still being made
            shards = self._connection.ask("GET", f"/{index}/_stats/docs")["_shards"]
            if shards["successful"] >= shards["total"]:
                return
            present = f"{shards['successful']} of {shards['total']} copies of shards are there"
            if time.monotonic() - begin > seconds:
                raise _MissingCopiesError(
                    f"{self._connection.address}: only {present}, and each copy of a shard needs a "
                    "node of its own; add nodes, or use fewer --replicas (0 for one node); "
                    f"{outcome}"
                )
            if not is_explained and time.monotonic() - begin > _PATIENT_SECONDS:
                is_explained = True
                self._loading.message(
                    f"{present}; waiting up to {seconds:g} seconds for the others"
                )
            time.sleep(0.5)

    def _move_alias(self, index: str) -> None:
        name = self._connection.address.name
        actions: list[dict[str, object]] = [{"add": {"index": index, "alias": name}}]
        if self._old is not None:
            actions.append({"remove_index": {"index": self._old}})
        try:
            self._connection.ask("POST", "/_aliases", {"actions": actions}, time_limits=_SETTING)
        except ClusterError as error:
            # a response may have been lost, and the request sent again
            if error.status != 404 or physical_index(self._connection) != index:
                raise

    def _remove(self, index: str) -> None:
        self._connection.ask("DELETE", f"/{index}", is_missing_fine=True)


def _width_of(annotator: Annotator) -> int:
    """The width of an annotator's vectors; 0 if it gives single numbers."""
    form = packed(annotator.numbers(["a"]))
    return form.shape[1] if form.ndim > 1 else 0


def cluster_facts(address: Address) -> list[tuple[str, str]]:
    """Shards, copies, nodes and size of an index, and builds that were stopped."""
    with closing(Connection(address)) as connection:
        index = required_index(connection)
        settings = connection.ask("GET", f"/{index}/_settings")[index]["settings"]["index"]
        stats = connection.ask("GET", f"/{index}/_stats/store,docs")
        total, copies = stats["_shards"]["total"], stats["_shards"]["successful"]
        size = stats["_all"]["total"]["store"]["size_in_bytes"]
        facts = [
            ("shards", settings["number_of_shards"]),
            ("copies", f"{copies} of {total} there"),
            ("size", f"{size / 1e6:,.1f} MB, all copies"),
        ]
        name, params = address.name, {"expand_wildcards": "all"}
        present = connection.ask("GET", f"/{name}.*", params=params)
        if stopped := sorted(set(present or {}) - {index}):
            facts.append(("unfinished", ", ".join(stopped)))
        return facts
