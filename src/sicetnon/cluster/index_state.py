"""The state of an index on a cluster, which commits changes, and the lock of its writer.

The state is a document of the index: its description and its last change. Replacing it commits a
change: searches leave out documents of later changes, and documents that wait for their deletion.
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
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.manifest import AnnotationEntry, Manifest

_FORMAT, _FORMAT_VERSION = "sicetnon cluster index", 2
LEASE_SECONDS = 20.0
"""A lock that is not renewed for so long is free."""

_PHYSICAL = re.compile(r"[a-z0-9][a-z0-9_-]*\.[0-9a-f]{12}-\d+")


class ClusterState(msgspec.Struct, frozen=True):
    """The state of an index after its last change.

    Attributes:
        records: The kind of its documents.
        fields: The indexed fields.
        analysis: The signature of the analysis.
        is_finished: Whether it was loaded completely.
        change: The number of the last change; building is the first.
        next_number: The number that the next document gets.
        documents: The number of documents.
        field_totals: Terms of all documents by field.
        hashes: The sums of the hashes of all ids.
        pending: Numbers of documents that are deleted, but perhaps not gone yet.
        source: The origin of the documents, if it is known.
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
    format: str = _FORMAT
    version: int = _FORMAT_VERSION

    def manifest(self) -> Manifest:
        """The state as the manifest of an index without segments."""
        return Manifest(
            self.records, self.fields, self.analysis, (), 1, self.source, self.annotations,
            self.generator,
        )  # fmt: skip


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_CLUSTER_STATE = msgspec.json.Decoder(ClusterState)


_Version = dict[str, str]
"""The version of a document, as parameters of a write, which then demand that it is the last."""


class StoredState(msgspec.Struct, frozen=True):
    """A state with the version of its document."""

    state: ClusterState
    version: _Version


def physical_index(
    connection: Connection, time_limits: TimeLimits = USUAL, is_local: bool = False
) -> str | None:
    """The engine's index for the name of an address, or None.

    If `is_local`, the host answers from its own copy of the cluster's state. Otherwise it asks the
    elected manager, which may hang.
    """
    address, params = connection.address, {"local": "true"} if is_local else {}

    def get(path: str) -> Any:
        return connection.ask(
            "GET", path, params=params, is_missing_fine=True, time_limits=time_limits
        )

    # the name stands before the alias, too, so that rights on other indexes are not needed
    names: list[str] = sorted(get(f"/{address.name}/_alias/{address.name}") or {})
    if not names:
        if get(f"/{address.name}") is not None:
            raise BrokenIndexError(f"{address}: is an index that sicetnon has not made")
        return None
    if len(names) > 1 or not _PHYSICAL.fullmatch(names[0]):
        raise BrokenIndexError(f"{address}: is an alias of {', '.join(names)}, which is no index")
    return names[0]


def required_index(
    connection: Connection, time_limits: TimeLimits = USUAL, is_local: bool = False
) -> str:
    """The engine's index for the name of an address; an error if there is none."""
    index = physical_index(connection, time_limits, is_local)
    if index is None:
        address = connection.address
        raise BrokenIndexError(
            f"{address}: there is no such index; build it: sicetnon index build SOURCE -o {address}"
        )
    return index


def read_state(
    connection: Connection, index: str, time_limits: TimeLimits = USUAL
) -> StoredState | None:
    """The state of an index, or None if the index or its state is not there."""
    stored = _read(connection, index, STATE, time_limits)
    if stored is None:
        return None
    record, version = stored
    try:
        state = _CLUSTER_STATE.decode(record)
        if (state.format, state.version) != (_FORMAT, _FORMAT_VERSION):
            raise ValueError(f"found {state.format} version {state.version}")
        if state.records not in RECORD_TYPES:
            raise ValueError(f"found records of the kind {state.records!r}")
    except ValueError as error:
        raise BrokenIndexError(
            f"{connection.address}: its state is damaged or foreign: {error}; build it again"
        ) from None
    return StoredState(state, version)


def finished_state(
    connection: Connection, index: str, time_limits: TimeLimits = USUAL
) -> StoredState:
    """The state of an index; an error if it was not loaded completely."""
    stored = read_state(connection, index, time_limits)
    if stored is None or not stored.state.is_finished:
        raise BrokenIndexError(f"{connection.address}: was not loaded whole; build it again")
    return stored


def write_state(
    connection: Connection, index: str, state: ClusterState, after: StoredState | None
) -> StoredState:
    """Replace a state, or write the first one; an error if another process has done so."""
    params = after.version if after else {"op_type": "create"}
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
    return StoredState(state, written)


class WriterLock:
    """Lets one process write to an index; free again when that process ends, however it ends.

    A lock that is not renewed for `lease` seconds is free.
    """

    def __init__(self, connection: Connection, index: str, lease: float = LEASE_SECONDS):
        self._connection, self._index, self._lease = connection, index, lease
        self._name, self._beats = uuid.uuid4().hex, 0
        self._version = self._take()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

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
                params=self._version,
                is_missing_fine=True,
            )
        except ClusterError as error:
            # the lock ends after the lease anyway
            if error.status not in (0, 409) and not error.may_pass:
                raise

    def _take(self) -> _Version:
        held = _read(self._connection, self._index, LOCK)
        try:
            if held is None:
                return self._beat({"op_type": "create"})
            time.sleep(self._lease)
            now = _read(self._connection, self._index, LOCK)
            if now is None or now[1] == held[1]:
                return self._beat(held[1] if now else {"op_type": "create"})
        except ClusterError as error:
            if error.status != 409:
                raise
        raise SicetnonError(f"{self._connection.address}: another process is writing to this index")

    def _beat(self, params: dict[str, str]) -> _Version:
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

    def _renew(self) -> None:
        while not self._end.wait(self._lease / 4):
            try:
                self._version = self._beat(self._version)
            except ClusterError as error:
                if error.status in (404, 409):
                    # the state can be replaced once only, so that nothing is lost
                    return


def _path(index: str, identifier: str) -> str:
    return f"/{index}/_doc/{identifier.replace(' ', '%20')}"


def _read(
    connection: Connection, index: str, identifier: str, time_limits: TimeLimits = USUAL
) -> tuple[str, _Version] | None:
    path = _path(index, identifier)
    document = connection.ask("GET", path, is_missing_fine=True, time_limits=time_limits)
    if not document or not document.get("found"):
        return None
    return document["_source"]["record"], _version_of(document)


def _write(
    connection: Connection, index: str, identifier: str, record: str, params: dict[str, str]
) -> _Version:
    written = connection.ask("PUT", _path(index, identifier), {"record": record}, params=params)
    return _version_of(written)


def _version_of(response: dict[str, Any]) -> _Version:
    number, term = response["_seq_no"], response["_primary_term"]
    return {"if_seq_no": str(number), "if_primary_term": str(term)}
