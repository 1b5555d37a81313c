"""HTML becomes text, by resiliparse (extra `web`).

Pages of strangers can make any parser of HTML take hours or all memory (a few hundred `<font>`
that are open are opened anew in every paragraph), so `html_process` calls this in a process of its
own.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sicetnon.errors import needing

# below this the main content was hardly found, and the whole page is the better guess
_LEAST_TEXT = 200
_BLANK_LINES = re.compile(r"\n\s*\n+")


class Html(msgspec.Struct, frozen=True):
    """HTML that is to be parsed.

    Attributes:
        charset: The encoding that the server gave; guessed when left out or wrong.
        main_content: Whether menus, headers and footers go.
    """

    data: bytes
    charset: str | None = None
    main_content: bool = True


class Parsed(msgspec.Struct, frozen=True):
    """The title, text and address of a page."""

    title: str
    text: str
    url: str


def check_extra(what: str) -> None:
    """Refuse to go on without the libraries.

    Args:
        what: The feature that needs them, as the subject of a sentence.

    Raises:
        MissingExtraError: They are not installed.
    """
    with needing(what, "web"):
        import fastwarc.warc  # noqa: F401
        import resiliparse.extract.html2text  # noqa: F401


def parse(html: Html) -> Parsed:
    """Parse HTML.

    Raises:
        ValueError, RuntimeError: It cannot be parsed.
    """
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from resiliparse.parse.html import HTMLTree

    encoding = detect_encoding(html.data) or html.charset or "utf-8"
    fallback = [html.charset or "utf-8"]
    tree = HTMLTree.parse(bytes_to_str(html.data, encoding, fallback_encodings=fallback))
    text = _main_text(tree) if html.main_content else _whole_text(tree)
    return Parsed(" ".join((tree.title or "").split()), text, _own_url(tree))


def _main_text(tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(tree, main_content=True, comments=True, alt_texts=False)
    if len(text) < _LEAST_TEXT:
        text = max(text, extract_plain_text(tree, alt_texts=False), key=len)
    return _BLANK_LINES.sub("\n", text).strip()


def _whole_text(tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(tree, list_bullets=False, alt_texts=False)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def _own_url(tree: Any) -> str:
    """The address that a page itself gives."""
    if tree.head is None:
        return ""
    for selector, attribute in (
        ('link[rel="canonical"]', "href"),
        ('meta[property="og:url"]', "content"),
        ("base[href]", "href"),
    ):
        node = tree.head.query_selector(selector)
        url = node.getattr(attribute) if node is not None else None
        if url and host_of(url):
            return str(url)
    return ""


def host_of(url: str) -> str:
    """The host of an address; empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
