"""Bulk requests: several workers, pauses while the cluster is busy, every refusal by name.

The helpers of opensearch-py are not used: they repeat an item that the cluster refused with status
429, but not one with status 503, which is what a node that has just gone gives; they neither halve
a request that is too large nor learn whether an item was accepted whose response was lost.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from sicetnon.cluster.mapping import id_hash, stored_id
from sicetnon.cluster.responses import BUSY, ClusterError
from sicetnon.cluster.transport import Connection, IndexClient, TimeLimits, pause_before
from sicetnon.errors import DataError

_LOG = logging.getLogger("sicetnon.cluster")
_LIMITS = TimeLimits(60.0, 60.0)
_CREATED, _CONFLICT, _TOO_LARGE = (200, 201), 409, 413
_FILTER = "errors,items.*.status,items.*.result,items.*.error.reason"
_NUMBERS_PER_REQUEST = 1000
_REPEATED = "occurs more than once; every document needs its own"


@dataclass(frozen=True)
class BulkDocument:
    """A document with its id, its number, and its lines in a bulk request."""

    id: str
    number: int
    lines: bytes


@dataclass(frozen=True)
class BulkBatch:
    """Documents of a file that are sent together, and lines that are sent before them."""

    documents: Sequence[BulkDocument]
    forms: bytes = b""
    file: str = ""


@dataclass
class BulkCounts:
    """Counts of the documents that were sent.

    Attributes:
        acknowledged: Number of documents that the cluster has.
        sent: Number of documents sent, repetitions included.
        hashes: The sums of the hashes of the ids of all documents that the cluster has.
    """

    acknowledged: int = 0
    sent: int = 0
    hashes: tuple[int, int] = (0, 0)


@dataclass
class _Result:
    accepted: list[BulkDocument] = field(default_factory=list)
    refused: list[DataError] = field(default_factory=list)

    def refuse(self, document: BulkDocument, reason: str, file: str) -> None:
        self.refused.append(DataError(f"the id {document.id!r} {reason}", file))


class BulkLoader:
    """Sends batches of documents. Use as a context manager, so that an error ends its workers.

    Args:
        connection: The cluster.
        index: The engine's index.
        change: The change that the documents belong to.
        workers: Number of requests at a time.
        on_error: Called in the caller's thread for each document that the cluster refuses.
        give_up: Seconds without any progress of a request after which it fails.
    """

    def __init__(
        self,
        connection: Connection,
        index: str,
        change: int,
        workers: int,
        on_error: Callable[[DataError], None],
        give_up: float = 300.0,
    ):
        self._client = IndexClient(connection, index, TimeLimits(60.0, give_up))
        self._change, self._on_error, self._give_up = change, on_error, give_up
        self._most_waiting = workers + 2
        self._pool = ThreadPoolExecutor(workers)
        self._waiting: set[Future[_Result]] = set()
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self.counts = BulkCounts()

    def __enter__(self) -> BulkLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, batch: BulkBatch) -> None:
        """Send a batch when a worker is free; waits while too many batches do."""
        while len(self._waiting) >= self._most_waiting:
            self._collect()
        self._waiting.add(self._pool.submit(self._send, batch))

    def finish(self) -> BulkCounts:
        """Wait for all batches, and count their documents."""
        while self._waiting:
            self._collect()
        return self.counts

    def count(self, ids: Sequence[str]) -> None:
        """Count documents that the cluster has."""
        first, second = self.counts.hashes
        for more_first, more_second in map(id_hash, ids):
            first, second = first + more_first, second + more_second
        self.counts.acknowledged += len(ids)
        self.counts.hashes = (first, second)

    def _collect(self) -> None:
        done, self._waiting = wait(self._waiting, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            self.count([document.id for document in result.accepted])
            for error in result.refused:
                self._on_error(error)

    def _send(self, batch: BulkBatch) -> _Result:
        if batch.forms:
            self._send_forms(batch.forms)
        result, remaining = _Result(), list(batch.documents)
        attempt, progress = 0, time.monotonic()
        while remaining and not self._stopped.is_set():
            before = len(remaining)
            remaining = self._attempt(remaining, batch.file, result)
            if len(remaining) < before:
                attempt, progress = 0, time.monotonic()
            if remaining:
                attempt += 1
                if time.monotonic() - progress > self._give_up:
                    raise ClusterError(
                        f"{self._client.connection.address}: is too busy, or not there, for "
                        f"{self._give_up:.0f} s; the same command resumes"
                    )
                self._stopped.wait(pause_before(attempt))
        return result

    def _attempt(
        self, documents: list[BulkDocument], file: str, result: _Result
    ) -> list[BulkDocument]:
        """Send documents once; returns those that must be sent again."""
        try:
            items = self._bulk(b"".join(document.lines for document in documents))
        except ClusterError as error:
            if error.status == _TOO_LARGE and len(documents) > 1:
                half = len(documents) // 2
                rest = self._attempt(documents[:half], file, result)
                return rest + self._attempt(documents[half:], file, result)
            if error.status == _TOO_LARGE:
                result.refuse(documents[0], "it is too large", file)
                return []
            if not error.may_pass:
                raise
            _LOG.info("sending again: %s", error)
            return documents
        with self._lock:
            self.counts.sent += len(documents)
        return self._sort_out(documents, items, file, result)

    def _sort_out(
        self, documents: list[BulkDocument], items: Sequence[Any], file: str, result: _Result
    ) -> list[BulkDocument]:
        """Add accepted and refused documents to the result; returns the others."""
        again, conflicts = [], []
        for document, item in zip(documents, items, strict=True):
            outcome = item["index"]
            status = outcome["status"]
            if status in _CREATED:
                if outcome.get("result") == "updated":
                    # a document with a higher number came first, and has been replaced
                    result.refuse(document, _REPEATED, file)
                else:
                    result.accepted.append(document)
            elif status == _CONFLICT:
                conflicts.append(document)
            elif status in BUSY:
                again.append(document)
            else:
                reason = outcome.get("error", {}).get("reason", f"status {status}")
                result.refuse(document, f"was refused: {reason[:300]}", file)
        numbers = self._numbers([document.id for document in conflicts])
        for document in conflicts:
            if numbers.get(document.id) == document.number:
                # it was acknowledged, but the response was lost
                result.accepted.append(document)
            else:
                result.refuse(document, _REPEATED, file)
        return again

    def _numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of documents of this change that the cluster has, by id."""
        numbers: dict[str, int] = {}
        for first in range(0, len(ids), _NUMBERS_PER_REQUEST):
            some = ids[first : first + _NUMBERS_PER_REQUEST]
            self._client.refresh()
            query = {"terms": {"_id": [stored_id(each, self._change) for each in some]}}
            numbers.update(self._client.values([query], ["id", "number"], len(some)))
        return numbers

    def _send_forms(self, data: bytes) -> None:
        attempt, start = 0, time.monotonic()
        while not self._stopped.is_set():
            try:
                items = self._bulk(data)
                if all(item["index"]["status"] in _CREATED for item in items):
                    return
            except ClusterError as error:
                if not error.may_pass or time.monotonic() - start > self._give_up:
                    raise
            attempt += 1
            self._stopped.wait(pause_before(attempt))

    def _bulk(self, data: bytes) -> Sequence[Any]:
        response = self._client.connection.ask(
            "POST",
            f"/{self._client.index}/_bulk",
            data,
            params={"filter_path": _FILTER},
            time_limits=_LIMITS,
        )
        items: Sequence[Any] = response["items"]
        return items
