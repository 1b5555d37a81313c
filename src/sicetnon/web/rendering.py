"""Answers: pages of templates, and JSON. Those that may be long are made in a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import msgspec
from fastapi.responses import HTMLResponse, Response
from jinja2 import ChoiceLoader, Environment, PackageLoader

from sicetnon._version import VERSION
from sicetnon.errors import counted
from sicetnon.formats.json_records import mended
from sicetnon.report.environment import environment
from sicetnon.web.assets import assets
from sicetnon.web.prefix import linked

SECTIONS = (("Ask", "/"), ("Runs", "/runs"), ("Judge", "/judge"))
"""The sections of the site, each with its address; every page links them."""

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Only files of this server; nothing inline runs or styles, whatever a text holds."""

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    # the address holds the question
    "Referrer-Policy": "same-origin",
}
"""Headers of every page."""


def page(template: str, *, section: str, status: int = 200, **shown: Any) -> HTMLResponse:
    """A page.

    Args:
        template: The name of its template, which extends `base.html.jinja`.
        section: The section that it belongs to, of `SECTIONS`; empty for none.
        status: The HTTP status.
        shown: Values for the template. Texts are escaped.
    """
    return HTMLResponse(fragment(template, section=section, **shown), status, HEADERS)


def fragment(template: str, **shown: Any) -> str:
    """A part of a page, for a script that puts it in its place."""
    return linked(_templates().get_template(template).render(**shown))


async def page_answer(template: str, *, section: str, **shown: Any) -> Response:
    """A page; the arguments are those of `page`."""
    return await asyncio.to_thread(page, template, section=section, **shown)


async def json_answer(make: Callable[[], Any]) -> Response:
    """The answer in JSON of a value, which the function makes in the thread."""
    return await asyncio.to_thread(
        lambda: Response(_encoded(make()), media_type="application/json")
    )


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a character
        return msgspec.json.encode(mended(msgspec.to_builtins(value)))


@functools.cache
def _templates() -> Environment:
    templates = environment("sicetnon.web")
    # a brief has the same body on its page and in its file
    templates.loader = ChoiceLoader(
        [PackageLoader("sicetnon.web"), PackageLoader("sicetnon.library")]
    )
    templates.filters["counted"] = counted
    templates.globals |= {
        "address_of": lambda name: assets()[name].address,
        "sections": SECTIONS,
        "version": VERSION,
    }
    return templates
