"""What every request passes: its id, the check of its host and size, headers, counts, the log."""

from __future__ import annotations

import json
import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sicetnon.web.metrics import Metrics
from sicetnon.web.problems import problem
from sicetnon.web.settings import LOOPBACK, Settings

UPLOADS = ("/api/v1/validate", "/api/v1/evaluate")
_LOG = logging.getLogger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PORT = re.compile(r":\d+$")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class _Answer:
    """The answer to a request, with the headers of every answer.

    Attributes:
        status: Its status; 0 before it has begun.
        is_dropped: Whether what the application sends is dropped, since the body was too long.
    """

    def __init__(self, send: Send, request_id: str):
        self._send, self._request_id = send, request_id
        self.status, self.is_dropped = 0, False

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if self.is_dropped:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in {**_HEADERS, "X-Request-ID": self._request_id}.items():
                # pages have a policy of their own
                headers.setdefault(name, value)
        await self._send(message)


class _Body:
    """The body of a request, up to a limit. Beyond it the client seems to have gone."""

    def __init__(self, receive: Receive, limit: int, answer: _Answer):
        self._receive, self._left, self._answer = receive, limit, answer

    async def receive(self) -> Message:
        """Receive a part of it."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self._answer.is_dropped = not self._answer.status
            return {"type": "http.disconnect"}
        return message


class Guard:
    """Middleware around the application.

    Args:
        app: The application.
        settings: The limits.
        metrics: Where requests are counted.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics):
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, start = Headers(scope=scope), time.perf_counter()
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id)
        body = _Body(receive, self._limit(scope["path"]), answer)
        self._metrics.in_flight += 1
        try:
            refused = self._refusal(scope["path"], headers)
            if refused:
                await problem(*refused, request_id)(scope, receive, answer.send)
            else:
                await self._app(scope, body.receive, answer.send)
        except Exception:
            _LOG.exception("request %s: a fault of the program", request_id)
            if answer.status:
                raise  # what was sent is not whole: the server must break the connection
            text = "this is a fault of the program; please report it"
            await problem(500, text, request_id)(scope, receive, answer.send)
        finally:
            if answer.is_dropped:
                text = self._limit_text(scope["path"])
                answer.is_dropped = False
                await problem(413, text, request_id)(scope, receive, answer.send)
            self._metrics.in_flight -= 1
            self._note(scope, request_id, answer.status, time.perf_counter() - start)

    def _refusal(self, path: str, headers: Headers) -> tuple[int, str] | None:
        """Status and reason where a request is refused before it is read."""
        host = _PORT.sub("", headers.get("host", "")).lower()
        if self._settings.is_local and host not in LOOPBACK:
            return 421, "the Host header names another host; this server answers for localhost"
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:18]) > self._limit(path):
            return 413, self._limit_text(path)
        return None

    def _limit(self, path: str) -> int:
        settings = self._settings
        return settings.upload_bytes if path in UPLOADS else settings.body_bytes

    def _limit_text(self, path: str) -> str:
        return f"the body is longer than {self._limit(path):,} bytes"

    def _note(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        # the template of the route, so that neither counts nor log hold what was asked
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count(method, route, status, seconds)
        line = {"id": request_id, "method": method, "route": route, "status": status}
        _LOG.info("%s", json.dumps(line | {"seconds": round(seconds, 4)}))
