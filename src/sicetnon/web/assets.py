"""Files that the pages load: read once, served from memory, named by their content."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from sicetnon.report import script_of, style_of

HTMX = "htmx-4.0.1.min.js"
"""The file of htmx (https://htmx.org), unchanged; its licence stands beside it."""

_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_DIGITS = 12


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
