"""The brief as a page to print or to keep."""

from __future__ import annotations

import datetime
import re
import unicodedata
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from sicetnon.app.brief import REASONS, Brief, brief, brief_html, template_values
from sicetnon.app.reasons import Reason
from sicetnon.web.pages.ask_search import address_of
from sicetnon.web.pages.cards import at_sentence
from sicetnon.web.rendering import page_answer
from sicetnon.web.settings import located
from sicetnon.web.state import Served

router = APIRouter(include_in_schema=False)

_LONGEST_NAME = 80


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
        return HTMLResponse(brief_html(made, written), headers={"Content-Disposition": name})
    return await page_answer(
        "brief_page.html.jinja",
        section="",
        written=written,
        file=address_of("/brief", q=question, format="file"),
        **template_values(made, lambda reason: context_of(reason, question))
        | {"missing": missing_of(made)},
    )


def context_of(reason: Reason, question: str) -> str:
    """The address of a reason's document at its sentence."""
    address = address_of("/document", id=reason.answer.id, q=question)
    return at_sentence(address, reason.sentence, reason.answer)


def missing_of(brief: Brief) -> tuple[Markup, Markup]:
    """The notices about sides with too few reasons, with links to their answers."""
    sides = zip((brief.supporting, brief.opposing), brief.counts, ("for", "against"), strict=True)
    first, second = (
        _missing(len(reasons), count, address_of("/", q=brief.question, side=side))
        for reasons, count, side in sides
    )
    return first, second


def _missing(quoted: int, answers: int, address: str) -> Markup:
    if quoted >= REASONS:
        return Markup("")
    said = Markup(f"No {'other ' if quoted else ''}sentence of this side could be quoted.")
    if answers <= quoted:
        return said
    link = Markup('{} <a class="screen" href="{}">Its answers: {}</a>')
    return link.format(said, address, answers)


def file_name(question: str) -> str:
    """The name of a file about a question: its words, as far as every system can store them."""
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST_NAME].strip("-")
    return name or "brief"


def today() -> str:
    """The day, as people write it."""
    day = datetime.date.today()
    return f"{day.day} {day:%B %Y}"
