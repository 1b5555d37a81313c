"""Answers: pages of templates, the files that they load, and JSON."""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import msgspec
from fastapi.responses import HTMLResponse, Response
from jinja2 import ChoiceLoader, Environment, PackageLoader

from sicetnon._version import VERSION
from sicetnon.errors import counted
from sicetnon.formats.json_records import mended
from sicetnon.report import script_of, style_of
from sicetnon.report.page import environment
from sicetnon.web.settings import linked

HTMX = "htmx-4.0.1.min.js"
"""The file of htmx (https://htmx.org), unchanged; its licence stands beside it."""

_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_DIGITS = 12
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


@dataclass(frozen=True)
class Asset:
    """A file that a page loads.

    Attributes:
        digest: The begin of their SHA-256 checksum, in hexadecimal digits.
    """

    name: str
    data: bytes
    digest: str

    @property
    def media_type(self) -> str:
        """Its media type."""
        return _MEDIA_TYPES[self.name.rpartition(".")[2]]

    @property
    def address(self) -> str:
        """Its address, which changes with its content, so that browsers may cache it."""
        return f"/static/{self.name}?v={self.digest}"


@functools.cache
def assets() -> Mapping[str, Asset]:
    """All files that pages load, by name."""
    return {
        name: Asset(name, data, hashlib.sha256(data).hexdigest()[:_DIGITS])
        for name, data in _files()
    }


def _files() -> Iterator[tuple[str, bytes]]:
    folder = resources.files("sicetnon.web") / "static"
    # pages, reports and briefs share colours and fonts
    shared = {"site.css": style_of("base.css"), "runs.css": style_of("parts.css")}
    for file in folder.iterdir():
        if file.name in shared:
            yield file.name, shared[file.name].encode() + file.read_bytes()
        elif file.name.rpartition(".")[2] in _MEDIA_TYPES:
            yield file.name, file.read_bytes()
    yield "report.js", script_of().encode()
    yield HTMX, (folder / "htmx" / HTMX).read_bytes()


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
    templates.loader = ChoiceLoader([PackageLoader("sicetnon.web"), PackageLoader("sicetnon.app")])
    templates.filters["counted"] = counted
    templates.globals |= {
        "address_of": lambda name: assets()[name].address,
        "sections": SECTIONS,
        "version": VERSION,
    }
    return templates
