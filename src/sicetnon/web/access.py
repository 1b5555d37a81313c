"""The right to judge and upload: every client on this machine, others with the token.

A form carries a second token that belongs to the browser's session, so that no other site can make
a browser send one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import Scope

from sicetnon.web.prefix import located
from sicetnon.web.problems import Problem
from sicetnon.web.settings import Settings

SESSION_COOKIE = "sicetnon-session"
CSRF_HEADER = "x-csrf-token"
_TOKEN_COOKIE = "sicetnon-token"
_TOKEN_PAGE = "/token"
_SESSION_BYTES = 16


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
