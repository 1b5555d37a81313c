"""Routes of the pages: each asks the library once, and shows the answer by a template."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from sicetnon.web.assets import assets
from sicetnon.web.pages.examples import examples
from sicetnon.web.problems import Problem
from sicetnon.web.rendering import page
from sicetnon.web.state import Served

router = APIRouter(include_in_schema=False)

_A_YEAR = "public, max-age=31536000, immutable"


@router.get("/", response_class=HTMLResponse)
async def ask(served: Served) -> Response:
    """The page Ask: a box, and examples on the first visit."""
    index, _ = served.shelf.current()
    shown = await served.on_index(examples, "examples")
    return page("start.html.jinja", section="Ask", documents=len(index), examples=shown)


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """A file that the pages load."""
    asset = assets().get(name)
    if asset is None:
        raise Problem(404, "there is no such file")
    headers = {"Cache-Control": _A_YEAR, "ETag": f'"{asset.digest}"'}
    return Response(asset.data, media_type=asset.media_type, headers=headers)
