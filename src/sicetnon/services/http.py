"""Requests to services over HTTP: repeated, paced, cached, read page by page, with a hidden key.

urllib3's `Retry` counts the tries, knows which statuses pass, and how long to wait. The loop is our
own: an answer with status 200 may be unusable too, all threads wait together, and urllib3's own
loop would log requests.

An API key is in the body of a request, or in its header, and nowhere else: requests are cached and
described without it, and an answer that repeats it is freed of it before anything sees it. Answers
are cached on disk, so that no request is sent twice. Services may not count their results as they
say they do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
import urllib.request
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

import urllib3
from urllib3 import exceptions
from urllib3.util.retry import RequestHistory

from sicetnon._version import VERSION
from sicetnon.databases import DAMAGE, bounded, check_logs, check_tables
from sicetnon.errors import DataError, ServiceError, UsageError, counted
from sicetnon.formats.json_records import mended
from sicetnon.operating_system import is_loopback, make_private
from sicetnon.records import Topic
from sicetnon.services.api_key import ApiKey
from sicetnon.services.deadline import POOLS, FloodError, PassedError, has_cause, within


@dataclass(frozen=True)
class Patience:
    """Limits on requests and waiting.

    Attributes:
        tries: Maximum number of requests for one answer.
        first_wait: Seconds between the first try and the second; doubled for each further try.
        longest_wait: Maximum number of seconds between two tries; a service that asks for more
            ends the run, which can be resumed later.
        timeout: Seconds for an answer to begin, and for each part of it to arrive.
        whole_timeout: Seconds for a whole answer.
        per_second: Maximum number of requests per second.
        jitter: Maximum number of seconds that chance adds to a wait.
    """

    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 300.0
    timeout: float = 30.0
    whole_timeout: float = 120.0
    per_second: float = 5.0
    jitter: float = 0.1


class Clock:
    """Time and waiting; tests have one of their own."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float, stopped: threading.Event) -> None:
        """Wait for some seconds, or until all is stopped."""
        stopped.wait(seconds)


@dataclass
class Pace:
    """Keeps requests apart, over all threads."""

    clock: Clock
    interval: float
    stopped: threading.Event = field(default_factory=threading.Event)
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> None:
        """Wait for this request's turn, or until all is stopped."""
        with self._lock:
            now = self.clock.now()
            turn = max(now, self._next)
            self._next = turn + self.interval
        if turn > now:
            self.clock.sleep(turn - now, self.stopped)

    def hold(self, seconds: float) -> None:
        """Let no request start for some seconds."""
        with self._lock:
            self._next = max(self._next, self.clock.now() + seconds)


_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, fetched TEXT NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID
"""
_CACHE_FILE = "answers.sqlite"
_PATIENCE_SECONDS = 60
LARGEST_ANSWER = 64 << 20
"""Bytes of an answer at most."""


class ResponseCache:
    """Answers by their request, in one SQLite file.

    Each answer is on disk before it is used: a killed program finds all that it had
    received when it starts again. Several programs and threads may share one cache.

    The file is for its owner alone.

    Args:
        path: The file, made when there is none; or a folder that it is, or will be, in.

    Raises:
        DataError: The file is something else, damaged, or cannot be written.
    """

    def __init__(self, path: Path):
        self.path = path / _CACHE_FILE if path.is_dir() else path
        self._lock = threading.Lock()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.path != path and self.path.is_symlink():
            # what is fetched would be written outside of the folder that was named
            raise DataError("is a link; name the file that it leads to", self.path)
        if self.path.exists() and not self.path.is_file():
            raise DataError(
                "is no regular file; expected the file of kept answers, or none", self.path
            )
        with self._clear_errors():
            # a log that SQLite plays back may be that of another file
            is_unsure = check_logs(self.path)
            # answers tell what was asked: others shall not read them at any time
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            # each statement is its own transaction, synced to disk
            self._database = sqlite3.connect(
                self.path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            # a stage that has answers kept is not closed by anyone
            weakref.finalize(self, self._database.close)
            with bounded(self._database):
                if not self._database.execute("PRAGMA schema_version").fetchone()[0]:
                    self._database.execute(_SCHEMA)
                advice = "delete it to fetch all again"
                check_tables(self._database, self.path, _SCHEMA, advice)
                if is_unsure and self._database.execute("PRAGMA quick_check(1)").fetchone() != (
                    "ok",
                ):
                    raise sqlite3.DatabaseError("its log belongs to another file")
            make_private(self.path)

    def get(self, key: str) -> bytes | None:
        """The cached answer, or None."""
        with self._lock, self._clear_errors(), bounded(self._database):
            row = self._database.execute(
                "SELECT body FROM answers WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        unpacking = zlib.decompressobj()
        try:
            body = unpacking.decompress(row[0], LARGEST_ANSWER + 1)
        except (zlib.error, TypeError):  # a number or a text in place of bytes
            return None
        # the checksum at its end tells that no page of another answer is in it
        return body if unpacking.eof else None

    def put(self, key: str, request: str, body: bytes) -> None:
        """Cache an answer with today's date and time, in place of an older one.

        Args:
            key: The key for `get`.
            request: The request, for people who look into the file; never with an API key.
            body: The answer.
        """
        row = (key, request, datetime.now(UTC).isoformat(timespec="seconds"), zlib.compress(body))
        with self._lock, self._clear_errors(), bounded(self._database):
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, *DAMAGE) as error:
            # damaged files can hold text that is no UTF-8, which Python decodes
            raise DataError(
                f"the answers kept here cannot be used ({error}); make room or rights, or delete "
                "the file to fetch all again",
                self.path,
            ) from None


T = TypeVar("T")
_LOG = logging.getLogger("sicetnon.services")

PLAIN_VARIABLE = "SICETNON_KEYS_OVER_HTTP"
"""The environment variable that lets keys go to other machines over plain HTTP."""
_MISSING = frozenset({404, 410})
_REFUSED = frozenset({401, 403})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_CHUNK_BYTES = 1 << 16
_MOST_REDIRECTS = 5


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


_TOO_LONG = Fault(f"sent over {LARGEST_ANSWER:,} bytes", is_final=True)


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
        cache: The cache of its answers.
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
        self._check_is_secret()
        self._patience, self._clock = patience or Patience(), clock or Clock()
        self._pace = Pace(self._clock, 1 / self._patience.per_second)
        self._pool = _pool(self.url, self._patience.timeout)
        self._retry = _retry(self._patience)

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.host!r})"

    def ask(self, request: Request, read: Callable[[bytes], T]) -> T:
        """An answer of the service: from the cache if it is there, else from the network.

        Only an answer that `read` accepts is cached.

        Raises:
            Missing: The service does not have it.
            ServiceError: No usable answer came in the allowed number of tries.
            UsageError: A key is needed and there is none.
        """
        described = request.described(self.url)
        name = hashlib.sha256(described.encode()).hexdigest()
        cached = self._cache.get(name)
        if cached is not None:
            try:
                return read(cached)
            except UnusableAnswer:
                pass  # cached by an older version that took it; asked for again
        body, value = self._fetch(request, read)
        self._cache.put(name, self._key.hide(described), body)
        return value

    def _check_is_secret(self) -> None:
        parts = urlsplit(self.url)
        is_clear = parts.scheme == "http" and not is_loopback(parts.hostname or "")
        if self._key and is_clear and os.environ.get(PLAIN_VARIABLE, "no").lower() in ("no", ""):
            raise UsageError(
                f"{self.name} ({self.host}): would send the API key in the clear; use https://, or "
                f"set {PLAIN_VARIABLE}=yes where nobody else reads the network"
            )

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
        limit = self._patience.whole_timeout
        try:
            with within(limit, LARGEST_ANSWER, self._clock.now):
                return self._exchange(request)
        except (exceptions.HTTPError, OSError) as error:
            reason = error.reason if isinstance(error, exceptions.MaxRetryError) else error
        if has_cause(reason, PassedError):
            return Fault(f"took over {limit:g} s to answer")
        if has_cause(reason, FloodError):
            return _TOO_LONG
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
        url = self.url + request.target()
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._pool.request(
                "POST" if data else "GET",
                url,
                body=data,
                headers=headers,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            # neither keys nor questions: the host alone
            _LOG.info("asked %s: HTTP status %d", self.host, response.status)
            try:
                there = "" if data else self._same_host(url, response)
                if not there:
                    is_good = response.status == 200
                    return self._body(response) if is_good else self._refusal(response)
            finally:
                response.close()
            url = there
        return Fault("redirects in a circle", is_final=True)

    def _same_host(self, url: str, response: urllib3.BaseHTTPResponse) -> str:
        """The address that a redirect leads to, if it is one of this service; else empty.

        Another host, such as one in the network of this machine, is not asked.
        """
        where = response.get_redirect_location()
        try:
            found = urlsplit(urljoin(url, where or ""))
            own, port = urlsplit(url), found.port
        except ValueError:
            return ""
        is_same = (found.scheme, found.hostname, port) == (own.scheme, own.hostname, own.port)
        is_secured = found.scheme == "https" and port in (None, 443) and own.port in (None, 80)
        if not where or not (is_same or (is_secured and found.hostname == own.hostname)):
            return ""
        return found._replace(fragment="").geturl()

    def _body(self, response: urllib3.BaseHTTPResponse) -> bytes | Fault:
        body = bytearray()
        while part := response.read1(_CHUNK_BYTES):
            body += part
            if len(body) > LARGEST_ANSWER:
                return _TOO_LONG
        return self._key.hide_bytes(bytes(body))

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> Fault:
        status = response.status
        if status in _REFUSED and self._key:
            return Fault(f"refused the API key (status {status})", is_final=True)
        if 300 <= status < 400:
            try:
                there = urlsplit(response.headers.get("Location", "")).hostname
            except ValueError:  # no address at all
                there = ""
            said = f"has moved to {there or 'another address'} (status {status})"
            return Fault(said, is_final=True)
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
    proxy, host = urllib.request.getproxies().get(parts.scheme), parts.hostname or ""
    # what is for this machine, keys included, goes to no other
    if proxy and not is_loopback(host) and not urllib.request.proxy_bypass(host):
        manager: urllib3.PoolManager = urllib3.ProxyManager(proxy, **settings)
    else:
        manager = urllib3.PoolManager(**settings)
    manager.pool_classes_by_scheme = POOLS
    return manager


H = TypeVar("H")
_PAGE_SIZE = 100


def query_of(topic: Topic) -> str:
    """The title of a topic, as a service can take it."""
    return " ".join(mended(topic.title).split())


def read_pages(
    service: Service,
    query: str,
    request: Callable[[str, int, int], Request],
    parse: Callable[[bytes], tuple[Sequence[tuple[str, H]], int]],
    wanted: int,
) -> dict[str, H]:
    """The first results of a search by their ids, in the order of the service.

    Every page must bring at least one new id, so the search always ends. A page without a new id,
    or an empty page where more was promised, ends the search with a warning and is not kept: the
    next run asks for it again.

    Args:
        service: The service.
        query: The query; an empty one finds nothing.
        request: The request for a page, from the query, the offset of its first result and its
            size.
        parse: Ids and results of a page, and how many results the service counts in all; raises
            `UnusableAnswer`.
        wanted: Number of results wanted at most.
    """
    found: dict[str, H] = {}
    offset = total = 0
    size, warned = min(wanted, _PAGE_SIZE), False
    while query and len(found) < wanted:

        def read(body: bytes) -> tuple[Sequence[tuple[str, H]], int]:
            hits, count = parse(body)
            _check_page(hits, max(count, total), offset, found)  # noqa: B023  # called at once
            return hits, count

        try:
            hits, count = service.ask(request(query, offset, size), read)
        except EndOfResults as end:
            service.say(f"{end}; going on with the {counted(len(found), 'result')} before it")
            break
        known = len(found)
        found.update((name, hit) for name, hit in hits if name not in found)
        if len(found) - known < len(hits) and not warned:
            service.say(f"{service.name} gave some results more than once; each is taken once")
            warned = True
        offset, total = offset + len(hits), max(count, total)
        # a service that counts less than it gave does not count; only a short page is its last
        if offset >= total and (offset == total or len(hits) < size):
            break
    return dict(list(found.items())[:wanted])


def _check_page(
    hits: Sequence[tuple[str, H]], total: int, offset: int, found: Mapping[str, H]
) -> None:
    """Raise UnusableAnswer for a page that cannot be taken."""
    if not hits and offset < total:
        raise UnusableAnswer(
            f"sent an empty page after {offset:,} of {counted(total, 'result')}", is_end=offset > 0
        )
    if hits and all(name in found for name, _ in hits):
        raise UnusableAnswer(
            f"repeated results at {offset:,} that it had given before", is_end=True, is_final=True
        )
