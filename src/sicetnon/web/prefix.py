"""The path below which a proxy shows the server: taken off requests, put before links.

The routes and templates know nothing of it. A proxy may take it off itself, and says it in the
header `X-Forwarded-Prefix`; without the header it is the one that the server was started with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar

PREFIX: ContextVar[str] = ContextVar("prefix", default="")
"""The path of the request at hand; empty without a proxy."""

_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
# texts in templates are escaped: none holds a quote
_LINK = re.compile(r'((?:href|src|action|hx-get)=")(?=/(?!/))')


def is_prefix(path: str) -> bool:
    """Whether a path can be a prefix: of plain names, with a slash before each."""
    return _PATH.fullmatch(path) is not None


def prefix_of(headers: Mapping[str, str], root_path: str) -> str:
    """The prefix of a request, by its header or else as the server was started."""
    given = headers.get("x-forwarded-prefix", "").partition(",")[0].strip().rstrip("/")
    return given if is_prefix(given) else root_path


def without_prefix(path: str, prefix: str) -> str:
    """A path without the prefix, which some proxies leave there."""
    return path[len(prefix) :] or "/" if f"{path}/".startswith(f"{prefix}/") else path


def linked(html: str) -> str:
    """HTML whose links and forms lead to addresses below the prefix."""
    prefix = PREFIX.get()
    return _LINK.sub(rf"\1{prefix}", html) if prefix else html


def located(address: str) -> str:
    """An address of this server, below the prefix; others as they are."""
    is_own = address.startswith("/") and not address.startswith("//")
    return PREFIX.get() + address if is_own else address
