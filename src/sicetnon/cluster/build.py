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

from sicetnon.cluster import mapping
from sicetnon.cluster.address import Address
from sicetnon.cluster.bulk import BulkBatch, BulkCounts, BulkDocument, BulkLoader, Refusal
from sicetnon.cluster.index_state import (
    LEASE_SECONDS,
    ClusterState,
    Stored,
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
    document_action,
    document_source,
    form_lines,
)
from sicetnon.cluster.queries import SIMILARITY
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.statistics import count_documents, numbers_between, refresh
from sicetnon.cluster.transport import Connection, TimeLimits
from sicetnon.errors import DataError, SicetnonError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.index.annotation_writer import AnnotationProgress
from sicetnon.index.annotations import Annotator, packed
from sicetnon.index.builder import Batch
from sicetnon.index.documents import RECORD_TYPES
from sicetnon.index.joined import Joined
from sicetnon.index.writing import BuildOptions, batches
from sicetnon.text.analysis import STOPPED, Analyzer

_MOST_WORDS = 2_000_000


class Preparation:
    """Analyses documents, numbers them, and cuts them into batches.

    Args:
        corpus: The documents.
        options: The analysis, and who is told of documents that cannot be used.
        change: The change that adds them.
        first_number: The number of the first one.
        batch_bytes: Size of a batch; one document may be larger.
    """

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
        self._start_anew()

    def groups(self) -> Iterator[tuple[range, Batch]]:
        """Documents as they are read, with their numbers."""
        for batch in batches(self._corpus, self._options):
            kept = self._storable(batch)
            numbers = range(self.next_number, self.next_number + len(kept.ids))
            self.next_number = numbers.stop
            if kept.ids:
                yield numbers, kept

    def batches(self, numbers: list[int], documents: Batch) -> Iterator[BulkBatch]:
        """Documents as they are sent.

        Args:
            numbers: The number of each document.
            documents: The documents.
        """
        terms, records = self._terms(documents.texts), documents.records.each()
        stored = annotated(self._options.annotators, self._corpus.records, records)
        self._tell_of_annotations(len(numbers))
        forms, size, waiting = self._new_forms(), 0, []
        for place, (identifier, number) in enumerate(zip(documents.ids, numbers, strict=True)):
            own = terms[place * self._fields : (place + 1) * self._fields]
            name, record = identifier.decode(), records[place]
            action = document_action(name, self._change, number)
            stems = self._stems_of(own) if self._options.analysis.forms else []
            source = document_source(name, self._change, number, own, record, stems, stored[place])
            waiting.append(BulkDocument(name, number, action + b"\n" + source + b"\n"))
            size += len(waiting[-1].lines)
            if size >= self._batch_bytes:
                yield BulkBatch(waiting, forms, documents.file)
                forms, size, waiting = b"", 0, []
        if waiting:
            yield BulkBatch(waiting, forms, documents.file)

    def _tell_of_annotations(self, documents: int) -> None:
        if names := tuple(each.name for each in self._options.annotators):
            self._annotated += documents
            done = max(self._annotated, self.next_number)
            self._options.annotated(AnnotationProgress(names, self._annotated, done))

    def _storable(self, batch: Batch) -> Batch:
        """Without the documents that the engine could not keep as they are."""
        kept = []
        for place, (identifier, size) in enumerate(
            zip(batch.ids, batch.records.sizes, strict=True)
        ):
            name = identifier.decode()
            if len(identifier) > LONGEST_ID:
                what = f"the id {name[:60]!r}… has {len(identifier)} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LONGEST_ID}", batch.file))
            elif size > LARGEST_RECORD:
                what = f"document {name!r} has {size:,} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LARGEST_RECORD:,}", batch.file))
            else:
                kept.append(place)
        return batch if len(kept) == len(batch.ids) else batch.keep(kept, self._fields)

    def _start_anew(self) -> None:
        """Forget the words met so far, so that memory does not grow with the corpus."""
        self._analyzer = Analyzer(self._options.analysis)
        self._words: list[str] = []
        self._stems: dict[str, str] = {}

    def _terms(self, texts: Joined) -> list[list[str]]:
        if len(self._words) > _MOST_WORDS:
            self._start_anew()
        words, ends = self._analyzer.word_numbers(*texts.arrays())
        self._words += self._analyzer.terms.words(len(self._words))
        known = self._words
        numbers = self._analyzer.term_of_word[words].tolist()
        return [
            [known[number] for number in numbers[start:end] if number != STOPPED]
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
        return [self._stems[term] for found in terms for term in found]


_LOG = logging.getLogger("sicetnon.cluster")
_MERGING = TimeLimits(600.0, 600.0)
_SETTING = TimeLimits(30.0, 600.0)
"""Time limits of changes to settings: a busy cluster may take long, a host that hangs must not."""
_FIRST_CHANGE = 1
_DELAY = "unassigned.node_left.delayed_timeout"
"""The setting for how long the engine waits for a node before it places its copies elsewhere."""
_PATIENT_SECONDS = 5.0
"""Seconds of waiting for copies that need no explanation."""


def annotated(
    annotators: Sequence[Annotator], kind: str, records: Sequence[bytes]
) -> list[dict[str, str]]:
    """The stored numbers of documents, by the field of each annotation.

    Args:
        annotators: Compute them.
        kind: The kind of the records.
        records: The records as JSON.
    """
    rows: list[dict[str, str]] = [{} for _ in records]
    if not annotators:
        return rows
    decode = msgspec.json.Decoder(RECORD_TYPES[kind]).decode
    read = [decode(record) for record in records]
    for each in annotators:
        for first in range(0, len(read), each.batch_documents):
            texts = [each.text(record) for record in read[first : first + each.batch_documents]]
            for place, row in enumerate(packed(each.numbers(texts)), start=first):
                rows[place][annotation_field(each.name)] = base64.b64encode(row.tobytes()).decode()
    return rows


def width_of(annotator: Annotator) -> int:
    """The width of an annotator's vectors; 0 where it gives single numbers."""
    form = packed(annotator.numbers(["a"]))
    return form.shape[1] if form.ndim > 1 else 0


class _MissingCopiesError(ClusterError):
    """No nodes take all copies of the shards."""


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


def build_on_cluster(
    corpus: Corpus,
    address: Address,
    options: BuildOptions,
    loading: ClusterOptions | None = None,
) -> BulkCounts:
    """Build an index on a cluster, in place of the one that may be there.

    A build that was stopped is resumed by the same call: documents that the cluster has
    acknowledged are not sent again.

    Raises:
        DataError: The corpus cannot be read or is empty, or a document is refused.
        ClusterError: The cluster cannot be used. The index of before is as it was.
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
        found = self._connection.ask("GET", f"/{start}*", params={"expand_wildcards": "all"})
        names = sorted(found or {}, key=lambda name: int(name.removeprefix(start)))
        for name in names:
            stored = read_state(self._connection, name)
            if name != self._old and (stored is None or not stored.state.is_finished):
                refresh(self._connection, name)
                self._loading.message("resuming the build that was stopped")
                return name, False
        number = int(names[-1].removeprefix(start)) + 1 if names else 1
        name = f"{start}{number}"
        body = {
            "settings": mapping.settings(self._loading.shards, 0, SIMILARITY),
            "mappings": mapping.mapping(
                len(self._corpus.fields),
                self._options.analysis.forms,
                [each.name for each in self._options.annotators],
            ),
        }
        try:
            self._connection.ask("PUT", f"/{name}", body, params={"wait_for_active_shards": "1"})
        except ClusterError as error:
            # an answer may have been lost
            if error.kind != "resource_already_exists_exception":
                raise
        return name, True

    def _place_copies(self, index: str) -> None:
        """See that nodes take the copies of an empty index, before hours of loading.

        The copies go again: to make them when all is loaded takes less work.
        """
        loading = self._loading
        if loading.replicas:
            # where a node has just gone, the engine would wait a minute for it
            self._set_copies(index, loading.replicas, **{_DELAY: "0s"})
            _wait_for_copies(
                self._connection, index, loading.placing_seconds, loading.message,
                "nothing was loaded",
            )  # fmt: skip
        # a build that was stopped before this line may have wanted more
        self._set_copies(index, 0, **{_DELAY: None})

    def _fingerprint(self) -> str:
        """A hash of the source and settings: a build that was stopped has the same one."""
        settings = msgspec.json.encode(
            [
                self._corpus.records, self._corpus.fields, self._options.analysis.signature(),
                self._loading.shards, self._corpus.checksum(), self._once(),
                [(each.name, each.entry) for each in self._options.annotators],
            ],
            order="sorted",
        )  # fmt: skip
        return hashlib.sha256(settings).hexdigest()[:12]

    def _once(self) -> str:
        """A unique text where the documents cannot be compared with those of another build."""
        return "" if self._corpus.size() else uuid.uuid4().hex

    def _write_state(self, index: str) -> Stored:
        state = ClusterState(
            self._corpus.records,
            self._corpus.fields,
            self._options.analysis.signature(),
            source=self._options.source or {},
            annotations={each.name: each.entry for each in self._options.annotators},
            widths={each.name: width_of(each) for each in self._options.annotators},
        )
        return write_state(self._connection, index, state, None)

    def _load(self, index: str, is_new: bool) -> tuple[BulkCounts, int]:
        loading = self._loading
        preparation = Preparation(
            self._corpus, self._options, _FIRST_CHANGE, 0, loading.batch_bytes
        )
        with BulkLoader(
            self._connection, index, _FIRST_CHANGE, loading.workers, reporter(self._options)
        ) as loader:
            for numbers, documents in preparation.groups():
                wanted = list(numbers)
                if not is_new:
                    there = numbers_between(self._connection, index, numbers, _FIRST_CHANGE)
                    places = [place for place, n in enumerate(numbers) if n not in there]
                    known = [i.decode() for i, n in zip(documents.ids, numbers, strict=True)
                             if n in there]  # fmt: skip
                    loader.count(known)
                    documents = documents.keep(places, len(self._corpus.fields))
                    wanted = [numbers[place] for place in places]
                for batch in preparation.batches(wanted, documents):
                    loader.submit(batch)
            counts = loader.finish()
        if not counts.acknowledged:
            raise DataError("holds no document", str(self._corpus.files[0]))
        return counts, preparation.next_number

    def _put_in_place(
        self, index: str, stored: Stored, counts: BulkCounts, next_number: int
    ) -> None:
        connection, loading = self._connection, self._loading
        self._set_copies(index, loading.replicas, refresh_interval=None)
        if loading.merge:
            params = {"max_num_segments": "1"}
            connection.ask("POST", f"/{index}/_forcemerge", params=params, time_limits=_MERGING)
        outcome = "the same command resumes"
        _wait_for_copies(connection, index, loading.copies_seconds, loading.message, outcome)
        refresh(connection, index)
        found = count_documents(
            connection, index, len(self._corpus.fields), mapping.live(_FIRST_CHANGE)
        )
        if (found.documents, found.hashes) != (counts.acknowledged, counts.hashes):
            raise SicetnonError(
                f"{connection.address}: the cluster has {counted(found.documents, 'document')}, "
                f"but acknowledged {counts.acknowledged:,}, or others; nothing was changed, and "
                "the same command resumes"
            )
        state = msgspec.structs.replace(
            stored.state,
            is_finished=True,
            change=_FIRST_CHANGE,
            next_number=next_number,
            documents=found.documents,
            field_totals=found.field_totals,
            hashes=found.hashes,
        )
        write_state(connection, index, state, stored)
        self._move_alias(index)
        _LOG.info("built %s: %s", connection.address, counted(found.documents, "document"))

    def _set_copies(self, index: str, replicas: int, **others: object) -> None:
        settings = {"index": {"number_of_replicas": replicas, **others}}
        self._connection.ask("PUT", f"/{index}/_settings", settings, time_limits=_SETTING)

    def _move_alias(self, index: str) -> None:
        name = self._connection.address.name
        actions: list[dict[str, object]] = [{"add": {"index": index, "alias": name}}]
        if self._old is not None:
            actions.append({"remove_index": {"index": self._old}})
        try:
            self._connection.ask("POST", "/_aliases", {"actions": actions}, time_limits=_SETTING)
        except ClusterError as error:
            # an answer may have been lost, and the request sent again
            if error.status != 404 or physical_index(self._connection) != index:
                raise

    def _remove(self, index: str) -> None:
        self._connection.ask("DELETE", f"/{index}", is_missing_fine=True)


def reporter(options: BuildOptions) -> Callable[[Refusal], None]:
    """A callback that reports refused documents as documents that cannot be used."""

    def report(refusal: Refusal) -> None:
        options.on_error(DataError(f"the id {refusal.id!r} {refusal.reason}", refusal.file))

    return report


def _wait_for_copies(
    connection: Connection,
    index: str,
    seconds: float,
    message: Callable[[str], None],
    outcome: str,
) -> None:
    """Wait until all copies of all shards are there.

    Raises:
        _MissingCopiesError: They are not after so many seconds. The error says the outcome.
    """
    begin, is_told = time.monotonic(), False
    while True:
        # a refresh also counts copies that are still being made
        shards = connection.ask("GET", f"/{index}/_stats/docs")["_shards"]
        if shards["successful"] >= shards["total"]:
            return
        there = f"{shards['successful']} of {shards['total']} copies of shards are there"
        if time.monotonic() - begin > seconds:
            raise _MissingCopiesError(
                f"{connection.address}: only {there}, and each copy of a shard needs a node of its "
                f"own; add nodes, or use fewer --replicas (0 for one node); {outcome}"
            )
        if not is_told and time.monotonic() - begin > _PATIENT_SECONDS:
            is_told = True
            message(f"{there}; waiting up to {seconds:g} seconds for the others")
        time.sleep(0.5)


def unfinished_builds(connection: Connection, current: str | None) -> Sequence[str]:
    """The indexes of builds that were stopped, or that go on now."""
    name = connection.address.name
    found = connection.ask("GET", f"/{name}.*", params={"expand_wildcards": "all"})
    return sorted(set(found or {}) - {current})


def cluster_facts(address: Address) -> list[tuple[str, str]]:
    """Shards, copies, nodes and size of an index, and builds that were stopped."""
    with closing(Connection(address)) as connection:
        index = required_index(connection)
        settings = connection.ask("GET", f"/{index}/_settings")[index]["settings"]["index"]
        stats = connection.ask("GET", f"/{index}/_stats/store,docs")
        whole, copies = stats["_shards"]["total"], stats["_shards"]["successful"]
        size = stats["_all"]["total"]["store"]["size_in_bytes"]
        facts = [
            ("shards", settings["number_of_shards"]),
            ("copies", f"{copies} of {whole} there"),
            ("size", f"{size / 1e6:,.1f} MB, all copies"),
        ]
        if stopped := unfinished_builds(connection, index):
            facts.append(("unfinished", ", ".join(stopped)))
        return facts
