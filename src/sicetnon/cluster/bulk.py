"""Bulk requests: several workers, pauses where the cluster is busy, every refusal by name."""

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
from sicetnon.cluster.statistics import stored_values
from sicetnon.cluster.transport import Connection, TimeLimits, paused

_LOG = logging.getLogger("sicetnon.cluster")
_LIMITS = TimeLimits(60.0, 60.0)
_CREATED, _CONFLICT, _TOO_LARGE = (200, 201), 409, 413
_FILTER = "errors,items.*.status,items.*.result,items.*.error.reason"
_NUMBERS_AT_ONCE = 1000


@dataclass(frozen=True)
class BulkDocument:
    """A document on its way.

    Attributes:
        id: Its id.
        number: Its number.
        lines: Its lines in a bulk request.
    """

    id: str
    number: int
    lines: bytes


@dataclass(frozen=True)
class BulkBatch:
    """Documents that are sent together.

    Attributes:
        documents: The documents.
        forms: Lines that must be there before the documents are.
        file: Their file, for messages.
    """

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


@dataclass(frozen=True)
class Refusal:
    """A document that the cluster does not take.

    Attributes:
        id: Its id.
        reason: Why.
        file: Its file.
    """

    id: str
    reason: str
    file: str


@dataclass
class _Result:
    accepted: list[BulkDocument] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class BulkLoader:
    """Sends batches of documents. Use as a context manager, so that an error ends its workers.

    Args:
        connection: The cluster.
        index: The index.
        change: The change that the documents belong to.
        workers: Number of requests at a time.
        on_refusal: Called in the caller's thread with each document that is not taken.
        give_up: Seconds without any progress of a request after which it fails.
    """

    def __init__(
        self,
        connection: Connection,
        index: str,
        change: int,
        workers: int,
        on_refusal: Callable[[Refusal], None],
        give_up: float = 300.0,
    ):
        self._connection, self._index, self._change = connection, index, change
        self._on_refusal, self._give_up = on_refusal, give_up
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
        """Send a batch when a worker is free; waits while too many batches do.

        Raises:
            ClusterError: A batch cannot be sent.
        """
        while len(self._waiting) >= self._most_waiting:
            self._collect()
        self._waiting.add(self._pool.submit(self._send, batch))

    def finish(self) -> BulkCounts:
        """Wait for all batches.

        Raises:
            ClusterError: A batch cannot be sent.
        """
        while self._waiting:
            self._collect()
        return self.counts

    def count(self, ids: Sequence[str]) -> None:
        """Count documents that the cluster has."""
        sums = [sum(part) for part in zip(*map(id_hash, ids), strict=True)] or [0, 0]
        self.counts.acknowledged += len(ids)
        first, second = self.counts.hashes
        self.counts.hashes = (first + sums[0], second + sums[1])

    def _collect(self) -> None:
        done, self._waiting = wait(self._waiting, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            self.count([document.id for document in result.accepted])
            for refusal in result.refused:
                self._on_refusal(refusal)

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
                        f"{self._connection.address}: is too busy, or not there, for "
                        f"{self._give_up:.0f} s; the same command resumes"
                    )
                self._stopped.wait(paused(attempt))
        return result

    def _attempt(
        self, documents: list[BulkDocument], file: str, result: _Result
    ) -> list[BulkDocument]:
        """Send documents once; those that are to be sent again."""
        try:
            answers = self._bulk(b"".join(document.lines for document in documents))
        except ClusterError as error:
            if error.status == _TOO_LARGE and len(documents) > 1:
                half = len(documents) // 2
                rest = self._attempt(documents[:half], file, result)
                return rest + self._attempt(documents[half:], file, result)
            if error.status == _TOO_LARGE:
                result.refused.append(Refusal(documents[0].id, "it is too large", file))
                return []
            if not error.may_pass:
                raise
            _LOG.info("sending again: %s", error)
            return documents
        with self._lock:
            self.counts.sent += len(documents)
        return self._sorted_out(documents, answers, file, result)

    def _sorted_out(
        self, documents: list[BulkDocument], answers: Sequence[Any], file: str, result: _Result
    ) -> list[BulkDocument]:
        again, conflicts = [], []
        for document, answer in zip(documents, answers, strict=True):
            outcome = answer["index"]
            status = outcome["status"]
            if status in _CREATED:
                if outcome.get("result") == "updated":
                    # a document with a higher number came first, and has been replaced
                    result.refused.append(_repeated(document, file))
                else:
                    result.accepted.append(document)
            elif status == _CONFLICT:
                conflicts.append(document)
            elif status in BUSY:
                again.append(document)
            else:
                reason = outcome.get("error", {}).get("reason", f"status {status}")
                result.refused.append(Refusal(document.id, f"was refused: {reason[:300]}", file))
        if conflicts:
            there = self._numbers([document.id for document in conflicts])
            for document in conflicts:
                if there.get(document.id) == document.number:
                    # it was acknowledged, but the answer was lost
                    result.accepted.append(document)
                else:
                    result.refused.append(_repeated(document, file))
        return again

    def _numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of documents of this change that the cluster has, by id."""
        found: dict[str, int] = {}
        connection, time_limits = self._connection, TimeLimits(60.0, self._give_up)
        for first in range(0, len(ids), _NUMBERS_AT_ONCE):
            part = ids[first : first + _NUMBERS_AT_ONCE]
            connection.ask("POST", f"/{self._index}/_refresh", time_limits=time_limits)
            query = {"terms": {"_id": [stored_id(each, self._change) for each in part]}}
            columns = ["id", "number"]
            rows = stored_values(connection, self._index, [query], columns, len(part), time_limits)
            found.update(rows)
        return found

    def _send_forms(self, data: bytes) -> None:
        attempt, start = 0, time.monotonic()
        while not self._stopped.is_set():
            try:
                answers = self._bulk(data)
                if all(answer["index"]["status"] in _CREATED for answer in answers):
                    return
            except ClusterError as error:
                if not error.may_pass or time.monotonic() - start > self._give_up:
                    raise
            attempt += 1
            self._stopped.wait(paused(attempt))

    def _bulk(self, data: bytes) -> Sequence[Any]:
        answer = self._connection.ask(
            "POST", f"/{self._index}/_bulk", data, params={"filter_path": _FILTER},
            time_limits=_LIMITS,
        )  # fmt: skip
        found: Sequence[Any] = answer["items"]
        return found


def _repeated(document: BulkDocument, file: str) -> Refusal:
    return Refusal(document.id, "occurs more than once; every document needs its own", file)
