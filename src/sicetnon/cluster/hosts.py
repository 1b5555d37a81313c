"""The hosts of a cluster: which one is asked next, and which ones are left for a while."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, wait
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3

from sicetnon.cluster.address import Address
from sicetnon.cluster.credentials import Credentials
from sicetnon.errors import UsageError, needing
from sicetnon.formats.files import Limits
from sicetnon.services.deadline import (
    FloodError,
    LimitedConnection,
    LimitedSecureConnection,
    has_cause,
    within,
)

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

MOST_ANSWER_BYTES = 1 << 30
"""Bytes of an answer; the engine sends far less for any request of this package."""

_PART = 1 << 20
_LEFT_SECONDS = 10.0
_SLOW_SECONDS = 0.7
_PROBE_SECONDS = 0.4
LONGEST_PROBE = _PROBE_SECONDS + 0.1
"""Seconds that `Hosts.probe` takes at most."""

_LOG = logging.getLogger("sicetnon.cluster")


class AnswerTooLongError(Exception):
    """An answer has more bytes than the limit."""


class Host:
    """One host.

    Attributes:
        client: Sends requests to it.
        node: The engine's id for its node, once it is known.
    """

    def __init__(self, opened: OpenSearch):
        self.client, self.node = opened, ""
        self._left_until = 0.0

    @property
    def is_left(self) -> bool:
        """Whether requests avoid the host for a while, since it failed."""
        return time.monotonic() < self._left_until

    def leave(self, waited: float = 0.0) -> None:
        """Ask it no more for a while.

        Args:
            waited: Seconds of the request that the host did not answer; it is left for at least
                twice as long.
        """
        self._left_until = time.monotonic() + max(_LEFT_SECONDS, 2 * waited)

    def welcome(self) -> None:
        """Ask it again."""
        self._left_until = 0.0

    def probe(self) -> bool:
        """Whether the host answers; the id of its node is kept."""
        from opensearchpy.exceptions import OpenSearchException, TransportError

        try:
            answer = self.client.transport.perform_request(
                "GET",
                "/_nodes/_local",
                params={"filter_path": "nodes.*.name"},
                timeout=_PROBE_SECONDS,
            )
            self.node = msgspec.convert(next(iter(answer["nodes"])), str)
        except TransportError as error:
            # a refusal is an answer
            return isinstance(error.status_code, int)
        except (
            OpenSearchException,
            LookupError,
            StopIteration,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
        ):
            # something else than the engine answers, or the client takes its error for an object
            return False
        return True


class Hosts:
    """All hosts of an address. Threads may share them."""

    def __init__(self, clients: Sequence[OpenSearch]):
        self._hosts = [Host(each) for each in clients]
        self._turn = itertools.count()
        self._lock = threading.Lock()
        self._probed, self._some_answer = 0.0, True
        self._busy_until, self._kept_until, self._others_until = 0.0, 0.0, 0.0

    def next(self) -> Host:
        """The host that is asked next: by turns, those that are left last."""
        turn = next(self._turn)
        hosts = [
            self._hosts[(turn + place) % len(self._hosts)] for place in range(len(self._hosts))
        ]
        return next((host for host in hosts if not host.is_left), hosts[0])

    def nodes(self, is_wanted: bool = False) -> str:
        """The ids of the nodes that work on a search, with commas between them; empty for any.

        They are those of the hosts that are not avoided: while some are, and after `keep_to_hosts`.
        Any node works otherwise, and where the id of one is not known.

        Args:
            is_wanted: Whether the nodes of hosts are wanted anyway.
        """
        nodes = [host.node for host in self._hosts if not host.is_left]
        is_wanted = is_wanted or len(nodes) < len(self._hosts) or self._keeps_to_hosts
        if not is_wanted or not all(nodes) or not nodes:
            return ""
        return ",".join(nodes)

    @property
    def _keeps_to_hosts(self) -> bool:
        return time.monotonic() < self._kept_until

    def keep_to_hosts(self) -> None:
        """Let the nodes of the hosts work for a while, since others seem to be gone."""
        self._kept_until = time.monotonic() + _LEFT_SECONDS

    def ask_others_too(self) -> None:
        """Let other nodes work for a while, too, since those of hosts lack a shard."""
        self._others_until = time.monotonic() + _LEFT_SECONDS

    @property
    def work_alone(self) -> bool:
        """Whether a search may use the nodes of the hosts alone.

        A node with a full queue passes its part on to another node, which may be one that hangs.
        """
        return time.monotonic() >= self._others_until

    def left(self) -> frozenset[Host]:
        """The hosts that requests avoid for a while."""
        return frozenset(host for host in self._hosts if host.is_left)

    @property
    def are_busy(self) -> bool:
        """Whether the cluster has lately refused a request, or answered one slowly."""
        return time.monotonic() < self._busy_until

    def note(self, status: int, seconds: float = 0.0) -> None:
        """Remember whether the cluster is busy.

        Args:
            status: The status of its answer.
            seconds: The time that the answer took.
        """
        if status == 429 or seconds > _SLOW_SECONDS:
            self._busy_until = time.monotonic() + _LEFT_SECONDS

    def probe(self, threads: Executor) -> bool:
        """Leave the hosts that do not answer for a while, and no others; whether any answers."""
        with self._lock:
            if time.monotonic() - self._probed >= _PROBE_SECONDS:
                futures = {threads.submit(host.probe): host for host in self._hosts}
                done, late = wait(futures, LONGEST_PROBE)
                gone = [futures[future] for future in late]
                gone += [futures[future] for future in done if not future.result()]
                # where none answers, this machine or the network is slow
                for host in self._hosts if len(gone) < len(self._hosts) else ():
                    if host in gone:
                        _LOG.info("a host does not answer, and is left for %g s", _LEFT_SECONDS)
                        host.leave()
                    else:
                        host.welcome()
                self._probed = time.monotonic()
                self._some_answer = len(gone) < len(self._hosts)
            return self._some_answer

    def close(self) -> None:
        """Close all connections."""
        for host in self._hosts:
            host.client.close()


def client(
    address: Address,
    place: int,
    credentials: Credentials,
    concurrency: int,
    most_bytes: int = MOST_ANSWER_BYTES,
) -> OpenSearch:
    """The client for one host of an address.

    Args:
        address: The address.
        place: The place of the host in it.
        credentials: The secrets.
        concurrency: Number of connections that are kept.
        most_bytes: Bytes of an answer; a longer one ends with an AnswerTooLongError.

    Raises:
        MissingExtraError: The client is not installed.
        UsageError: The certificates cannot be used.
    """
    with needing("an index on a cluster", "cluster"):
        from opensearchpy import JSONSerializer, OpenSearch

    class Serializer(JSONSerializer):
        def loads(self, s: str) -> Any:
            from opensearchpy.exceptions import SerializationError

            try:
                return msgspec.json.decode(s)
            except msgspec.DecodeError as error:
                raise SerializationError(s[:200], error) from None

        def dumps(self, data: Any) -> Any:
            return data

    # what it logs would reach people through the interpreter's last resort
    logging.getLogger("opensearch").addHandler(logging.NullHandler())
    host, port = address.hosts[place]
    try:
        opened = OpenSearch(
            hosts=[{"host": host.strip("[]"), "port": port}],
            serializer=Serializer(),
            max_retries=0,
            pool_maxsize=concurrency,
            **_secured(address, credentials),
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"{address}: the certificates cannot be used: {error}") from None
    _limit(opened.transport.get_connection().pool, most_bytes)
    return opened


def _limit(pool: Any, most_bytes: int) -> None:
    """Let no answer fill the memory or come for ever; the client reads each one whole."""
    send = pool.urlopen
    secure = isinstance(pool, urllib3.HTTPSConnectionPool)
    pool.ConnectionCls = LimitedSecureConnection if secure else LimitedConnection

    def limited(*arguments: Any, timeout: float = 30.0, **options: Any) -> SimpleNamespace:
        try:
            with within(timeout, most_bytes):
                answer = send(*arguments, **options, timeout=timeout, preload_content=False)
                data = _read(answer, most_bytes)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if has_cause(error, FloodError):
                raise AnswerTooLongError from None
            raise
        answer.release_conn()
        return SimpleNamespace(data=data, headers=answer.headers, status=answer.status)

    pool.urlopen = limited


def _read(answer: urllib3.BaseHTTPResponse, most_bytes: int) -> bytes:
    """The body of an answer, unpacked within the limits of files: a server may pack it unasked."""
    limits, parts, size = Limits.from_environment(), list[bytes](), 0
    while part := answer.read(_PART):
        parts.append(part)
        size += len(part)
        # bytes that came from the network
        is_bomb = limits.unpacks_too_much(answer.tell(), size, "") is not None
        if size > most_bytes or is_bomb:
            answer.close()
            raise AnswerTooLongError
    return b"".join(parts)


def _secured(address: Address, credentials: Credentials) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if address.scheme == "https":
        settings = {
            "use_ssl": True,
            "verify_certs": credentials.verify,
            "ssl_show_warn": False,
            "ca_certs": credentials.ca or None,
            "client_cert": credentials.certificate or None,
            "client_key": credentials.key or None,
        }
        if not credentials.verify:
            settings["ssl_assert_hostname"] = False
    if credentials.user:
        settings["http_auth"] = (credentials.user, credentials.password.reveal())
    elif credentials.api_key:
        settings["headers"] = {"Authorization": f"ApiKey {credentials.api_key.reveal()}"}
    return settings
