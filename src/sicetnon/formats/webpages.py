"""Pages of the web: WARC archives and HTML files (extra `web`).

The page of an HTML file is called as the file is, without its ending; in a folder that is read as
a whole, by its path from there (`forums/laptop-or-desktop`), so that each has an id of its own.

A page's text is its main content, found by resiliparse: no menus, headers and footers, but with
comments, since in forums they are the content.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from sicetnon.errors import DataError
from sicetnon.formats.encodings import unpacked
from sicetnon.formats.files import Reading, open_bytes, read_all
from sicetnon.formats.html import Html, charset_in, check_extra, host_of
from sicetnon.formats.html_process import parse_guarded
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.limits import Limits
from sicetnon.formats.page_scores import PageScores, SideFiles
from sicetnon.records import WebPage

ARCHIVES = (".warc", ".warc.gz")
PAGES = (".html", ".htm", ".xhtml")
_SPACE = re.compile(r"\s")
WHAT = "Reading web pages"


class WebPages:
    """The pages of several files: each with an id of its own, and with scores from side files.

    Raises:
        DataError: Two files would give pages of one id, or a side file cannot be read.
    """

    def __init__(self, sources: Sequence[Path | str], files: Sequence[Path | str], side: SideFiles):
        self._files, self._side = files, side
        self._names = _page_names(sources)
        side.check()

    def read(self, path: Path | str, reading: Reading) -> Iterator[WebPage]:
        """Stream the pages of one of the files."""
        for page in read_web_pages(path, reading, self._names.get(Path(path))):
            yield self._scores.on(page)

    @functools.cached_property
    def _scores(self) -> PageScores:
        if not self._side.files:
            return PageScores()
        # archives are read twice, first for their ids: side files may be far larger
        wanted = set(self._names.values())
        for file in self._files:
            if _is_archive(file):
                wanted.update(_archived_names(file))
        return self._side.read(wanted)


def _page_names(sources: Sequence[Path | str]) -> dict[Path, str]:
    """The ids of the pages of HTML files, by file."""
    names: dict[Path, str] = {}
    for source in map(Path, sources):
        if source.is_dir():
            found = {path: path.relative_to(source) for path in page_files(source)}
        else:
            found = {source: Path(source.name)}
        names |= {path: _page_name(name) for path, name in found.items() if not _is_archive(path)}
    called: dict[str, Path] = {}
    for path, name in names.items():
        other = called.setdefault(name, path)
        if other != path:
            raise DataError(
                f"its page would be called {name!r}, as that of {other} is; rename one, or index "
                "the folder that holds both",
                path,
            )
    return names


def _page_name(path: Path) -> str:
    """A path without its ending and without white space, which an id cannot hold."""
    return _SPACE.sub(lambda space: quote(space[0]), path.with_suffix("").as_posix())


def _is_archive(path: Path | str) -> bool:
    return Path(path).name.lower().endswith(ARCHIVES)


def page_files(directory: Path) -> list[Path]:
    """All archives and pages below a directory, in the order of their names."""
    return sorted(path for path in directory.rglob("*") if is_pages(path) and path.is_file())


def is_pages(path: Path | str) -> bool:
    """Whether a file is an archive or a page by its name."""
    return Path(path).name.lower().endswith(ARCHIVES + PAGES)


def read_web_pages(
    path: Path | str, reading: Reading | None = None, name: str | None = None
) -> Iterator[WebPage]:
    """Stream the pages of an archive, or the one of an HTML file.

    A page of an archive is called as its `WARC-TREC-ID` says, else by its record id. Answers of
    servers that are no HTML, empty, or tell of an error are passed over.

    Args:
        path: The file.
        reading: Counts bytes; handles unusable pages.
        name: The id of the page of an HTML file; the file's name without its ending when left out.

    Raises:
        MissingExtraError: The libraries are not installed.
        DataError: The archive is damaged or a page cannot be used, and `reading.on_error` raises.
    """
    check_extra(WHAT)
    reading = reading or Reading()
    if _is_archive(path):
        yield from _archived(path, reading)
    else:
        yield from _single(path, reading, name or _page_name(Path(Path(path).name)))


def read_page(
    identifier: str,
    data: bytes,
    url: str = "",
    charset: str | None = None,
    limits: Limits | None = None,
) -> WebPage:
    """A page from its HTML.

    Args:
        identifier: Its id.
        data: The HTML.
        url: Its address; the one that the page itself gives when left out.
        charset: The encoding that the server gave; the page's own, else a guess, when left out.
        limits: Limits on time and memory; those of the environment when left out.

    Raises:
        ValueError: The id cannot stand in a run, or the HTML cannot be parsed within the limits.
    """
    check_identifier(identifier)
    parsed = parse_guarded(Html(data, charset), limits or Limits.from_environment())
    url = url or parsed.url
    return WebPage(id=identifier, title=parsed.title, text=parsed.text, url=url, host=host_of(url))


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
    count = 0
    try:
        for record in _records(path, reading):
            count += 1
            page = _page_of(record, path, count, reading)
            if page is not None:
                yield page
    except OSError as error:
        what = f"the archive is damaged after record {count} ({error}); copy it again"
        reading.on_error(DataError(what, path))


def _archived_names(path: Path | str) -> Iterator[str]:
    """The ids of an archive's records, up to the first damage, which `_archived` reports."""
    with contextlib.suppress(DataError, OSError):
        yield from map(_record_name, _records(path, Reading()))


def _records(path: Path | str, reading: Reading) -> Iterator[Any]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    kinds = WarcRecordType.response | WarcRecordType.resource
    with open_bytes(path, reading) as file:
        forward: Any = _Forward(file)
        yield from ArchiveIterator(forward, record_types=kinds, parse_http=False)


def _record_name(record: Any) -> str:
    return record.headers.get("WARC-TREC-ID") or (record.record_id or "").strip("<>")


def _page_of(record: Any, path: Path | str, number: int, reading: Reading) -> WebPage | None:
    """The page of a record, None where there is none."""
    if record.content_length > reading.limits.record_bytes:
        return None
    announced = record.headers.get("Content-Length", "")
    record.freeze()
    if announced.isdecimal() and record.content_length < int(announced):
        reading.on_error(DataError(f"record {number} is cut short; copy the archive again", path))
        return None
    # its own decoding of the content holds all of it, however much it is
    record.parse_http(auto_decode="transfer")
    http = record.http_headers
    status = http.status_code if http else 200
    kind = (record.http_content_type or "text/html").lower()
    if (status or 200) >= 300 or "html" not in kind:
        return None
    encodings = http.get("Content-Encoding", "") if http else ""
    charset = charset_in(http.get("Content-Type", "")) if http else None
    name = _record_name(record)
    url = record.headers.get("WARC-Target-URI", "").strip("<>")
    try:
        data = unpacked(record.reader.read(), encodings, reading.limits)
        if not data.strip():
            return None
        return read_page(name, data, url, charset, reading.limits)
    except ValueError as error:
        reading.on_error(DataError(f"record {number} cannot be used: {error}", path))
        return None


def _single(path: Path | str, reading: Reading, name: str) -> Iterator[WebPage]:
    data = read_all(path, reading)
    try:
        yield read_page(name, data, limits=reading.limits)
    except ValueError as error:
        reading.on_error(DataError(f"the page cannot be used: {error}", path))
