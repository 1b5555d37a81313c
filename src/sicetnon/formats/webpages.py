"""Pages of the web: WARC archives and HTML files (extra `web`).

The page of an HTML file is called as the file is, without its ending; in a folder that is read as
a whole, by its path from there (`forums/laptop-or-desktop`), so that each has an id of its own.

A page's text is its main content, found by resiliparse: no menus, headers and footers, but with
comments, since in forums they are the content.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from sicetnon.errors import DataError
from sicetnon.formats.encodings import is_text, unpacked
from sicetnon.formats.files import Reading, read_all
from sicetnon.formats.html import Html, charset_in, check_extra, host_of
from sicetnon.formats.html_process import parse_guarded
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.limits import Limits
from sicetnon.formats.page_scores import PageScores, SideFiles
from sicetnon.formats.warc import WarcRecord, http_response, read_warc
from sicetnon.records import WebPage

ARCHIVES = (".warc", ".warc.gz")
PAGES = (".html", ".htm", ".xhtml")
# white space, and bytes of a name that are no UTF-8
_UNFIT = re.compile(r"[\s\ud800-\udfff]")
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
    """A path without its ending; what an id cannot hold is written as in an address."""
    return _UNFIT.sub(lambda part: quote(os.fsencode(part[0])), path.with_suffix("").as_posix())


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


def _archived(path: Path | str, reading: Reading) -> Iterator[WebPage]:
    for record in _records(path, reading):
        try:
            page = _page_of(record, reading.limits)
        except ValueError as error:
            what = f"record {record.number} cannot be used: {error}"
            reading.on_error(DataError(what, path))
        else:
            if page is not None:
                yield page


def _archived_names(path: Path | str) -> Iterator[str]:
    """The ids of an archive's records; `_archived` reports its damages."""
    with contextlib.suppress(DataError):
        yield from map(_record_name, _records(path, Reading(lambda _: None)))


def _records(path: Path | str, reading: Reading) -> Iterator[WarcRecord]:
    kinds = ("response", "resource")
    for record in read_warc(path, reading):
        if record.headers.get("warc-type", "").lower() in kinds:
            yield record


def _record_name(record: WarcRecord) -> str:
    identifier = record.headers.get("warc-record-id", "").strip("<>")
    return record.headers.get("warc-trec-id") or identifier


def _page_of(record: WarcRecord, limits: Limits) -> WebPage | None:
    """The page of a record, or None if it holds none.

    Raises:
        ValueError: It cannot be used.
    """
    kind, codings, data = record.headers.get("content-type", ""), "", record.block
    if kind.lower().startswith("application/http") or data.startswith(b"HTTP/"):
        status, headers, data = http_response(data)
        if status >= 300:
            return None
        kind = headers.get("content-type", "")
        names = ("content-encoding", "transfer-encoding")
        codings = ",".join(headers.get(name, "") for name in names)
    if "html" not in (kind.lower() or "text/html"):
        return None
    data = unpacked(data, codings, limits)
    charset = charset_in(kind)
    if not data.strip() or not (is_text(data) or (charset or "").lower().startswith("utf-16")):
        return None
    url = record.headers.get("warc-target-uri", "").strip("<>")
    return read_page(_record_name(record), data, url, charset, limits)


def _single(path: Path | str, reading: Reading, name: str) -> Iterator[WebPage]:
    data = read_all(path, reading)
    try:
        yield read_page(name, data, limits=reading.limits)
    except ValueError as error:
        reading.on_error(DataError(f"the page cannot be used: {error}", path))
