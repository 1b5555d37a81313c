"""Middleware for every request: its id, checks of host and size, headers, counts, the log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sicetnon.web.access import may_change, with_own_cookies
from sicetnon.web.exchange import Body, Held, HttpReply, UnreadError, longer_than
from sicetnon.web.metrics import Metrics
from sicetnon.web.prefix import PREFIX, prefix_of, without_prefix
from sicetnon.web.problems import RETRY_AFTER, problem
from sicetnon.web.settings import Settings
from sicetnon.web.state import ASKED

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


class Guard:
    """Middleware around the application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics):
        self._app, self._settings, self._metrics = app, settings, metrics
        self._held = Held(settings.held_bytes)

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
        ASKED.set([] if self._settings.logs_questions else None)
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
        if asked := ASKED.get():
            line["asked"] = asked
        _LOG.info("%s", json.dumps(line | {"seconds": round(seconds, 4)}))
