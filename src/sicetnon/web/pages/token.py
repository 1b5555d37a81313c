"""The page that asks for the token of the server."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sicetnon.web.middleware import is_token, set_cookie, token_cookie, token_digest
from sicetnon.web.rendering import page
from sicetnon.web.state import Served

router = APIRouter(include_in_schema=False)

_PLACES = ("/judge", "/runs")


@router.get("/token")
async def token_page(request: Request) -> Response:
    """Ask for the token."""
    return page("token.html.jinja", section="", next=_place(request.query_params.get("next")))


@router.post("/token")
async def give_token(served: Served, request: Request) -> Response:
    """Keep the token in a cookie, and go on."""
    form = await request.form(max_files=0, max_fields=4)
    given, place = str(form.get("token", "")).strip(), _place(form.get("next"))
    if not is_token(served.settings, given):
        return page("token.html.jinja", section="", status=403, next=place, is_wrong=True)
    answer = RedirectResponse(place, 303)
    set_cookie(request, answer, token_cookie(request.headers), token_digest(served.settings))
    return answer


def _place(given: object) -> str:
    """The page to go on to: one of this server that needs the token."""
    path = given if isinstance(given, str) else ""
    known = any(path == place or path.startswith((f"{place}?", f"{place}/")) for place in _PLACES)
    return path if known and "\\" not in path and path.isprintable() else _PLACES[0]
