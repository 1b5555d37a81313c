"""Requests to services over HTTP: repeated, paced, and cached.

urllib3's `Retry` counts the tries, knows which statuses pass, and how long to wait. The loop is our
own: an answer with status 200 may be unusable too, all threads wait together, and urllib3's own
loop would log requests.

An API key is in the body of a request, or in its header, and nowhere else: requests are kept and
described without it, and an answer that repeats it is freed of it before anything sees it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3 import exceptions
from urllib3.util.retry import RequestHistory

from sicetnon._version import VERSION
from sicetnon.errors import ServiceError, UsageError, counted
from sicetnon.services.api_key import ApiKey
from sicetnon.services.pace import Clock, Pace, Patience
from sicetnon.services.response_cache import LARGEST_ANSWER, ResponseCache

T = TypeVar("T")
_LOG = logging.getLogger("sicetnon.services")

_MISSING = frozenset({404, 410})
_REFUSED = frozenset({401, 403})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_PART = 1 << 16


@dataclass(frozen=True)
class Fault:
    """The reason why a try brought no usable answer.

    Attributes:
        said: Completes the sentence "the service …".
        status: The HTTP status, where it is the fault.
        wait: Seconds that the service asks to wait.
        is_final: Asking again would not help.
        is_end: A search can end here, with a warning.
    """

    said: str
    status: int = 0
    wait: float = 0.0
    is_final: bool = False
    is_end: bool = False


class UnusableAnswer(Exception):
    """An answer that does not fit its request. The arguments are those of `Fault`."""

    def __init__(self, said: str, is_end: bool = False, is_final: bool = False):
        super().__init__(said)
        self.fault = Fault(said, is_end=is_end, is_final=is_final)


class Missing(ServiceError):
    """The service does not have what was asked for."""


class EndOfResults(ServiceError):
    """The service gives no more results, though it should."""


@dataclass(frozen=True)
class Request:
    """A request to a service, without its key.

    Attributes:
        path: Below the service's address.
        query: The part of the address after the question mark; None for a bare word.
        body: Sent as JSON with POST, with the key; GET where there is none.
    """

    path: str
    query: tuple[tuple[str, str | None], ...] = ()
    body: Mapping[str, Any] | None = None

    def target(self) -> str:
        """Path and query."""
        parts = [
            quote(name) if value is None else urlencode({name: value}, errors="replace")
            for name, value in self.query
        ]
        return self.path + ("?" + "&".join(parts) if parts else "")

    def described(self, url: str) -> str:
        """The whole request as JSON; equal requests are described equally."""
        return json.dumps([url, self.target(), self.body], sort_keys=True)


class Service:
    """A service on the network.

    Args:
        cache: Keeps its answers.
        key: The API key, if it needs one.
        key_help: Advice for users without a key; shown when one is needed.
        patience: Limits on requests and waiting.
        say: Callback for a message when a try fails and is repeated.
        clock: Time and waiting.
        is_bearer: Whether the key is sent as a bearer token in the header, not in the body.

    Raises:
        UsageError: The address or the key cannot be right.
    """

    def __init__(
        self,
        name: str,
        url: str,
        cache: ResponseCache,
        key: str | None = None,
        key_help: str = "",
        patience: Patience | None = None,
        say: Callable[[str], None] = lambda _: None,
        clock: Clock | None = None,
        is_bearer: bool = False,
    ):
        self.name, self.url, self.host = name, url.rstrip("/"), _host(name, url)
        self._is_bearer = is_bearer
        self.say = say
        self._cache, self._key_help = cache, key_help
        self._key = ApiKey(name, key)
        self._patience, self._clock = patience or Patience(), clock or Clock()
        self._pace = Pace(self._clock, 1 / self._patience.per_second)
        self._pool = _pool(self.url, self._patience.timeout)
        self._retry = _retry(self._patience)

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.host!r})"

    def ask(self, request: Request, read: Callable[[bytes], T]) -> T:
        """An answer of the service: from the cache if it is there, else from the network.

        Only an answer that `read` accepts is kept.

        Raises:
            Missing: The service does not have it.
            ServiceError: No usable answer came in the allowed number of tries.
            UsageError: A key is needed and there is none.
        """
        described = request.described(self.url)
        name = hashlib.sha256(described.encode()).hexdigest()
        kept = self._cache.get(name)
        if kept is not None:
            try:
                return read(kept)
            except UnusableAnswer:
                pass  # kept by an older version that took it; asked for again
        body, value = self._fetch(request, read)
        self._cache.put(name, self._key.hide(described), body)
        return value

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """End the waiting of other threads as soon as this block fails."""
        self._pace.stopped.clear()
        try:
            yield
        except BaseException:
            self._pace.stopped.set()
            raise

    def _fetch(self, request: Request, read: Callable[[bytes], T]) -> tuple[bytes, T]:
        if request.body is not None and self._key_help and not self._key:
            raise UsageError(self._key_help)
        retry = self._retry
        while True:
            self._pace.take()
            if self._pace.stopped.is_set():
                raise ServiceError(f"{self.name} is asked no more")
            answer = self._try(request)
            if isinstance(answer, bytes):
                try:
                    return answer, read(answer)
                except UnusableAnswer as error:
                    answer = error.fault
            if answer.is_final or not retry.total:
                raise self._error(answer)
            retry = retry.increment()
            wait = max(answer.wait, retry.get_backoff_time())
            if wait > self._patience.longest_wait:
                asks = f"{answer.said} and asks to wait {wait:,.0f} s"
                raise self._error(Fault(asks, is_final=True))
            tries = self._patience.tries
            attempt = tries - int(retry.total or 0)
            self.say(f"{self._message(answer)}; try {attempt} of {tries} in {wait:.0f} s")
            self._pace.hold(wait)

    def _error(self, fault: Fault) -> ServiceError:
        message = self._message(fault)
        if not fault.is_final:
            message += f", {counted(self._patience.tries, 'time')}"
        if fault.is_end:
            return EndOfResults(message)
        if fault.status in _MISSING:
            return Missing(message)
        return ServiceError(f"{message}; what it gave before is kept, so run this again later")

    def _message(self, fault: Fault) -> str:
        return self._key.hide(f"{self.name} ({self.host}) {fault.said}")

    def _try(self, request: Request) -> bytes | Fault:
        # faults are values, not exceptions: an exception would carry the request, and so the key
        try:
            return self._exchange(request)
        except (exceptions.HTTPError, OSError) as error:
            reason = error.reason if isinstance(error, exceptions.MaxRetryError) else error
        if isinstance(reason, exceptions.SSLError):
            return Fault("has a certificate that cannot be trusted", is_final=True)
        if isinstance(reason, exceptions.TimeoutError) and not isinstance(
            reason, exceptions.NewConnectionError
        ):
            return Fault(f"did not answer within {self._patience.timeout:g} s")
        if isinstance(reason, exceptions.ProtocolError | exceptions.DecodeError):
            return Fault("cut the connection")
        return Fault("cannot be reached")

    def _exchange(self, request: Request) -> bytes | Fault:
        headers = {"Accept": "*/*"}
        data = None
        if request.body is not None:
            in_body = {} if self._is_bearer else {"apikey": self._key.reveal()}
            data = json.dumps({**in_body, **request.body}).encode()
            headers["Content-Type"] = "application/json"
            if self._is_bearer and self._key:
                headers["Authorization"] = f"Bearer {self._key.reveal()}"
        response = self._pool.request(
            "POST" if data else "GET",
            self.url + request.target(),
            body=data,
            headers=headers,
            # a key must not follow a service to another host
            retries=False if data else urllib3.Retry(None, 0, 0, redirect=5, status=0, other=0),
            redirect=data is None,
            preload_content=False,
        )
        # neither keys nor questions: the host alone
        _LOG.info("asked %s: HTTP status %d", self.host, response.status)
        try:
            return self._read_whole(response) if response.status == 200 else self._refusal(response)
        finally:
            response.close()

    def _read_whole(self, response: urllib3.BaseHTTPResponse) -> bytes | Fault:
        body, end = bytearray(), self._clock.now() + self._patience.whole_timeout
        while part := response.read1(_PART):
            body += part
            if len(body) > LARGEST_ANSWER:
                return Fault(f"sent over {LARGEST_ANSWER:,} bytes", is_final=True)
            if self._clock.now() > end:
                return Fault(f"took over {self._patience.whole_timeout:g} s to answer")
        return self._key.hide_bytes(bytes(body))

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> Fault:
        status = response.status
        if status in _REFUSED and self._key:
            return Fault(f"refused the API key (status {status})", is_final=True)
        if 300 <= status < 400:
            there = urlsplit(response.headers.get("Location", "")).hostname or "another address"
            return Fault(f"has moved to {there} (status {status})", is_final=True)
        try:
            wait = self._retry.get_retry_after(response) or 0.0
        except (
            exceptions.InvalidHeader,
            ValueError,
            OverflowError,
        ):  # no such year
            wait = 0.0
        is_final = not self._retry.is_retry("GET", status)
        return Fault(f"answered with status {status}", status, wait, is_final)


def _retry(patience: Patience) -> urllib3.Retry:
    # urllib3 waits from the second fault on: an earlier one in the history makes it the first
    earlier = RequestHistory(None, None, None, None, None)
    return urllib3.Retry(
        patience.tries - 1,
        status_forcelist=_PASSING,
        backoff_factor=patience.first_wait / 2,
        backoff_max=patience.longest_wait,
        backoff_jitter=patience.jitter,
        history=(earlier,),
    )


def _host(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    has_secret = parts.username or parts.password or parts.query
    if parts.scheme not in ("http", "https") or not parts.hostname or has_secret:
        raise UsageError(f"the address of {name} must look like https://example.org")
    return parts.hostname + port


def _pool(url: str, timeout: float) -> urllib3.PoolManager:
    parts = urlsplit(url)
    settings: dict[str, Any] = {
        "timeout": urllib3.Timeout(timeout),
        "headers": {"User-Agent": f"sicetnon/{VERSION}"},
        "maxsize": 8,
    }
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, **settings)
    return urllib3.PoolManager(**settings)
