"""Pages of the web: WARC archives and HTML files (extra `web`), with scores from side files.

A page's text is its main content, found by resiliparse: no menus, headers and footers, but with
comments, since in forums they are the content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import msgspec

from sicetnon.errors import DataError, MissingExtraError
from sicetnon.formats.argsme import check_identifier
from sicetnon.formats.files import Reading, open_bytes, read_lines
from sicetnon.records import WebPage

ARCHIVES = (".warc", ".warc.gz")
PAGES = (".html", ".htm", ".xhtml")
PAGE_RANKS, SPAM_RANKS = "page-ranks.txt", "spam-ranks.txt"
_LARGEST_PAGE = 16 << 20
# below this the main content was hardly found, and the whole page is the better guess
_LEAST_TEXT = 200
_BLANK_LINES = re.compile(r"\n\s*\n+")
_EXTRA = "Reading web pages"


@dataclass(frozen=True)
class PageScores:
    """Scores of pages by id, as side files hold them.

    Attributes:
        page_rank: The higher the more linked to.
        spam_rank: Per cent of the crawl that is more spam than this (100 is best).
        files: Where they came from.
    """

    page_rank: Mapping[str, float] = field(default_factory=dict)
    spam_rank: Mapping[str, float] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    def on(self, page: WebPage) -> WebPage:
        """A page with its scores, where they are known."""
        page_rank, spam_rank = self.page_rank.get(page.id), self.spam_rank.get(page.id)
        if page_rank is None and spam_rank is None:
            return page
        return msgspec.structs.replace(page, page_rank=page_rank, spam_rank=spam_rank)


def read_scores(page_rank: Path | None = None, spam_rank: Path | None = None) -> PageScores:
    """Read side files: an id and a number on each line, in either order.

    So are the Waterloo spam ranks (number first) and the ClueWeb12 PageRanks (id first). All of a
    file is held in memory, about 150 bytes a line: cut it to the pages at hand first.

    Raises:
        DataError: A line is not so.
    """
    files = tuple(file for file in (page_rank, spam_rank) if file is not None)
    return PageScores(
        _numbers(page_rank) if page_rank else {}, _numbers(spam_rank) if spam_rank else {}, files
    )


def scores_beside(directory: Path) -> PageScores:
    """The scores of side files named `page-ranks.txt` and `spam-ranks.txt` (or `.gz` of them)."""
    return read_scores(_beside(directory, PAGE_RANKS), _beside(directory, SPAM_RANKS))


def page_files(directory: Path) -> list[Path]:
    """All archives and pages below a directory, in the order of their names."""
    return sorted(path for path in directory.rglob("*") if is_pages(path) and path.is_file())


def is_pages(path: Path | str) -> bool:
    """Whether a file's name says that it is an archive or a page."""
    return Path(path).name.lower().endswith(ARCHIVES + PAGES)


def check_extra() -> None:
    """Refuse to go on without the libraries.

    Raises:
        MissingExtraError: They are not installed.
    """
    try:
        import fastwarc.warc  # noqa: F401
        import resiliparse.extract.html2text  # noqa: F401
    except ImportError:
        raise MissingExtraError(_EXTRA, "web") from None


def read_web_pages(
    path: Path | str, reading: Reading | None = None, scores: PageScores | None = None
) -> Iterator[WebPage]:
    """Stream the pages of an archive, or the one of an HTML file.

    A page of an archive is called as its `WARC-TREC-ID` says, else by its record id; that of a
    file by the file's name without its ending. Answers of servers that are no HTML, empty, or
    tell of an error are passed over.

    Raises:
        MissingExtraError: The libraries are not installed.
        DataError: The archive is damaged or a page cannot be used, and `reading.on_error` raises.
    """
    check_extra()
    reading, scores = reading or Reading(), scores or PageScores()
    is_archive = Path(path).name.lower().endswith(ARCHIVES)
    for page in (_archived if is_archive else _single)(path, reading):
        yield scores.on(page)


def read_page(identifier: str, data: bytes, url: str = "", charset: str | None = None) -> WebPage:
    """A page from its HTML.

    Args:
        identifier: What it is called.
        data: The HTML.
        url: Where it was; what the page says of itself when left out.
        charset: What the server said of the encoding; guessed when left out or wrong.

    Raises:
        ValueError: The id cannot stand in a run, or the HTML cannot be parsed.
    """
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from resiliparse.parse.html import HTMLTree

    check_identifier(identifier)
    encoding = detect_encoding(data) or charset or "utf-8"
    tree = HTMLTree.parse(bytes_to_str(data, encoding, fallback_encodings=[charset or "utf-8"]))
    url = url or _own_url(tree)
    return WebPage(
        id=identifier,
        title=" ".join((tree.title or "").split()),
        text=_main_text(tree),
        url=url,
        host=_host(url),
    )


class _Forward:
    """A file that is only read onwards. fastwarc panics when a file has a `seek` that fails."""

    def __init__(self, file: BinaryIO):
        self._file, self._at = file, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._at += len(data)
        return data

    def tell(self) -> int:
        return self._at


def _archived(path: Path | str, reading: Reading) -> Iterator[WebPage]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    count = 0
    with open_bytes(path, reading) as file:
        kinds = WarcRecordType.response | WarcRecordType.resource
        forward: Any = _Forward(file)
        try:
            for record in ArchiveIterator(forward, record_types=kinds, parse_http=False):
                count += 1
                page = _page_of(record, path, count, reading)
                if page is not None:
                    yield page
        except OSError as error:
            what = f"the archive is damaged after record {count} ({error}); copy it again"
            reading.on_error(DataError(what, path))


def _page_of(record: Any, path: Path | str, number: int, reading: Reading) -> WebPage | None:
    """The page of a record, None where there is none."""
    if record.content_length > _LARGEST_PAGE:
        return None
    announced = record.headers.get("Content-Length", "")
    record.freeze()
    if announced.isdecimal() and record.content_length < int(announced):
        reading.on_error(DataError(f"record {number} is cut short; copy the archive again", path))
        return None
    record.parse_http(auto_decode="all")
    status = record.http_headers.status_code if record.http_headers else 200
    kind = (record.http_content_type or "text/html").lower()
    data = record.reader.read()
    if (status or 200) >= 300 or "html" not in kind or not data.strip():
        return None
    name = record.headers.get("WARC-TREC-ID") or (record.record_id or "").strip("<>")
    url = record.headers.get("WARC-Target-URI", "").strip("<>")
    try:
        return read_page(name, data, url, record.http_charset)
    except (ValueError, RuntimeError) as error:
        reading.on_error(DataError(f"record {number} cannot be used: {error}", path))
        return None


def _single(path: Path | str, reading: Reading) -> Iterator[WebPage]:
    with open_bytes(path, reading) as file:
        data = file.read()
    try:
        yield read_page(Path(path).stem, data)
    except (ValueError, RuntimeError) as error:
        reading.on_error(DataError(f"the page cannot be used: {error}", path))


def _main_text(tree: Any) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(tree, main_content=True, comments=True, alt_texts=False)
    if len(text) < _LEAST_TEXT:
        text = max(text, extract_plain_text(tree, alt_texts=False), key=len)
    return _BLANK_LINES.sub("\n", text).strip()


def _own_url(tree: Any) -> str:
    """Where a page says that it is."""
    if tree.head is None:
        return ""
    for selector, attribute in (
        ('link[rel="canonical"]', "href"),
        ('meta[property="og:url"]', "content"),
        ("base[href]", "href"),
    ):
        node = tree.head.query_selector(selector)
        url = node.getattr(attribute) if node is not None else None
        if url and _host(url):
            return str(url)
    return ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _beside(directory: Path, name: str) -> Path | None:
    for candidate in (directory / name, directory / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def _numbers(path: Path) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for line, text in read_lines(path):
        if not text.strip():
            continue
        found = _pair(text.split())
        if found is None:
            raise DataError(
                f"found {text[:60]!r}; expected an id and a number, such as "
                "'clueweb12-0000wb-00-00000 1.3e-09'",
                path,
                line,
            )
        numbers[found[0]] = found[1]
    return numbers


def _pair(words: list[str]) -> tuple[str, float] | None:
    """The id and the number on a line; the last word is the number where both could be."""
    if len(words) != 2:
        return None
    for name, number in (words, reversed(words)):
        try:
            value = float(number)
        except ValueError:
            continue
        if value == value:
            return name, value
    return None
