"""Routes of the pages: each asks the library once, and shows the answer by a template."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from sicetnon.arguments.side.questions import matter_of
from sicetnon.library.brief import brief
from sicetnon.library.brief_page import page as page_of
from sicetnon.library.brief_page import shown as shown_brief
from sicetnon.library.reply import reply_to
from sicetnon.web.pages.ask import ask_page
from sicetnon.web.pages.asked import Asked, Spelling, address_of
from sicetnon.web.pages.document import document_page, place_of
from sicetnon.web.pages.finding import Found, find
from sicetnon.web.pages.forms import as_json, as_markdown
from sicetnon.web.pages.paper import context_of, file_name, missing_of, today
from sicetnon.web.pages.reference import operations
from sicetnon.web.pages.replied import shown_replies
from sicetnon.web.problems import Problem
from sicetnon.web.rendering import assets, page_answer
from sicetnon.web.settings import located
from sicetnon.web.state import Served, State, known

router = APIRouter(include_in_schema=False)

_A_YEAR = "public, max-age=31536000, immutable"
Identifier = Annotated[str, Query(alias="id", max_length=1000)]
Form = Annotated[Literal["html", "json", "markdown"], Query(alias="format")]


@router.get("/", response_class=HTMLResponse)
async def ask(served: Served, wanted: Annotated[Asked, Depends()], form: Form = "html") -> Response:
    """The page Ask: answers to a question; without one, a box and examples."""
    if not wanted.q.strip():
        return await _start(served)
    # measured before it is read: an expression that is slow for a long text runs here
    question = matter_of(served.question(wanted.q))
    wanted = replace(wanted, q=question)
    found = await _found(served, question, wanted.n, wanted.spelling)
    if found.misspelt:
        wanted = replace(wanted, q=found.question)
    shown = await asyncio.to_thread(ask_page, wanted, found)
    if form == "json":
        return JSONResponse(as_json(shown))
    if form == "markdown":
        return PlainTextResponse(as_markdown(shown), media_type="text/markdown")
    held = () if shown.found else await served.examples()
    return await page_answer("ask.html.jinja", section="Ask", view=shown, held=held)


async def _found(served: State, question: str, n: int, spelling: Spelling = "") -> Found:
    return await served.on_index(
        lambda index: find(index, question, n, spelling == "kept"),
        *("ask", question, n, spelling),
    )


async def _start(served: State) -> Response:
    index, _ = await served.served_index.current()
    return await page_answer(
        "start.html.jinja", section="Ask", documents=len(index), examples=await served.examples()
    )


@router.get("/document", response_class=HTMLResponse)
async def document(
    served: Served, identifier: Identifier, wanted: Annotated[Asked, Depends()]
) -> Response:
    """The page Document: the whole text, and what stands beside it."""
    question = served.question(wanted.q) if wanted.q.strip() else ""
    wanted = replace(wanted, q=question)
    shown = await served.on_index(
        lambda index: document_page(index, known(index, identifier), question),
        *("document", identifier, question),
    )
    found = await _found(served, question, wanted.n, "kept") if question else None
    return await page_answer(
        "document.html.jinja",
        section="",
        view=shown,
        question=question,
        card=found and place_of(identifier, found, wanted),
        answers=wanted.address(),
        reply=wanted.page("/reply", identifier),
    )


@router.get("/reply", response_class=HTMLResponse)
async def reply(
    served: Served, identifier: Identifier, wanted: Annotated[Asked, Depends()]
) -> Response:
    """The strongest arguments against a document."""
    question = served.question(wanted.q) if wanted.q.strip() else ""
    wanted = replace(wanted, q=question)
    found = await served.on_index(
        lambda index: reply_to(index, known(index, identifier), question),
        *("reply to", identifier, question),
    )
    return await page_answer(
        "reply.html.jinja",
        section="",
        question=question,
        view=found,
        replies=await asyncio.to_thread(shown_replies, found, question),
        answers=wanted.address(),
        address=wanted.page("/document", identifier),
    )


@router.get("/brief", response_class=HTMLResponse)
async def write_brief(
    served: Served,
    request: Request,
    q: str,
    form: Annotated[Literal["html", "file"], Query(alias="format")] = "html",
) -> Response:
    """The page Brief: the strongest reasons of both sides, or the same as one file to keep."""
    question = served.question(q)
    made = await served.on_index(lambda index: brief(index, question), "brief", question)
    address = address_of("/brief", q=question)
    written = f"Written on {today()} at {str(request.base_url).rstrip('/')}{located(address)}"
    if form == "file":
        name = f'attachment; filename="{file_name(question)}.html"'
        return HTMLResponse(page_of(made, written), headers={"Content-Disposition": name})
    return await page_answer(
        "brief_page.html.jinja",
        section="",
        written=written,
        file=address_of("/brief", q=question, format="file"),
        **shown_brief(made, lambda reason: context_of(reason, question))
        | {"missing": missing_of(made)},
    )


@router.get("/api", response_class=HTMLResponse)
async def api(request: Request) -> Response:
    """The page API: the OpenAPI document for people."""
    said = request.app.openapi()
    about = said["info"]["description"]
    return await page_answer("api.html.jinja", section="", about=about, operations=operations(said))


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """A file that the pages load."""
    asset = assets().get(name)
    if asset is None:
        raise Problem(404, "there is no such file")
    headers = {"Cache-Control": _A_YEAR, "ETag": f'"{asset.digest}"'}
    return Response(asset.data, media_type=asset.media_type, headers=headers)
