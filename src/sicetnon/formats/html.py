"""HTML becomes text, by resiliparse (extra `web`).

Pages of strangers can make any parser of HTML take hours or all memory (a few hundred `<font>`
that are open are opened anew in every paragraph), so `html_process` calls this in a process of its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sicetnon.errors import needing

# below this the main content was hardly found, and the whole page is the better guess
_LEAST_TEXT = 200
_BLANK_LINES = re.compile(r"\n\s*\n+")
# resiliparse takes a <ul> less than four levels below <body> for a menu
_MENU_DEPTH = 4
_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xfe\xff": "utf-16-be",
    b"\xff\xfe": "utf-16-le",
}
_META = re.compile(rb"<meta[\s/][^>]*charset", re.IGNORECASE)
# to the end of the tag that holds the last match
_TAG_BYTES = 1024
_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"'>]+)["']""")
# Python's codecs that decode more of what the Encoding Standard decodes under these names
_CODECS = {
    "big5": "big5hkscs",
    "euc_jp": "euc_jis_2004",
    "euc_kr": "cp949",
    "gbk": "gb18030",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
}


class Html(msgspec.Struct, frozen=True):
    """HTML that is to be parsed.

    Attributes:
        charset: The encoding that the server gave, or None.
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
        import brotli  # noqa: F401
        import resiliparse.extract.html2text  # noqa: F401


def parse(html: Html) -> Parsed:
    """Parse HTML.

    Raises:
        ValueError, RuntimeError: It cannot be parsed.
    """
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(_decoded(html.data, html.charset))
    text = _main_text(tree) if html.main_content else _whole_text(tree)
    return Parsed(" ".join((tree.title or "").split()), text, _own_url(tree))


def charset_in(content_type: str) -> str | None:
    """The charset that a media type names, or None."""
    match = _CHARSET.search(content_type)
    return next(filter(None, match.groups()), None) if match else None


def _decoded(data: bytes, charset: str | None) -> str:
    """The text of a page, decoded as the HTML standard (13.2.3.2) has it.

    The order is: byte order mark, server, page, guess. An encoding is passed over if it cannot
    decode most of the letters beyond ASCII; browsers show U+FFFD then.
    """
    for mark, codec in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    for name in (charset, *_declared(data)):
        own = _codec(name or "")
        if own and _is_decoded(text := data.decode(own, "replace")):
            return text
    return _guessed(data)


def _declared(data: bytes) -> Iterator[str]:
    """The encodings that a page names, by its `<meta>` tags and its XML declaration."""
    from resiliparse.parse.html import HTMLTree

    end = max((match.end() for match in _META.finditer(data)), default=0)
    if end:
        tree: Any = HTMLTree.parse(data[: end + _TAG_BYTES].decode("latin-1"))
        for meta in tree.document.query_selector_all("meta"):
            name = meta.getattr("charset")
            if name is None and (meta.getattr("http-equiv") or "").lower() == "content-type":
                name = charset_in(meta.getattr("content") or "")
            if codec := _codec(name or ""):
                # the page is no UTF-16, since its tag could be read as ASCII
                yield "utf-8" if codec.startswith("utf-16") else name
    if match := _XML.match(data):
        yield match[1].decode("latin-1")


def _codec(name: str) -> str | None:
    """Python's codec for a label of the Encoding Standard, or None if the label is unknown."""
    from resiliparse.parse.encoding import map_encoding_to_html5

    label = name.strip().lower()
    if label in ("x-mac-cyrillic", "x-mac-ukrainian"):
        return "mac-cyrillic"
    codec = map_encoding_to_html5(label, fallback_utf8=False)
    return codec and _CODECS.get(codec, codec)


def _is_decoded(text: str) -> bool:
    failed = text.count("\ufffd")
    return not failed or 2 * failed <= len(text) - len(text.encode("ascii", "ignore"))


def _guessed(data: bytes) -> str:
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    text = data.decode("utf-8", "replace")
    if not data.isascii() and _is_decoded(text):
        return text
    encoding = detect_encoding(data) or "utf-8"
    return str(bytes_to_str(data, _CODECS.get(encoding, encoding)))


def _main_text(tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    _lower_lists(tree)
    text = extract_plain_text(tree, main_content=True, comments=True, alt_texts=False)
    if len(text) < _LEAST_TEXT:
        text = max(text, extract_plain_text(tree, alt_texts=False), key=len)
    return _BLANK_LINES.sub("\n", text).strip()


def _lower_lists(tree: Any) -> None:
    """Put lists that are no menus so deep below `<body>` that resiliparse keeps them."""
    for node in tree.body.query_selector_all("ul") if tree.body else ():
        if not _is_deep(node) and _is_prose(node):
            outer = inner = tree.create_element("div")
            for _ in range(_MENU_DEPTH - 2):
                inner = inner.append_child(tree.create_element("div"))
            node.replace_with(outer)
            inner.append_child(node)


def _is_deep(node: Any) -> bool:
    for _ in range(_MENU_DEPTH):
        node = node.parent
        if node is None or node.tag == "body":
            return False
    return True


def _is_prose(node: Any) -> bool:
    """Whether most of a text stands outside of links."""
    linked = sum(len(link.text) for link in node.query_selector_all("a"))
    return bool(2 * linked < len(node.text))


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
