"""Middleware of every request: limits, the right to change, metrics, headers, the log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
import secrets
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sicetnon.operating_system import resident_bytes
from sicetnon.web.problems import RETRY_AFTER, Problem, problem
from sicetnon.web.settings import PREFIX, Settings, located, prefix_of, without_prefix

USER_TEXTS: ContextVar[list[str] | None] = ContextVar("asked", default=None)
"""User text of the current request, for the log; None if the log must not hold it."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SESSION_COOKIE = "sicetnon-session"
CSRF_HEADER = "x-csrf-token"
_TOKEN_COOKIE = "sicetnon-token"
_TOKEN_PAGE = "/token"
_SESSION_BYTES = 16
UPLOADS = ("/api/v1/validate", "/api/v1/evaluate", "/runs")
_LOG = logging.getLogger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PORT = re.compile(r":\d+$")
# as nginx counts requests whose client has gone
_HUNG_UP = 499
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Metrics:
    """Counters and histograms. The event loop alone changes them.

    Attributes:
        in_flight: Requests that are not answered yet.
        cache_hits: Results that were taken from the cache.
        refused: Requests for which the queue had no place.
        stopped: Work that a thread had begun and that was stopped.
        hung_up: Clients that went before the answer.
    """

    def __init__(self) -> None:
        self.in_flight = self.cache_hits = self.refused = self.stopped = self.hung_up = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            method: Its method.
            route: The path with the names of its parameters, not their values.
            status: Of the answer.
            seconds: From its first byte to the last of its answer.
        """
        self._requests[method, route, status] += 1
        place = next((at for at, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        self._buckets[route][place] += 1
        self._seconds[route] += seconds

    def text(self, busy: int) -> str:
        """All of it as text."""
        return "\n".join(self._lines(busy)) + "\n"

    def _lines(self, busy: int) -> Iterator[str]:
        yield "# TYPE sicetnon_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"sicetnon_requests_total{{{labels}}} {count}"
        yield "# TYPE sicetnon_request_seconds histogram"
        for route, buckets in sorted(self._buckets.items()):
            name = f'route="{route}"'
            for bound, count in zip((*_BOUNDS, "+Inf"), accumulate(buckets), strict=True):
                yield f'sicetnon_request_seconds_bucket{{{name},le="{bound}"}} {count}'
            yield f"sicetnon_request_seconds_sum{{{name}}} {self._seconds[route]:.6f}"
            yield f"sicetnon_request_seconds_count{{{name}}} {sum(buckets)}"
        for name in ("cache_hits", "refused", "stopped", "hung_up"):
            yield f"# TYPE sicetnon_{name}_total counter"
            yield f"sicetnon_{name}_total {getattr(self, name)}"
        gauges = {"sicetnon_requests_in_flight": self.in_flight, "sicetnon_requests_busy": busy}
        if resident := resident_bytes():
            gauges["process_resident_memory_bytes"] = resident
        for name, value in gauges.items():
            yield f"# TYPE {name} gauge"
            yield f"{name} {value}"


def may_change(settings: Settings, headers: Mapping[str, str]) -> bool:
    """Whether a request may judge and upload, by its headers.

    Args:
        settings: The address that the server is bound to, and its token.
        headers: The request's, with names in lower case: a cookie or a bearer token counts.
    """
    if settings.is_local:
        return True
    given = headers.get("authorization", "").removeprefix("Bearer ").strip()
    cookie = dict(own_cookies(headers.get("cookie", ""))).get(token_cookie(headers), "")
    return is_token(settings, given) or hmac.compare_digest(
        cookie.encode(), token_digest(settings).encode()
    )


def token_digest(settings: Settings) -> str:
    """What the cookie of a browser with the token holds: not the token itself."""
    return hmac.new(b"cookie", settings.token.encode(), hashlib.sha256).hexdigest()


def set_cookie(request: Request, answer: Response, name: str, value: str) -> None:
    """Set a cookie that no script and no other site can read, nor anybody who reads plain HTTP.

    After a proxy that speaks HTTPS, browsers send it by HTTPS alone.
    """
    scheme = request.headers.get("x-forwarded-proto", request.url.scheme)
    is_secure = scheme.partition(",")[0].strip().lower() == "https"
    answer.set_cookie(
        name, value, path=located("/"), httponly=True, samesite="strict", secure=is_secure
    )


def own_cookies(header: str) -> Iterator[tuple[str, str]]:
    """The cookies of this server and of its neighbours in a header, by name.

    Python 3.11 takes quadratic time to unquote a cookie; ours hold nothing that is quoted.
    """
    for part in header.split(";"):
        name, _, value = part.partition("=")
        if name.strip().startswith((_TOKEN_COOKIE, SESSION_COOKIE)) and '"' not in value:
            yield name.strip(), value.strip()


def with_own_cookies(scope: Scope) -> Scope:
    """A request without the cookies of others, which the framework would read."""
    cookies = Headers(scope=scope).getlist("cookie")
    others = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
    own = "; ".join(f"{name}={value}" for name, value in own_cookies("; ".join(cookies)))
    return {**scope, "headers": [*others, (b"cookie", own.encode("latin-1"))]}


def token_cookie(headers: Mapping[str, str]) -> str:
    """The name of the cookie with the token, by the headers of a request.

    Browsers send a cookie to all ports of a host, so that servers beside each other need names of
    their own.
    """
    _, _, port = headers.get("host", "").rpartition(":")
    return f"{_TOKEN_COOKIE}-{port}" if port.isdecimal() else _TOKEN_COOKIE


def is_token(settings: Settings, given: str) -> bool:
    """Whether a text is the token of the server."""
    return hmac.compare_digest(given.encode(), settings.token.encode())


def _check_token(request: Request) -> None:
    """Refuse a request without the token; a page that is asked for leads to the page for it."""
    settings: Settings = request.app.state.served.settings
    if may_change(settings, request.headers):
        return
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        where = f"{_TOKEN_PAGE}?{urlencode({'next': path})}"
        raise Problem(303, "this page needs the token of the server", {"Location": where})
    raise Problem(401, "this needs the token of the server")


NEEDS_TOKEN = Depends(_check_token)
"""A dependency of routes that judge or upload."""


@dataclass(frozen=True)
class Session:
    """The session of a browser.

    Attributes:
        id: Its name, which only this browser knows.
        csrf: The token of its forms.
        is_new: Whether the browser does not have the cookie yet.
    """

    id: str
    csrf: str
    is_new: bool

    def keep(self, request: Request, answer: Response) -> Response:
        """The answer, with the cookie of a new session."""
        if self.is_new:
            set_cookie(request, answer, SESSION_COOKIE, self.id)
        return answer


class Sessions:
    """Makes and checks the tokens of forms."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def of(self, request: Request) -> Session:
        """The session of a request; a new one where it has none."""
        known = request.cookies.get(SESSION_COOKIE, "")
        name = known or secrets.token_urlsafe(_SESSION_BYTES)
        return Session(name, self._csrf(name), not known)

    def check(self, request: Request, given: object) -> None:
        """Refuse a request whose form is not one of this server for this browser.

        Raises:
            Problem: It is another one (403).
        """
        known = request.cookies.get(SESSION_COOKIE, "")
        text = given if isinstance(given, str) else ""
        if not known or not hmac.compare_digest(text.encode(), self._csrf(known).encode()):
            raise Problem(403, "the form is too old; load the page again, then send it again")

    def _csrf(self, name: str) -> str:
        return hmac.new(self._secret, name.encode(), hashlib.sha256).hexdigest()


def is_of_another_site(request: Request) -> bool:
    """Whether a page of another site made the browser ask, as browsers say of their requests."""
    return request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def sessions_of(request: Request) -> Sessions:
    """The sessions of the application that a request is for."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def _session(request: Request) -> Session:
    return sessions_of(request).of(request)


OwnSession = Annotated[Session, Depends(_session)]
"""A parameter of a route that gets the session of the browser."""


class UnreadError(Exception):
    """The client does not read its answer."""


class HttpReply:
    """The answer to a request, with the headers of every answer.

    Args:
        headers: Headers that every answer has, unless it has others of these names.
        seconds: Seconds within which the client has to take a part.

    Attributes:
        status: Its status; 0 before it has begun.
        is_whole: Whether its last part was sent.
        instead: Status and reason of the problem that takes the place of what the application
            sends, since the body cannot be used.
    """

    def __init__(self, send: Send, headers: Mapping[str, str], seconds: float):
        self._send, self._headers, self._seconds = send, headers, seconds
        self.status, self.is_whole = 0, False
        self.instead: tuple[int, str] | None = None

    async def send(self, message: Message) -> None:
        """Send a part of it.

        Raises:
            UnreadError: The client does not read it.
        """
        if self.instead:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                # pages have a policy of their own
                headers.setdefault(name, value)
            if "location" in headers:
                headers["location"] = located(headers["location"])
        elif not message.get("more_body"):
            self.is_whole = True
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(message)
        except TimeoutError:
            raise UnreadError from None


class HeldBytes:
    """The bytes of bodies that all requests hold together.

    Args:
        most: Bytes at most.
    """

    def __init__(self, most: int):
        self._most, self._held = most, 0

    def take(self, count: int) -> bool:
        """Hold more bytes; whether they are within the limit."""
        self._held += count
        return self._held <= self._most

    def give_back(self, count: int) -> None:
        """Hold so many bytes less."""
        self._held -= count


class Body:
    """The body of a request, up to a limit of bytes and time. Beyond it the client seems gone.

    Args:
        held: Counts the bytes of all requests, this one's until `close`.
        limit: Bytes at most.
        seconds: Seconds within which it has to be whole.

    Attributes:
        has_gone: Whether the client has hung up before its answer was whole.
    """

    def __init__(
        self,
        receive: Receive,
        headers: Headers,
        held: HeldBytes,
        limit: int,
        seconds: float,
        reply: HttpReply,
    ):
        self._receive, self._held, self._reply = receive, held, reply
        self._limit = self._left = limit
        self._end = asyncio.get_running_loop().time() + seconds
        self._is_read, self.has_gone = asyncio.Event(), False
        self._is_empty = _is_empty(headers)
        if self._is_empty:
            self._is_read.set()

    async def receive(self) -> Message:
        """Receive a chunk of it; after its end, wait until the request is cancelled."""
        if self._is_empty:
            self._is_empty = False
            return {"type": "http.request", "body": b"", "more_body": False}
        if self._is_read.is_set():
            # `watch` receives now
            await asyncio.Event().wait()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            return self._refused(408, "the body came too slowly; send it faster, or less")
        size = len(message.get("body", b""))
        self._left -= size
        if not self._held.take(size):
            return self._refused(503, "too many bytes wait in other requests; send it again later")
        if self._left < 0:
            return self._refused(413, longer_than(self._limit))
        if message["type"] == "http.request" and not message.get("more_body"):
            self._is_read.set()
        return message

    def _refused(self, status: int, reason: str) -> Message:
        if not self._reply.status:
            self._reply.instead = status, reason
        return {"type": "http.disconnect"}

    def close(self) -> None:
        """Hold none of it any more."""
        self._held.give_back(self._limit - self._left)

    async def watch(self, task: asyncio.Task[Any]) -> None:
        """Cancel the task that answers once the client has gone."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._reply.is_whole:
            self.has_gone = True
            task.cancel()


def longer_than(limit: int) -> str:
    """The message about a body that is longer than the limit."""
    return f"the body is longer than {limit:,} bytes"


def _is_empty(headers: Headers) -> bool:
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


class Guard:
    """Middleware around the application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics):
        self._app, self._settings, self._metrics = app, settings, metrics
        self._held = HeldBytes(settings.held_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope, start = self._served(scope), time.perf_counter()
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        seconds = self._settings.seconds
        reply = HttpReply(send, _HEADERS | {"X-Request-ID": request_id}, seconds)
        limit = self._limit(scope["path"])
        body = Body(receive, headers, self._held, limit, seconds, reply)
        USER_TEXTS.set([] if self._settings.logs_questions else None)
        self._metrics.in_flight += 1
        try:
            refused = self._refusal(scope["method"], scope["path"], headers)
            if refused:
                await problem(*refused, request_id)(scope, receive, reply.send)
            else:
                await self._answered(scope, body, reply)
        except UnreadError:
            pass  # the server closes a connection whose answer is not whole
        except Exception:
            _LOG.exception("request %s: a fault of the program", request_id)
            if reply.status:
                raise  # what was sent is not whole: the server must break the connection
            text = "this is a fault of the program; please report it"
            await problem(500, text, request_id)(scope, receive, reply.send)
        finally:
            body.close()
            if reply.instead:
                refused, reply.instead = reply.instead, None
                # what is left of the body is not read
                closing = {"Connection": "close"}
                if refused[0] == 503:
                    closing |= RETRY_AFTER
                await problem(*refused, request_id, closing)(scope, receive, reply.send)
            self._metrics.in_flight -= 1
            status = _HUNG_UP if body.has_gone else reply.status
            self._note(scope, request_id, status, time.perf_counter() - start)

    def _served(self, scope: Scope) -> Scope:
        """The request as the application reads it: own cookies alone, no HEAD, no prefix."""
        if any(name == b"cookie" for name, _ in scope["headers"]):
            scope = with_own_cookies(scope)
        if scope["method"] == "HEAD":
            # the server sends no body where it was asked for the head alone
            scope = {**scope, "method": "GET"}
        prefix = prefix_of(Headers(scope=scope), self._settings.root_path)
        PREFIX.set(prefix)
        return {**scope, "path": without_prefix(scope["path"], prefix)} if prefix else scope

    async def _answered(self, scope: Scope, body: Body, reply: HttpReply) -> None:
        """Answer a request; end where its client hangs up."""
        task = asyncio.current_task()
        assert task is not None
        watching = asyncio.create_task(body.watch(task))
        try:
            await self._app(scope, body.receive, reply.send)
        except asyncio.CancelledError:
            if not body.has_gone and reply.status:
                raise
            task.uncancel()
            if body.has_gone:
                self._metrics.hung_up += 1
            else:
                reply.instead = 503, "the server stops; send it again when it is back"
        finally:
            watching.cancel()

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        """Status and reason where a request is refused before it is read."""
        host = _PORT.sub("", headers.get("host", "")).lower()
        if not self._settings.answers_to(host):
            advice = "" if self._settings.is_local else "; --allow-host lets it answer for others"
            return 421, (
                "the Host header names another host; this server answers for "
                f"{'localhost' if self._settings.is_local else 'its addresses'}{advice}"
            )
        if method == "POST" and path in UPLOADS and not may_change(self._settings, headers):
            return 401, "uploads need the token of the server"
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:18]) > self._limit(path):
            return 413, longer_than(self._limit(path))
        return None

    def _limit(self, path: str) -> int:
        settings = self._settings
        return settings.upload_bytes if path in UPLOADS else settings.body_bytes

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        # the template of the route, so that neither counts nor log hold what was asked
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count(method, route, status, seconds)
        line = {"id": request_id, "method": method, "route": route, "status": status}
        if asked := USER_TEXTS.get():
            line["asked"] = asked
        _LOG.info("%s", json.dumps(line | {"seconds": round(seconds, 4)}))
