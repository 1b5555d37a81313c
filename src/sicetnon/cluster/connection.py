"""Requests to a cluster: retries on other hosts, time limits, and errors of one line."""

from __future__ import annotations

import contextlib
import logging
import math
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import msgspec

from sicetnon.cluster.address import Address
from sicetnon.cluster.answers import (
    UNAVAILABLE,
    is_expected,
    lacks_a_shard,
    reason_of,
    status_of,
)
from sicetnon.cluster.credentials import PREFIX, Credentials, read_credentials
from sicetnon.cluster.hosts import (
    LONGEST_PROBE,
    MOST_ANSWER_BYTES,
    AnswerTooLongError,
    Host,
    Hosts,
    client,
)
from sicetnon.cluster.request import Request
from sicetnon.errors import ServiceError

if TYPE_CHECKING:
    from opensearchpy import TransportError

GUIDE = "docs/how-to/search-a-cluster.md"
BUSY = (429, 500, 502, 503, 504)
"""Statuses of a cluster that may answer a little later; 500 where a node has just gone."""

_LOG = logging.getLogger("sicetnon.cluster")
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 8.0
_LEAST_SECONDS = 0.2
"""Seconds for another attempt of a hedged request."""


class ClusterError(ServiceError):
    """A cluster gave no usable answer.

    Args:
        message: The fault, and what to do.
        status: The status of the answer; 0 where there was none.
        kind: The engine's name for the error.
    """

    def __init__(self, message: str, status: int = 0, kind: str = ""):
        super().__init__(message)
        self.status, self.kind = status, kind

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later, or at another host."""
        return self.status in (0, *BUSY)


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
