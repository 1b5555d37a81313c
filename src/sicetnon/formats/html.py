"""HTML becomes text, by resiliparse (extra `web`), in a process of its own.

Pages of strangers can make any parser of HTML take hours or all memory (a few hundred `<font>`
that are open are opened anew in every paragraph): a page that takes too much time or memory ends
the process, and no more. It is started with the first page, and again after a page has ended it.
Requests and answers are MessagePack after their length.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from sicetnon.errors import SicetnonError, needing
from sicetnon.formats.files import Limits
from sicetnon.operating_system import is_cpu_limit, limit_cpu, limit_memory

# below this the main content was hardly found, and all of the page is the better guess
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


_LENGTH_BYTES = 8
# the search path of modules comes as arguments, since a program may have changed it
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from sicetnon.formats.html import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)


def parse_guarded(html: Html, limits: Limits) -> Parsed:
    """Parse HTML within limits on time and memory.

    Raises:
        ValueError: It takes more than the limits to parse.
        SicetnonError: The process cannot be started.
    """
    # a process that has forked starts its own
    return _parser(limits, os.getpid()).parse(html)


@functools.cache
def _parser(limits: Limits, process_id: int) -> _HtmlProcess:
    return _HtmlProcess(limits)


class _HtmlProcess:
    """A process that parses HTML, for one page after the other."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def parse(self, html: Html) -> Parsed:
        """Parse HTML within the limits."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = _start(self._limits)
                self._stop = weakref.finalize(self, _stop, self._process)
            answer = None
            try:
                answer = _exchange(self._process, html)
            finally:
                # an answer that comes after Ctrl-C would be taken for the next one
                status = self._stop() if answer is None else 0
            if answer is None:
                raise ValueError(f"it {self._limits.beyond_page(is_cpu_limit(status or 0))}")
        return answer


def _start(limits: Limits) -> subprocess.Popen[bytes]:
    arguments = [str(limits.page_seconds), str(limits.page_memory), *sys.path]
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if _receive(process.stdout) is None:
        _stop(process)
        raise SicetnonError(
            "the process that parses HTML does not start; check the memory that is free"
        )
    return process


def _stop(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    with process, contextlib.suppress(BrokenPipeError):
        return process.wait()
    return process.returncode


def _exchange(process: subprocess.Popen[bytes], html: Html) -> Parsed | None:
    """The response of the process, or None if the page has ended it."""
    with contextlib.suppress(BrokenPipeError):
        _send(process.stdin, msgspec.msgpack.encode(html))
        data = _receive(process.stdout)
        return None if data is None else msgspec.msgpack.decode(data, type=Parsed)
    return None


def _send(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    pipe.write(len(data).to_bytes(_LENGTH_BYTES) + data)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes | None:
    """The next message, or None if the other side has ended."""
    assert pipe is not None
    head = pipe.read(_LENGTH_BYTES)
    size = int.from_bytes(head)
    data = pipe.read(size) if len(head) == _LENGTH_BYTES else b""
    return data if head and len(data) == size else None


def serve(seconds: int, memory: int) -> None:
    """Parse what comes through standard input, until it ends.

    Args:
        seconds: Seconds of processor time for one page.
        memory: Bytes of memory for all.
    """
    # Ctrl-C is for the program that started this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(memory)
    _send(sys.stdout.buffer, b"ready")
    while (data := _receive(sys.stdin.buffer)) is not None:
        limit_cpu(seconds)
        # any HTML has a tree: where the parser fails, or there is no memory, the process ends
        parsed = parse(msgspec.msgpack.decode(data, type=Html))
        limit_cpu(0)
        _send(sys.stdout.buffer, msgspec.msgpack.encode(parsed))
