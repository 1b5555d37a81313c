"""The state of an index on a cluster: its description and its last change.

The state is a document of the index. Replacing it commits a change: documents of later changes and
documents that wait for their deletion are not found before.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from typing import Any

import msgspec

from sicetnon._version import VERSION
from sicetnon.cluster.mapping import LOCK, STATE
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.transport import USUAL, Connection, TimeLimits
from sicetnon.errors import BrokenIndexError, SicetnonError
from sicetnon.index.documents import RECORD_TYPES
from sicetnon.index.manifest import AnnotationEntry, Manifest

FORMAT, FORMAT_VERSION = "sicetnon cluster index", 2
LEASE_SECONDS = 20.0
"""A lock that shows no sign of life for so long is free."""

_PHYSICAL = re.compile(r"[a-z0-9][a-z0-9_-]*\.[0-9a-f]{12}-\d+")


class ClusterState(msgspec.Struct, frozen=True):
    """The state of an index after its last change.

    Attributes:
        records: The kind of its documents.
        fields: The indexed fields.
        analysis: The signature of the analysis.
        is_finished: Whether it was loaded whole.
        change: The number of the last change; building is the first.
        next_number: The number that the next document gets.
        documents: The number of documents.
        field_totals: Terms of all documents by field.
        hashes: The sums of the hashes of all ids.
        pending: Numbers of documents that are deleted, but perhaps not gone yet.
        source: The origin of the documents, as far as it is known.
        annotations: The origin of each annotation, by its name.
        widths: The width of the vectors of each annotation; 0 for single numbers.
    """

    records: str
    fields: tuple[str, ...]
    analysis: dict[str, str | bool | int]
    is_finished: bool = False
    change: int = 0
    next_number: int = 0
    documents: int = 0
    field_totals: tuple[int, ...] = ()
    hashes: tuple[int, int] = (0, 0)
    pending: tuple[int, ...] = ()
    source: dict[str, Any] = {}
    annotations: dict[str, AnnotationEntry] = {}
    widths: dict[str, int] = {}
    generator: str = f"sicetnon {VERSION}"
    format: str = FORMAT
    version: int = FORMAT_VERSION

    def manifest(self) -> Manifest:
        """The state as the manifest of an index without segments."""
        return Manifest(
            self.records, self.fields, self.analysis, (), 1, self.source, self.annotations,
            self.generator,
        )  # fmt: skip


class _Sequence(msgspec.Struct, frozen=True):
    """The place of a document's version in its history; a write can demand that it is the last."""

    number: int
    term: int

    @property
    def params(self) -> dict[str, str]:
        return {"if_seq_no": str(self.number), "if_primary_term": str(self.term)}


class Stored(msgspec.Struct, frozen=True):
    """A state with its place in the history of the index."""

    state: ClusterState
    sequence: _Sequence


def physical_index(
    connection: Connection, time_limits: TimeLimits = USUAL, is_local: bool = False
) -> str | None:
    """The index that the name of an address stands for now; None where there is none.

    Args:
        connection: The cluster.
        time_limits: Time limits of each request.
        is_local: Whether the host answers from its own copy of the cluster's state. Otherwise it
            asks the elected manager, which may hang.

    Raises:
        BrokenIndexError: The name is taken by something else.
    """
    address = connection.address

    def known(path: str) -> Any:
        params = {"local": "true"} if is_local else {}
        return connection.ask(
            "GET", path, params=params, is_missing_fine=True, time_limits=time_limits
        )

    # the name stands before the alias, too, so that rights on other indexes are not needed
    names: list[str] = sorted(known(f"/{address.name}/_alias/{address.name}") or {})
    if not names:
        if known(f"/{address.name}") is not None:
            raise BrokenIndexError(f"{address}: is an index that sicetnon has not made")
        return None
    if len(names) > 1 or not _PHYSICAL.fullmatch(names[0]):
        raise BrokenIndexError(f"{address}: is an alias of {', '.join(names)}, which is no index")
    return names[0]


def required_index(
    connection: Connection, time_limits: TimeLimits = USUAL, is_local: bool = False
) -> str:
    """As `physical_index`.

    Raises:
        BrokenIndexError: There is no index of this name.
    """
    found = physical_index(connection, time_limits, is_local)
    if found is None:
        address = connection.address
        raise BrokenIndexError(
            f"{address}: there is no such index; build it: sicetnon index build SOURCE -o {address}"
        )
    return found


def read_state(
    connection: Connection, index: str, time_limits: TimeLimits = USUAL
) -> Stored | None:
    """The state of an index; None where the index or its state is not there.

    Raises:
        BrokenIndexError: It is damaged, or of another version.
    """
    found = _read(connection, index, STATE, time_limits)
    if found is None:
        return None
    record, sequence = found
    try:
        state = msgspec.json.decode(record, type=ClusterState)
        if (state.format, state.version) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"found {state.format} version {state.version}")
        if state.records not in RECORD_TYPES:
            raise ValueError(f"found records of the kind {state.records!r}")
    except ValueError as error:
        raise BrokenIndexError(
            f"{connection.address}: its state is damaged or foreign: {error}; build it again"
        ) from None
    return Stored(state, sequence)


def finished_state(connection: Connection, index: str, time_limits: TimeLimits = USUAL) -> Stored:
    """The state of an index that was loaded whole.

    Raises:
        BrokenIndexError: It was not, or the state is damaged or of another version.
    """
    stored = read_state(connection, index, time_limits)
    if stored is None or not stored.state.is_finished:
        raise BrokenIndexError(f"{connection.address}: was not loaded whole; build it again")
    return stored


def write_state(
    connection: Connection, index: str, state: ClusterState, after: Stored | None
) -> Stored:
    """Put a state in place of another one.

    Args:
        connection: The cluster.
        index: The index.
        state: The new state.
        after: The state that it replaces; None where there must be none.

    Raises:
        SicetnonError: Another process has changed the index meanwhile.
    """
    params = after.sequence.params if after else {"op_type": "create"}
    try:
        written = _write(connection, index, STATE, msgspec.json.encode(state).decode(), params)
    except ClusterError as error:
        if error.status != 409:
            raise
        # an answer may have been lost, and the request sent again
        now = read_state(connection, index)
        if now is not None and now.state == state:
            return now
        raise SicetnonError(
            f"{connection.address}: another process has changed the index; nothing was changed here"
        ) from None
    return Stored(state, written)


class WriterLock:
    """Lets one process write to an index. It is freed when that process ends, however it ends.

    Args:
        connection: The cluster.
        index: The index.
        lease: Seconds without a sign of life after which a lock is free.

    Raises:
        SicetnonError: Another process is writing.
    """

    def __init__(self, connection: Connection, index: str, lease: float = LEASE_SECONDS):
        self._connection, self._index, self._lease = connection, index, lease
        self._name, self._beats = uuid.uuid4().hex, 0
        self._sequence = self._taken()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> WriterLock:
        self._thread.start()
        return self

    def stop_heartbeat(self) -> None:
        """Stop renewing the lock. Once the index is removed, a renewal would create it again."""
        self._end.set()
        self._thread.join()

    def __exit__(self, *_: object) -> None:
        self.stop_heartbeat()
        try:
            self._connection.ask(
                "DELETE",
                _path(self._index, LOCK),
                params=self._sequence.params,
                is_missing_fine=True,
            )
        except ClusterError as error:
            # it ends by itself after the lease
            if error.status not in (0, 409) and not error.may_pass:
                raise

    def _taken(self) -> _Sequence:
        held = _read(self._connection, self._index, LOCK)
        try:
            if held is None:
                return self._beat({"op_type": "create"})
            time.sleep(self._lease)
            now = _read(self._connection, self._index, LOCK)
            if now is None or now[1] == held[1]:
                return self._beat(held[1].params if now else {"op_type": "create"})
        except ClusterError as error:
            if error.status != 409:
                raise
        raise SicetnonError(f"{self._connection.address}: another process is writing to this index")

    def _beat(self, params: dict[str, str]) -> _Sequence:
        self._beats += 1
        record = f"{self._name} {self._beats}"
        try:
            return _write(self._connection, self._index, LOCK, record, params)
        except ClusterError as error:
            # an answer may have been lost, and the request sent again
            now = _read(self._connection, self._index, LOCK) if error.status == 409 else None
            if now is None or now[0] != record:
                raise
            return now[1]

    def _keep(self) -> None:
        while not self._end.wait(self._lease / 4):
            try:
                self._sequence = self._beat(self._sequence.params)
            except ClusterError as error:
                if error.status in (404, 409):
                    # the state can be replaced once only, so that nothing is lost
                    return


def _path(index: str, identifier: str) -> str:
    return f"/{index}/_doc/{identifier.replace(' ', '%20')}"


def _read(
    connection: Connection, index: str, identifier: str, time_limits: TimeLimits = USUAL
) -> tuple[str, _Sequence] | None:
    path = _path(index, identifier)
    found = connection.ask("GET", path, is_missing_fine=True, time_limits=time_limits)
    if not found or not found.get("found"):
        return None
    return found["_source"]["record"], _Sequence(found["_seq_no"], found["_primary_term"])


def _write(
    connection: Connection, index: str, identifier: str, record: str, params: dict[str, str]
) -> _Sequence:
    written = connection.ask("PUT", _path(index, identifier), {"record": record}, params=params)
    return _Sequence(written["_seq_no"], written["_primary_term"])
