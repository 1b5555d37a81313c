"""Errors as problem details (RFC 9457): one JSON object, never a stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import PurePath
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from sicetnon.errors import (
    BrokenIndexError,
    DataError,
    MissingExtraError,
    SicetnonError,
    UsageError,
)
from sicetnon.judging.schema import NotSavedError
from sicetnon.text.unicode import one_line

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {"Retry-After": "2"}
"""Headers of a 503."""
_STATUSES: tuple[tuple[type[SicetnonError], int], ...] = (
    (MissingExtraError, 501),
    (BrokenIndexError, 503),
    (NotSavedError, 507),
    (UsageError, 422),
    (DataError, 422),
)
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
    },
}


_FOLDERS = re.compile(r"(?<![\w.:/\\-])(?:[A-Za-z]:)?[/\\](?:[^\s:;,'\"/\\]++[/\\])+")


def without_folders(text: str, known: Iterable[object]) -> str:
    """A text without the folders of this machine, which are no business of strangers.

    Args:
        text: A message.
        known: Paths, of which the last part stays, and addresses of clusters.
    """
    for each in filter(None, known):
        text = text.replace(str(each), PurePath(str(each)).name)
    return _FOLDERS.sub("", text)


class Problem(Exception):
    """An answer other than success.

    Args:
        detail: What was found, what was expected, what to do.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None):
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def add_handlers(app: FastAPI) -> None:
    """Answer every error that a request can cause with a problem."""
    app.add_exception_handler(Problem, _of_ours)
    app.add_exception_handler(SicetnonError, _of_the_library)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Statuses of problems for the OpenAPI document."""
    content = {MEDIA_TYPE: {"schema": _SCHEMA}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in statuses
    }


def problem(
    status: int, detail: str, request_id: str = "", headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A problem as an answer."""
    title = HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if request_id:
        content["request_id"] = request_id
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def _answer(
    request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    request_id, line = getattr(request.state, "request_id", ""), one_line(detail)
    if _wants_a_page(request):
        return _problem_page(status, line, request_id, headers)
    return problem(status, line, request_id, headers)


def _wants_a_page(request: Request) -> bool:
    """Whether a person asks with a browser, and not for the API."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        "/api/"
    )


def _problem_page(
    status: int, detail: str, request_id: str, headers: Mapping[str, str] | None
) -> Response:
    # only pages need templates
    from sicetnon.web.rendering import page

    title = HTTPStatus(status).phrase
    shown = {"title": title, "detail": detail, "request_id": request_id}
    answer = page("problem.html.jinja", section="", status=status, **shown)
    answer.headers.update(headers or {})
    return answer


def _of_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return _answer(request, error.status, error.detail, error.headers)


def _of_the_library(request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    return _answer(request, status, request.app.state.served.public(error))


def _of_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first.get("loc", ()))
    return _answer(request, 422, f"{place}: {first.get('msg', 'cannot be used')}")


def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # the framework names the methods of one route alone
        headers["Allow"] = ", ".join(_methods(request))
    return _answer(request, error.status_code, str(error.detail), headers)


def _methods(request: Request) -> list[str]:
    """The methods that are answered at the path of a request."""
    return [
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        for asked in [{**request.scope, "method": method}]
        if any(route.matches(asked)[0] is Match.FULL for route in request.app.routes)
    ]
