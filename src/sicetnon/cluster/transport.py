"""Requests to a cluster: hosts, retries, hedged requests and time limits.

opensearch-py sends each request to one host. Its pool of hosts and its retries are not used: the
pool turns by threads, so that a hedged request may go to the same host again, and does not take
back a host that a probe finds alive; the retries neither pause nor end after some seconds.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3

from sicetnon.cluster.address import PREFIX, Address, Credentials, read_credentials
from sicetnon.cluster.responses import (
    COMPLETE,
    MULTI_SEARCH,
    UNAVAILABLE,
    ClusterError,
    PartialResults,
    is_expected,
    lacks_a_shard,
    reason_of,
    status_of,
)
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
    from opensearchpy import OpenSearch, TransportError

_GUIDE = "docs/how-to/search-a-cluster.md"
_MOST_BYTES = 1 << 30
"""Bytes of a response; the engine sends far less for any request of this package."""

_CHUNK = 1 << 20
_DEAD_SECONDS = 10.0
_SLOW_SECONDS = 0.7
_PROBE_SECONDS = 0.4
_LONGEST_PROBE = _PROBE_SECONDS + 0.1
"""Seconds that `HostPool.probe` takes at most."""

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 8.0
_LEAST_SECONDS = 0.2
"""Seconds for another attempt of a hedged request."""

_ONLY, _PREFERRED = "_only_nodes", "_prefer_nodes"
"""The engine's words: only these nodes work on a search, or these before others."""

_FEW = "2"
"""Number of searches of a request that run at a time where nodes that hang may be asked."""

_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
"""OpenSSL's names for the answer of a server that speaks plain HTTP."""

_LOG = logging.getLogger("sicetnon.cluster")


class TimeLimits(msgspec.Struct, frozen=True):
    """Seconds for one host, until another one is asked, and for all attempts.

    If a request is hedged, the first host may still answer while another one is asked; such a
    request changes nothing.
    """

    attempt: float
    total: float
    is_hedged: bool = False


USUAL = TimeLimits(30.0, 60.0)


class Request(msgspec.Struct, frozen=True):
    """A request, without its host; if it is limited, only the named nodes work on it."""

    method: str
    path: str
    body: bytes | None
    params: dict[str, str]
    is_limited: bool = False

    def at(self, nodes: str, is_limited: bool = True) -> Request:
        """The request with the nodes that work on it, if the engine takes such a parameter.

        If `is_limited`, no other node may work on it. A request for a partial response is never
        limited.
        """
        # a point in time has its nodes already
        if not nodes or self.path.startswith("/_search") or self.method == "DELETE":
            return self
        is_limited = is_limited and self.params.get("allow_partial_search_results") != "true"
        preference = f"{_ONLY if is_limited else _PREFERRED}:{nodes}"
        body, params = self.body, self.params
        if self.path == MULTI_SEARCH:
            # each search has a line of its own for this
            start = b'{"preference":%s,"index":' % msgspec.json.encode(preference)
            body = (body or b"").replace(b'{"index":', start)
            if not is_limited:
                # what a node has no room for goes to the next copy, perhaps on a node that is gone
                params = {**params, "max_concurrent_searches": _FEW}
        elif any(step in self.path for step in ("/_search", "/_doc/")):
            params = {**params, "preference": preference}
        else:
            # what the engine answers from the state of the cluster has no such parameter
            return self
        return Request(self.method, self.path, body, params, is_limited)


class Host:
    """One host: its client, and the engine's id for its node, once it is known."""

    def __init__(self, client: OpenSearch):
        self.client, self.node = client, ""
        self._dead_until = 0.0

    @property
    def is_dead(self) -> bool:
        """Whether requests avoid the host for a while, since it failed."""
        return time.monotonic() < self._dead_until

    def mark_dead(self, waited: float = 0.0) -> None:
        """Avoid the host for a while: at least twice as long as a request waited for it."""
        self._dead_until = time.monotonic() + max(_DEAD_SECONDS, 2 * waited)

    def mark_alive(self) -> None:
        """Use the host again."""
        self._dead_until = 0.0

    def probe(self) -> bool:
        """Whether the host answers; notes the id of its node."""
        from opensearchpy.exceptions import OpenSearchException, TransportError

        try:
            response = self.client.transport.perform_request(
                "GET",
                "/_nodes/_local",
                params={"filter_path": "nodes.*.name"},
                timeout=_PROBE_SECONDS,
            )
            self.node = msgspec.convert(next(iter(response["nodes"])), str)
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


class HostPool:
    """All hosts of an address. Threads may share it."""

    def __init__(self, clients: Sequence[OpenSearch]):
        self._hosts = [Host(client) for client in clients]
        self._turn = itertools.count()
        self._lock = threading.Lock()
        self._probed, self._some_answer = 0.0, True
        self._busy_until, self._own_until, self._others_until = 0.0, 0.0, 0.0

    def next(self) -> Host:
        """The next host by turns; dead ones last."""
        turn = next(self._turn) % len(self._hosts)
        hosts = self._hosts[turn:] + self._hosts[:turn]
        return next((host for host in hosts if not host.is_dead), hosts[0])

    def dead(self) -> frozenset[Host]:
        """The hosts that requests avoid for a while."""
        return frozenset(host for host in self._hosts if host.is_dead)

    def nodes(self, is_required: bool = False) -> str:
        """The ids of the nodes that work on a search, with commas between them; empty for any.

        They are those of living hosts: while some are dead, after `limit_to_own`, and if required.
        Any node works otherwise, and if the id of one is not known.
        """
        nodes = [host.node for host in self._hosts if not host.is_dead]
        is_limited = len(nodes) < len(self._hosts) or time.monotonic() < self._own_until
        return ",".join(nodes) if (is_required or is_limited) and all(nodes) else ""

    def limit_to_own(self) -> None:
        """Let the nodes of the hosts work for a while, since others seem to be gone."""
        self._own_until = time.monotonic() + _DEAD_SECONDS

    def allow_others(self) -> None:
        """Let other nodes work for a while, too, since those of hosts lack a shard."""
        self._others_until = time.monotonic() + _DEAD_SECONDS

    @property
    def may_limit(self) -> bool:
        """Whether a search may use the nodes of the hosts alone.

        A node with a full queue passes its work on to another node, which may be one that hangs.
        """
        return time.monotonic() >= self._others_until

    @property
    def is_busy(self) -> bool:
        """Whether the cluster has lately refused a request, or answered one slowly."""
        return time.monotonic() < self._busy_until

    def note(self, status: int, seconds: float = 0.0) -> None:
        """Note the status of a response and its seconds, which show whether the cluster is busy."""
        if status == 429 or seconds > _SLOW_SECONDS:
            self._busy_until = time.monotonic() + _DEAD_SECONDS

    def probe(self, threads: Executor) -> bool:
        """Avoid the hosts that do not answer, and no others; returns whether any answers."""
        with self._lock:
            if time.monotonic() - self._probed >= _PROBE_SECONDS:
                futures = {threads.submit(host.probe): host for host in self._hosts}
                done, late = wait(futures, _LONGEST_PROBE)
                gone = [futures[future] for future in late]
                gone += [futures[future] for future in done if not future.result()]
                # if none answers, this machine or the network is slow
                for host in self._hosts if len(gone) < len(self._hosts) else ():
                    if host in gone:
                        _LOG.info("a host does not answer; it is avoided for %g s", _DEAD_SECONDS)
                        host.mark_dead()
                    else:
                        host.mark_alive()
                self._probed = time.monotonic()
                self._some_answer = len(gone) < len(self._hosts)
            return self._some_answer

    def close(self) -> None:
        """Close all connections."""
        for host in self._hosts:
            host.client.close()


class _ThreadLimits(threading.local):
    """When the last hedged request of a thread must have ended; seconds that it may still wait."""

    end = math.inf
    left = math.inf


class Connection:
    """Sends requests to the hosts of an address, some at a time. Threads may share it."""

    def __init__(self, address: Address, concurrency: int = 16, most_bytes: int = _MOST_BYTES):
        self.address = address
        self.credentials = read_credentials(address)
        clients = [
            open_client(address, number, self.credentials, concurrency, most_bytes)
            for number in range(len(address.hosts))
        ]
        self._hosts = HostPool(clients)
        self._limits = _ThreadLimits()
        self._parallel: list[int] = []
        self._threads = ThreadPoolExecutor(3 * concurrency)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        time_limits: TimeLimits = USUAL,
        is_missing_fine: bool = False,
    ) -> Any:
        """Send a request, and return the decoded response; another host is asked if one fails.

        The body is JSON, or lines of JSON as bytes. If `is_missing_fine`, None is returned for
        status 404.
        """
        is_encoded = body is None or isinstance(body, bytes)
        data = body if is_encoded else msgspec.json.encode(body)
        request = Request(method, path, data, dict(params or {}))
        try:
            if not time_limits.is_hedged:
                return self._in_turn(request, time_limits)
            begin = time.monotonic()
            try:
                return self._hedged(request, time_limits)
            finally:
                self._limits.left -= time.monotonic() - begin
        except ClusterError as error:
            if error.status == 404 and is_missing_fine:
                return None
            raise

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the seconds until the last hedged request of this thread has ended."""
        before = self._limits.end
        self._limits.end = min(before, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._limits.end = before

    @contextlib.contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Limit the seconds that this thread waits for hedged requests, all of them together."""
        before = self._limits.left
        self._limits.left = min(before, seconds)
        try:
            yield
        finally:
            self._limits.left = before

    @contextlib.contextmanager
    def beyond_limits(self) -> Iterator[None]:
        """Exempt a block from the limits of this thread; its requests have their own."""
        end, left = self._limits.end, self._limits.left
        self._limits.end = self._limits.left = math.inf
        begin = time.monotonic()
        try:
            yield
        finally:
            self._limits.end, self._limits.left = end + time.monotonic() - begin, left

    @contextlib.contextmanager
    def sharing(self, searches: int) -> Iterator[None]:
        """Give each of parallel searches the time of all, since they wait for one another."""
        self._parallel.append(searches)
        try:
            yield
        finally:
            self._parallel.remove(searches)

    @property
    def parallel(self) -> int:
        """The number of searches that share the cluster."""
        return max(self._parallel, default=1)

    def close(self) -> None:
        """Close all connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._hosts.close()

    def _in_turn(self, request: Request, time_limits: TimeLimits) -> Any:
        """Ask one host after the other."""
        end = time.monotonic() + time_limits.total
        attempt = 0
        while True:
            left = max(end - time.monotonic(), 0.05)
            host = self._hosts.next()
            try:
                return self._once(host, request, min(time_limits.attempt, left))
            except ClusterError as error:
                attempt += 1
                pause = 0.0 if attempt < len(self.address.hosts) else pause_before(attempt)
                if not error.may_pass or time.monotonic() + pause >= end:
                    raise
                _LOG.info("trying again: %s", error)
                time.sleep(pause)

    def _hedged(self, request: Request, time_limits: TimeLimits) -> Any:
        """Ask one host, and another one when it takes long; the first response counts."""
        begin = time.monotonic()
        end = min(
            begin + min(time_limits.total * self.parallel, self._limits.left), self._limits.end
        )
        last_call = begin + min(end - begin, time_limits.total) / 2
        waiting: set[Future[Any]] = set()
        last_resort: Future[Any] | None = None
        is_due, is_late, least, pause = True, False, 0.0, time_limits.attempt
        last = ClusterError(
            f"{self.address}: gave no answer in {time_limits.total:g} s; are its nodes running?"
        )
        while (left := end - time.monotonic()) > (0.0 if waiting else least):
            if is_due and left > least and len(waiting) <= len(self.address.hosts):
                # an attempt that has no time would hide why those before it failed
                least = min(_LEAST_SECONDS, time_limits.total / 4)
                host, dead = self._hosts.next(), self._hosts.dead()
                limited = request.at(self._hosts.nodes(is_late), self._hosts.may_limit)
                waiting.add(sent := self._threads.submit(self._once, host, limited, left, True))
                last_resort = sent if is_late else None
            done, waiting = wait(waiting, min(pause, left), return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    response = future.result()
                except ClusterError as error:
                    if not error.may_pass:
                        raise
                    last = error
                else:
                    if future is last_resort:
                        self._hosts.limit_to_own()
                    return response
            if done:
                is_due = True
                time.sleep(min(pause_before(0), max(end - time.monotonic(), 0.0)))
                continue
            # a probe must leave time for another attempt
            has_time = end - time.monotonic() > _LONGEST_PROBE + least
            is_due, pause = has_time and self._has_news(dead), time_limits.attempt / 2
            if not is_due and not is_late and not self._hosts.is_busy:
                # a node that is no host of the address may be gone
                is_due = is_late = time.monotonic() > last_call
        raise last

    def _has_news(self, dead: frozenset[Host]) -> bool:
        """Whether other hosts are dead than before, or none answers.

        Otherwise hosts are busy, and another request would make them busier.
        """
        return not self._hosts.probe(self._threads) or not self._hosts.dead() <= dead

    def _once(self, host: Host, request: Request, seconds: float, is_hedged: bool = False) -> Any:
        from opensearchpy.exceptions import ConnectionTimeout, SerializationError, TransportError

        begin = time.monotonic()
        try:
            response = host.client.transport.perform_request(
                request.method,
                request.path,
                params=dict(request.params),
                body=request.body,
                timeout=seconds,
            )
        except TransportError as error:
            translated = self._translated(error)
            self._hosts.note(translated.status)
            if request.is_limited and translated.status == UNAVAILABLE:
                self._hosts.allow_others()
            # a host that waits for another node is late, too: a probe tells which one is gone
            if translated.status == 0 and not (is_hedged and isinstance(error, ConnectionTimeout)):
                host.mark_dead(time.monotonic() - begin)
            raise translated from None
        except (SerializationError, RecursionError):
            raise ClusterError(f"{self.address}: the answer is no JSON") from None
        except AttributeError:
            # the client takes an error for an object
            response = None
        if not is_expected(request.method, request.path, response):
            raise ClusterError(
                f"{self.address}: the answer is none of an OpenSearch cluster with an index of Sic "
                "et Non; is something else running at this address?",
                status=-1,
            )
        if request.is_limited and lacks_a_shard(request.path, response):
            self._hosts.allow_others()
            raise ClusterError(f"{self.address}: the nodes that answer lack a shard", UNAVAILABLE)
        if is_hedged:
            self._hosts.note(200, time.monotonic() - begin)
        return response

    def _translated(self, error: TransportError) -> ClusterError:
        from opensearchpy.exceptions import ConnectionTimeout, SSLError

        status = status_of(error)
        kind, reason = reason_of(error)
        if isinstance(error, SSLError):
            what = f"the certificate of the cluster is not trusted; name its CA in {PREFIX}CA"
            if any(sign in str(error.info) for sign in _NO_TLS):
                what = "found an answer without TLS; if that is meant, say opensearch+http://"
            status = -1
        elif isinstance(error.info, _TooLongError):
            what, status = "the answer is too long; is something else running at this address?", -1
        elif isinstance(error, ConnectionTimeout):
            what = "a host does not answer in time"
        elif status == 0:
            other = "http" if self.address.scheme == "https" else "https"
            what = (
                f"no host answers by {self.address.scheme}; start the cluster, or write "
                f"opensearch+{other}:// if it speaks {other}"
            )
        elif status == 401:
            what = f"refuses the user or the password; see {PREFIX}USER and {PREFIX}PASSWORD"
        elif status == 403 and kind.endswith("block_exception"):
            what = f"refuses to write ({reason}); are the disks of its nodes full?"
        elif status == 403:
            what = f"a right is missing ({reason}); {_GUIDE} has the roles"
        else:
            what = f"status {status}: {reason}"
        return ClusterError(self.credentials.hide(f"{self.address}: {what}"), status, kind)


def pause_before(attempt: int) -> float:
    """Seconds to wait before an attempt: twice as many each time, with jitter."""
    return min(_SHORTEST_PAUSE * 2.0**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)


@dataclass(frozen=True)
class IndexClient:
    """Searches one index of the engine, within time limits; results may be partial if allowed."""

    connection: Connection
    index: str
    time_limits: TimeLimits = USUAL
    partial: PartialResults = COMPLETE

    def within(self, time_limits: TimeLimits) -> IndexClient:
        """The same client with other time limits."""
        return replace(self, time_limits=time_limits)

    def search(
        self, body: Mapping[str, Any], params: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, Any]:
        """The response of a search; a point in time in its body has chosen index and shards."""
        if "pit" in body:
            return self.checked(self._post("/_search", body, params))
        return self.checked(
            self._post(f"/{self.index}/_search", body, {**self.partial.params, **params})
        )

    def search_several(
        self, bodies: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any] | ClusterError]:
        """The response or the error of each search, in one request."""
        header = {"index": self.index, "allow_partial_search_results": self.partial.is_allowed}
        lines = [msgspec.json.encode(line) + b"\n" for body in bodies for line in (header, body)]
        response = self._post(MULTI_SEARCH, b"".join(lines))
        return [self._response_or_error(each) for each in response["responses"]]

    def values(
        self, filters: Sequence[Mapping[str, Any]], columns: Sequence[str], size: int
    ) -> list[tuple[Any, ...]]:
        """The values of some fields of the documents that pass filters, a row per document."""
        body = {
            "size": size, "query": {"bool": {"filter": filters}}, "_source": False,
            "stored_fields": "_none_", "docvalue_fields": columns, "sort": ["_doc"],
        }  # fmt: skip
        hits = self.search(body)["hits"]["hits"]
        return [tuple(hit["fields"][name][0] for name in columns) for hit in hits]

    def refresh(self) -> None:
        """Make all documents visible to searches, on all copies that are there."""
        self._post(f"/{self.index}/_refresh")

    def checked(self, response: dict[str, Any]) -> dict[str, Any]:
        """The response of a search; an error if it lacks shards, and must not, or lacks all."""
        return self.partial.checked(response, self.connection.address)

    def _post(self, path: str, body: Any = None, params: Mapping[str, str] | None = None) -> Any:
        return self.connection.ask("POST", path, body, params=params, time_limits=self.time_limits)

    def _response_or_error(self, response: dict[str, Any]) -> dict[str, Any] | ClusterError:
        if "error" in response:
            reason = str(response["error"].get("reason"))[:300]
            kind = str(response["error"].get("type", ""))
            message = f"{self.connection.address}: status {response.get('status')}: {reason}"
            return ClusterError(message, int(response.get("status", 500)), kind)
        try:
            return self.checked(response)
        except ClusterError as error:
            return error


def open_client(
    address: Address, number: int, credentials: Credentials, concurrency: int, most_bytes: int
) -> OpenSearch:
    """The client of opensearch-py for one host of an address, given by its number in it."""
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
    host, port = address.hosts[number]
    try:
        client = OpenSearch(
            hosts=[{"host": host.strip("[]"), "port": port}],
            serializer=Serializer(),
            max_retries=0,
            pool_maxsize=concurrency,
            **_security(address, credentials),
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"{address}: the certificates cannot be used: {error}") from None
    _limit(client.transport.get_connection().pool, most_bytes)
    return client


class _TooLongError(Exception):
    """A response has more bytes than the limit."""


def _limit(pool: Any, most_bytes: int) -> None:
    """Let no response fill the memory or last for ever; the client reads each one at once."""
    send = pool.urlopen
    secure = isinstance(pool, urllib3.HTTPSConnectionPool)
    pool.ConnectionCls = LimitedSecureConnection if secure else LimitedConnection

    def limited(*arguments: Any, timeout: float = 30.0, **options: Any) -> SimpleNamespace:
        try:
            with within(timeout, most_bytes):
                response = send(*arguments, **options, timeout=timeout, preload_content=False)
                data = _read_body(response, most_bytes)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if has_cause(error, FloodError):
                raise _TooLongError from None
            raise
        response.release_conn()
        return SimpleNamespace(data=data, headers=response.headers, status=response.status)

    pool.urlopen = limited


def _read_body(response: urllib3.BaseHTTPResponse, most_bytes: int) -> bytes:
    """The body of a response, unpacked within the limits of files: a server may pack it unasked."""
    limits, chunks, size = Limits.from_environment(), list[bytes](), 0
    while chunk := response.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        # bytes that came from the network
        is_bomb = limits.unpacks_too_much(response.tell(), size, "") is not None
        if size > most_bytes or is_bomb:
            response.close()
            raise _TooLongError
    return b"".join(chunks)


def _security(address: Address, credentials: Credentials) -> dict[str, Any]:
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
