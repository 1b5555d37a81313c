"""Asking services over HTTP: patiently, politely, and never twice for the same answer.

An API key is in the body of a request and nowhere else: requests are kept and described without
it, and an answer that repeats it is freed of it before anything sees it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import urllib3

from sicetnon._version import VERSION
from sicetnon.errors import ServiceError, UsageError
from sicetnon.services.api_key import ApiKey
from sicetnon.services.pace import Clock, Pace, Patience
from sicetnon.services.response_cache import ResponseCache

T = TypeVar("T")

MISSING = frozenset({404, 410})
_REFUSED = frozenset({401, 403})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST_ANSWER = 64 << 20
_PART = 1 << 16


class UnusableAnswer(Exception):
    """An answer is not what was asked for.

    Args:
        fault: Completes the sentence "the service …".
        is_end: A search can end here, with a warning.
        is_final: Asking again would not help.
    """

    def __init__(self, fault: str, is_end: bool = False, is_final: bool = False):
        super().__init__(fault)
        self.fault, self.is_end, self.is_final = fault, is_end, is_final


@dataclass(frozen=True)
class Request:
    """What is asked of a service, without its key.

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


@dataclass(frozen=True)
class _Answer:
    """What came of one try: a body, or why there is none."""

    body: bytes = b""
    fault: str = ""
    status: int = 0
    wait: float = 0.0
    is_final: bool = False
    is_end: bool = False


class Missing(ServiceError):
    """The service does not have what was asked for."""


class EndOfResults(ServiceError):
    """The service gives no more results, though it should."""


class Service:
    """A service on the network.

    Args:
        name: What people call it.
        url: Its address.
        cache: Where its answers are kept.
        key: The API key, where it wants one.
        key_help: What to do without a key; shown when one is wanted.
        patience: How it is treated.
        say: Called with a line for people when something goes wrong and is tried again.
        clock: Time and waiting.

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
    ):
        self.name, self.url, self.host = name, url.rstrip("/"), _host(name, url)
        self.say = say
        self._cache, self._key_help = cache, key_help
        self._key = ApiKey(name, key)
        self._patience, self._clock = patience or Patience(), clock or Clock()
        self._pace = Pace(self._clock, 1 / self._patience.per_second)
        self._pool = _pool(self.url, self._patience.timeout)

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.host!r})"

    def ask(self, request: Request, read: Callable[[bytes], T]) -> T:
        """What a service answers: from the cache if it is there, else from the network.

        Args:
            request: The question.
            read: Makes something of the answer. Only what it accepts is kept.

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
                return read(kept.body)
            except UnusableAnswer:
                pass  # kept by an older version that took it; asked for again
        body, value = self._fetch(request, read)
        self._cache.put(name, self._key.hide(described), body)
        return value

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """What is left of waiting in other threads ends as soon as this block fails."""
        try:
            yield
        except BaseException:
            self._pace.is_stopped = True
            raise

    def resume(self) -> None:
        """Go on after a stop."""
        self._pace.is_stopped = False

    def _fetch(self, request: Request, read: Callable[[bytes], T]) -> tuple[bytes, T]:
        if request.body is not None and self._key_help and not self._key:
            raise UsageError(self._key_help)
        patience = self._patience
        for attempt in range(1, patience.tries + 1):
            self._pace.take()
            if self._pace.is_stopped:
                raise ServiceError(f"{self.name} is asked no more")
            answer = self._try(request)
            if not answer.fault:
                try:
                    return answer.body, read(answer.body)
                except UnusableAnswer as error:
                    final, end = error.is_final, error.is_end
                    answer = _Answer(fault=error.fault, is_final=final, is_end=end)
            if answer.is_final or attempt == patience.tries:
                break
            wait = max(answer.wait, self._back_off(attempt))
            if wait > patience.longest_wait:
                answer = replace(answer, fault=f"{answer.fault} and asks to wait {wait:,.0f} s")
                raise self._error(replace(answer, is_final=True))
            self.say(
                f"{self._fault(answer)}; try {attempt + 1} of {patience.tries} in {wait:.0f} s"
            )
            self._pace.hold(wait)
        raise self._error(answer)

    def _error(self, answer: _Answer) -> ServiceError:
        said = self._fault(answer)
        if not answer.is_final:
            said += f", {self._patience.tries} times"
        if answer.is_end:
            return EndOfResults(said)
        if answer.status in MISSING:
            return Missing(said)
        return ServiceError(f"{said}; what it gave before is kept, so run this again later")

    def _fault(self, answer: _Answer) -> str:
        return self._key.hide(f"{self.name} ({self.host}) {answer.fault}")

    def _back_off(self, attempt: int) -> float:
        patience = self._patience
        wait = min(patience.first_wait * 2.0 ** (attempt - 1), patience.longest_wait)
        return wait * (1 - patience.jitter * random.random())

    def _try(self, request: Request) -> _Answer:
        # faults are words, not exceptions: an exception would carry the request, and so the key
        try:
            return self._exchange(request)
        except urllib3.exceptions.MaxRetryError as error:
            return self._failure(error.reason)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            return self._failure(error)

    def _failure(self, error: Exception | None) -> _Answer:
        if isinstance(error, urllib3.exceptions.SSLError):
            return _Answer(fault="has a certificate that cannot be trusted", is_final=True)
        if isinstance(error, urllib3.exceptions.NewConnectionError):
            return _Answer(fault="cannot be reached")
        if isinstance(error, urllib3.exceptions.TimeoutError):
            return _Answer(fault=f"did not answer within {self._patience.timeout:g} s")
        if isinstance(error, urllib3.exceptions.ProtocolError | urllib3.exceptions.DecodeError):
            return _Answer(fault="cut the connection")
        return _Answer(fault="cannot be reached")

    def _exchange(self, request: Request) -> _Answer:
        headers = {"Accept": "*/*"}
        data = None
        if request.body is not None:
            data = json.dumps({"apikey": self._key.reveal(), **request.body}).encode()
            headers["Content-Type"] = "application/json"
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
        try:
            if response.status != 200:
                return self._refusal(response)
            return self._read_whole(response)
        finally:
            response.close()

    def _read_whole(self, response: urllib3.BaseHTTPResponse) -> _Answer:
        body, end = bytearray(), self._clock.now() + self._patience.whole_timeout
        while part := response.read1(_PART):
            body += part
            if len(body) > _LARGEST_ANSWER:
                return _Answer(fault=f"sent over {_LARGEST_ANSWER:,} bytes", is_final=True)
            if self._clock.now() > end:
                return _Answer(fault=f"took over {self._patience.whole_timeout:g} s to answer")
        return _Answer(self._key.hide_bytes(bytes(body)))

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> _Answer:
        status = response.status
        if status in _REFUSED and self._key:
            return _Answer(fault=f"refused the API key (status {status})", is_final=True)
        if 300 <= status < 400:
            there = urlsplit(response.headers.get("Location", "")).hostname or "another address"
            return _Answer(fault=f"has moved to {there} (status {status})", is_final=True)
        return _Answer(
            fault=f"answered with status {status}",
            status=status,
            wait=retry_after(response.headers),
            is_final=status not in _PASSING,
        )


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that an answer's Retry-After asks for, 0 where it does not; RFC 9110, 10.2.3.

    A date is read against the answer's own Date, so that wrong clocks do no harm.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    then, now = _date(value), _date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds()) if then else 0.0


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


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
