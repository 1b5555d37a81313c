"""Requests to a cluster: hosts, retries, hedged requests and time limits."""

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
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3

from sicetnon.cluster.address import PREFIX, Address, Credentials, read_credentials
from sicetnon.cluster.responses import (
    SEVERAL,
    UNAVAILABLE,
    ClusterError,
    Tolerance,
    is_expected,
    lacks_a_shard,
    reason_of,
    status_of,
)
from sicetnon.errors import UsageError, needing
from sicetnon.formats.limits import Limits
from sicetnon.services.deadline import (
    FloodError,
    LimitedConnection,
    LimitedSecureConnection,
    has_cause,
    within,
)

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, TransportError

ONLY, PREFERRED = "_only_nodes", "_prefer_nodes"
"""The engine's words: only these nodes work on a search, or these before others."""

_FEW = "2"
"""Number of searches of a request that run at a time where nodes that hang may be asked."""


class Request(msgspec.Struct, frozen=True):
    """A request, without its host.

    Attributes:
        is_limited: Whether only the named nodes work on it.
    """

    method: str
    path: str
    body: bytes | None
    params: dict[str, str]
    is_limited: bool = False

    def at(self, nodes: str, is_limited: bool = True) -> Request:
        """The request with the nodes that work on it, where the engine takes such a parameter.

        Args:
            nodes: The ids of the nodes, with commas between them; empty for any.
            is_limited: Whether no other node may work on it. A request for a partial answer is
                never limited.
        """
        # a point in time has its nodes already
        if not nodes or self.path.startswith("/_search") or self.method == "DELETE":
            return self
        is_limited = is_limited and self.params.get("allow_partial_search_results") != "true"
        preference = f"{ONLY if is_limited else PREFERRED}:{nodes}"
        body, params = self.body, self.params
        if self.path == SEVERAL:
            # each search has a line of its own for this
            start = b'{"preference":%s,"index":' % msgspec.json.encode(preference)
            body = (body or b"").replace(b'{"index":', start)
            if not is_limited:
                # what a node has no room for goes to the next copy, perhaps on a node that is gone
                params = {**params, "max_concurrent_searches": _FEW}
        elif any(part in self.path for part in ("/_search", "/_doc/")):
            params = {**params, "preference": preference}
        else:
            # what the engine answers from the state of the cluster has no such parameter
            return self
        return Request(self.method, self.path, body, params, is_limited)


MOST_ANSWER_BYTES = 1 << 30
"""Bytes of an answer; the engine sends far less for any request of this package."""

_CHUNK = 1 << 20
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
                data = _read_body(answer, most_bytes)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if has_cause(error, FloodError):
                raise AnswerTooLongError from None
            raise
        answer.release_conn()
        return SimpleNamespace(data=data, headers=answer.headers, status=answer.status)

    pool.urlopen = limited


def _read_body(answer: urllib3.BaseHTTPResponse, most_bytes: int) -> bytes:
    """The body of an answer, unpacked within the limits of files: a server may pack it unasked."""
    limits, parts, size = Limits.from_environment(), list[bytes](), 0
    while part := answer.read(_CHUNK):
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


GUIDE = "docs/how-to/search-a-cluster.md"

_LOG = logging.getLogger("sicetnon.cluster")
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 8.0
_LEAST_SECONDS = 0.2
"""Seconds for another attempt of a hedged request."""


class TimeLimits(msgspec.Struct, frozen=True):
    """Time limits of a request.

    Attributes:
        attempt: Seconds for one host, until another one is asked.
        total: Seconds for all attempts.
        is_hedged: Whether the first host may still answer while another one is asked; for requests
            that change nothing.
    """

    attempt: float
    total: float
    is_hedged: bool = False


USUAL = TimeLimits(30.0, 60.0)

_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
"""OpenSSL's names for the answer of a server that speaks plain HTTP."""


class Connection:
    """Sends requests to the hosts of an address. Threads may share it.

    Args:
        address: The cluster and the index.
        credentials: Its secrets; read from the environment when left out.
        concurrency: Number of requests at a time.
        most_bytes: Bytes of an answer; a longer one is an error.

    Raises:
        MissingExtraError: The client is not installed (extra `cluster`).
    """

    def __init__(
        self,
        address: Address,
        credentials: Credentials | None = None,
        concurrency: int = 16,
        most_bytes: int = MOST_ANSWER_BYTES,
    ):
        self.address = address
        self.credentials = credentials or read_credentials(address)
        clients = [client(address, place, self.credentials, concurrency, most_bytes)
                   for place in range(len(address.hosts))]  # fmt: skip
        self._hosts = Hosts(clients)
        self._limits = threading.local()
        self._beside: list[int] = []
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
        """Send a request; a host that fails or is slow is left for another.

        Args:
            method: The HTTP method.
            path: Behind the host, with its leading slash.
            body: JSON, or lines of JSON as bytes.
            params: Parameters of the address.
            time_limits: Time limits of the request and of its retries.
            is_missing_fine: Whether None is given where the thing is not there.

        Raises:
            ClusterError: There is no usable answer.
        """
        is_ready = body is None or isinstance(body, bytes)
        data = body if is_ready else msgspec.json.encode(body)
        request = Request(method, path, data, dict(params or {}))
        try:
            if time_limits.is_hedged:
                begin = time.monotonic()
                try:
                    return self._hedged(request, time_limits)
                finally:
                    self._limits.left = self._left - (time.monotonic() - begin)
            return self._in_turn(request, time_limits)
        except ClusterError as error:
            if error.status == 404 and is_missing_fine:
                return None
            raise

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the seconds until the last hedged request of this thread has ended."""
        before = getattr(self._limits, "end", math.inf)
        self._limits.end = min(before, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._limits.end = before

    @contextlib.contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Limit the seconds that this thread waits for hedged requests, all of them together."""
        before = self._left
        self._limits.left = min(before, seconds)
        try:
            yield
        finally:
            self._limits.left = before

    @contextlib.contextmanager
    def beyond_limits(self) -> Iterator[None]:
        """Let the limits of this thread not count the time of a block; each request has its own."""
        end, left = getattr(self._limits, "end", math.inf), self._left
        self._limits.end = self._limits.left = math.inf
        begin = time.monotonic()
        try:
            yield
        finally:
            self._limits.end, self._limits.left = end + time.monotonic() - begin, left

    @contextlib.contextmanager
    def sharing(self, searches: int) -> Iterator[None]:
        """Give each of some searches the time of all, since they wait for one another."""
        self._beside.append(searches)
        try:
            yield
        finally:
            self._beside.remove(searches)

    @property
    def beside(self) -> int:
        """The number of searches that share the cluster."""
        return max(self._beside, default=1)

    @property
    def _left(self) -> float:
        """Seconds that this thread may wait."""
        left: float = getattr(self._limits, "left", math.inf)
        return left

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
                pause = 0.0 if attempt < len(self.address.hosts) else paused(attempt)
                if not error.may_pass or time.monotonic() + pause >= end:
                    raise
                _LOG.info("trying again: %s", error)
                time.sleep(pause)

    def _hedged(self, request: Request, time_limits: TimeLimits) -> Any:
        """Ask one host, and another one when it takes long; the first answer counts."""
        begin = time.monotonic()
        limit = getattr(self._limits, "end", math.inf)
        end = min(begin + min(time_limits.total * self.beside, self._left), limit)
        last_call = begin + min(end - begin, time_limits.total) / 2
        waiting: set[Future[Any]] = set()
        last_resort: Future[Any] | None = None
        is_wanted, is_late, least, pause = True, False, 0.0, time_limits.attempt
        last = ClusterError(
            f"{self.address}: gave no answer in {time_limits.total:g} s; are its nodes running?"
        )
        while (left := end - time.monotonic()) > (0.0 if waiting else least):
            if is_wanted and left > least and len(waiting) <= len(self.address.hosts):
                # an attempt that has no time would hide why those before it failed
                least = min(_LEAST_SECONDS, time_limits.total / 4)
                host, known = self._hosts.next(), self._hosts.left()
                asked = request.at(self._hosts.nodes(is_late), self._hosts.work_alone)
                waiting.add(sent := self._threads.submit(self._once, host, asked, left, True))
                last_resort = sent if is_late else None
            done, waiting = wait(waiting, min(pause, left), return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    answer = future.result()
                except ClusterError as error:
                    if not error.may_pass:
                        raise
                    last = error
                else:
                    if future is last_resort:
                        self._hosts.keep_to_hosts()
                    return answer
            if done:
                is_wanted = True
                time.sleep(min(paused(0), max(end - time.monotonic(), 0.0)))
                continue
            # what a probe finds must leave time for another attempt
            has_time = end - time.monotonic() > LONGEST_PROBE + least
            is_wanted, pause = has_time and self._has_news(known), time_limits.attempt / 2
            if not is_wanted and not is_late and not self._hosts.are_busy:
                # a node that is no host of the address may be gone
                is_wanted = is_late = time.monotonic() > last_call
        raise last

    def _has_news(self, known: frozenset[Host]) -> bool:
        """Whether other hosts than the known ones are gone, or none answers.

        Where neither is so, hosts are busy, and would become busier by another request.
        """
        return not self._hosts.probe(self._threads) or not self._hosts.left() <= known

    def _once(self, host: Host, request: Request, seconds: float, is_hedged: bool = False) -> Any:
        from opensearchpy.exceptions import ConnectionTimeout, SerializationError, TransportError

        begin = time.monotonic()
        try:
            answer = host.client.transport.perform_request(
                request.method, request.path, params=dict(request.params), body=request.body,
                timeout=seconds,
            )  # fmt: skip
        except TransportError as error:
            translated = self._translated(error)
            self._hosts.note(translated.status)
            if request.is_limited and translated.status == UNAVAILABLE:
                self._hosts.ask_others_too()
            # a host that waits for another node is late, too: a probe tells which one is gone
            if translated.status == 0 and not (is_hedged and isinstance(error, ConnectionTimeout)):
                host.leave(time.monotonic() - begin)
            raise translated from None
        except (SerializationError, RecursionError):
            raise ClusterError(f"{self.address}: the answer is no JSON") from None
        except AttributeError:
            # the client takes an error for an object
            answer = None
        if not is_expected(request.method, request.path, answer):
            raise ClusterError(
                f"{self.address}: the answer is none of an OpenSearch cluster with an index of Sic "
                "et Non; is something else running at this address?",
                status=-1,
            )
        if request.is_limited and lacks_a_shard(request.path, answer):
            self._hosts.ask_others_too()
            raise ClusterError(f"{self.address}: the nodes that answer lack a shard", UNAVAILABLE)
        if is_hedged:
            self._hosts.note(200, time.monotonic() - begin)
        return answer

    def _translated(self, error: TransportError) -> ClusterError:
        from opensearchpy.exceptions import ConnectionTimeout, SSLError

        status = status_of(error)
        kind, reason = reason_of(error)
        if isinstance(error, SSLError):
            what = f"the certificate of the cluster is not trusted; name its CA in {PREFIX}CA"
            if any(sign in str(error.info) for sign in _NO_TLS):
                what = "found an answer without TLS; if that is meant, say opensearch+http://"
            status = -1
        elif isinstance(error.info, AnswerTooLongError):
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
            what = f"a right is missing ({reason}); {GUIDE} has the roles"
        else:
            what = f"status {status}: {reason}"
        return ClusterError(self.credentials.hide(f"{self.address}: {what}"), status, kind)


def paused(attempt: int) -> float:
    """Seconds to wait before an attempt: twice as many each time, with jitter."""
    return min(_SHORTEST_PAUSE * 2.0**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)


def lines(parts: Sequence[Any]) -> bytes:
    """Bodies as lines of JSON."""
    return b"".join(msgspec.json.encode(part) + b"\n" for part in parts)


def search_several(
    connection: Connection,
    index: str,
    bodies: Sequence[dict[str, Any]],
    time_limits: TimeLimits,
    tolerance: Tolerance,
) -> list[dict[str, Any] | ClusterError]:
    """The answer or the error of each search.

    Args:
        connection: The cluster.
        index: The engine's index.
        bodies: The searches.
        time_limits: Time limits of the request and of its retries.
        tolerance: Whether shards may be lacking.

    Raises:
        ClusterError: There is no usable answer to the request.
    """
    header = {"index": index, "allow_partial_search_results": tolerance.is_partial}
    data = lines([part for body in bodies for part in (header, body)])
    found = connection.ask("POST", SEVERAL, data, time_limits=time_limits)
    return [_search_or_error(answer, connection, tolerance) for answer in found["responses"]]


def _search_or_error(
    answer: dict[str, Any], connection: Connection, tolerance: Tolerance
) -> dict[str, Any] | ClusterError:
    if "error" in answer:
        reason = str(answer["error"].get("reason"))[:300]
        kind = str(answer["error"].get("type", ""))
        message = f"{connection.address}: status {answer.get('status')}: {reason}"
        return ClusterError(message, int(answer.get("status", 500)), kind)
    try:
        return tolerance.checked(answer, connection.address)
    except ClusterError as error:
        return error
