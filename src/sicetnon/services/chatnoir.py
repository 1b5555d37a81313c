"""ChatNoir: search over ClueWeb12, and the pages that it found (API v1)."""

from __future__ import annotations

import html
import math
import os
import re
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import msgspec
import numpy as np

from sicetnon.errors import ServiceError
from sicetnon.formats.files import Limits
from sicetnon.formats.html import Html, check_extra, parse_guarded
from sicetnon.formats.json_records import decode
from sicetnon.records import Ranking, Topic, WebPage
from sicetnon.services.http import (
    Clock,
    Missing,
    Patience,
    Request,
    ResponseCache,
    Service,
    UnusableAnswer,
    query_of,
    read_pages,
)

URL, URL_VARIABLE = "https://chatnoir.eu", "CHATNOIR_URL"
KEY_VARIABLE = "CHATNOIR_API_KEY"
KEY_HELP = (
    f"ChatNoir needs an API key: get one at https://www.chatnoir.eu/apikey/ and set {KEY_VARIABLE}"
)
_INDEX = "cw12"
_PREFIX = "clueweb12"
_CONNECTIONS = 4
_TOLERATED = 3
_HIGHLIGHT = re.compile(r"</?em>")
_HTML = re.compile(
    rb"<(?:!doctype|html|body|div|p|h[1-6]|br|ul|ol|li|table|span|em|strong|pre|section)\b", re.I
)

Progress = Callable[[str, int, int], None]


class _Hit(msgspec.Struct, frozen=True):
    score: float
    trec_id: str | None = None
    target_uri: str | None = None
    target_hostname: str | None = None
    page_rank: float | None = None
    spam_rank: float | None = None
    title: str | None = None
    snippet: str | None = None


class _Meta(msgspec.Struct, frozen=True):
    total_results: int = 0


class _Results(msgspec.Struct, frozen=True):
    results: list[_Hit]
    meta: _Meta = _Meta()


_DECODER = msgspec.json.Decoder(_Results)


class ChatNoirRetriever:
    """Finds web pages by ChatNoir. The whole title is the query.

    Rankings hold trec ids. Pages with equal scores stand in the order of their ids, so that equal
    answers always make the same ranking. The cache keeps every answer.

    Args:
        cache: The file (or folder) that keeps what was fetched.
        key: The API key; the environment's `CHATNOIR_API_KEY` when left out. It is needed only
            for what is not in the cache.
        url: The address of the service; `CHATNOIR_URL`, or ChatNoir's own, when left out.
        progress: Called with what is fetched (`topics`, `pages of topic 2 of 50`), how many of
            it are done, and of how many.
        say: Called with a line for people when something goes wrong.
        patience: Limits on requests and waiting.
        method: ChatNoir's ranking: `default` or `bm25`.
        clock: Time and waiting.

    Raises:
        UsageError: The address or the key cannot be right.
        DataError: The cache cannot be used.
        MissingExtraError: The reader of web pages is not installed.
    """

    def __init__(
        self,
        cache: Path,
        key: str | None = None,
        url: str | None = None,
        progress: Progress = lambda _, __, ___: None,
        say: Callable[[str], None] = lambda _: None,
        patience: Patience | None = None,
        method: str = "default",
        clock: Clock | None = None,
    ):
        check_extra("Reading the pages of ChatNoir")
        self._progress, self._method = progress, method
        self._limits = Limits.from_environment()
        # the snippet depends on the query, so a page found for two questions is kept twice
        self._pages: dict[tuple[str, str], WebPage] = {}
        self._origins: dict[str, str] = {}
        self._cache = ResponseCache(cache)
        self._service = Service(
            "ChatNoir",
            url or os.environ.get(URL_VARIABLE) or URL,
            self._cache,
            key if key is not None else os.environ.get(KEY_VARIABLE),
            KEY_HELP,
            patience,
            say,
            clock,
        )

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best pages for each topic's title.

        Raises:
            ServiceError: ChatNoir gave no usable answer. What it gave before is kept.
            UsageError: There is no key, and something must be fetched.
        """
        rankings = []
        for done, topic in enumerate(topics, start=1):
            rankings.append(self._retrieve(topic, k, f"topic {done} of {len(topics)}"))
            self._progress("topics", done, len(topics))
        return rankings

    def hits(self, ranking: Ranking) -> list[WebPage]:
        """Pages as the search showed them, with a snippet and no text. Nothing is fetched."""
        query = query_of(ranking.topic)
        return [self._pages[query, identifier] for identifier in ranking.ids]

    def records(self, ranking: Ranking) -> list[WebPage]:
        """Pages with their texts, which are fetched where they are not in the cache.

        A page that ChatNoir does not have gets no text, and `say` a message.

        Args:
            ranking: Pages that this retriever found for the ranking's topic.

        Raises:
            ServiceError: Several pages are not available. Those that were fetched are kept.
        """
        pages = self.hits(ranking)
        what = f"pages of {self._origins[query_of(ranking.topic)]}"
        texts = self._texts(list(dict.fromkeys(page.uuid for page in pages)), what)
        return [msgspec.structs.replace(page, text=texts[page.uuid]) for page in pages]

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()

    def _retrieve(self, topic: Topic, k: int, origin: str) -> Ranking:
        query = query_of(topic)
        found = read_pages(self._service, query, self._search, _read_results, k)
        names = sorted(found, key=lambda name: (-found[name].score, name))
        self._origins[query] = origin
        self._pages |= {(query, name): _page(name, found[name]) for name in names}
        scores = np.array([found[name].score for name in names], dtype=np.float64)
        return Ranking(topic, tuple(names), scores)

    def _search(self, query: str, offset: int, size: int) -> Request:
        body = {
            "query": query,
            "index": [_INDEX],
            "from": offset,
            "size": size,
            "search_method": self._method,
            "explain": False,
        }
        return Request("/api/v1/_search", body=body)

    def _texts(self, wanted: list[str], what: str) -> dict[str, str]:
        texts: dict[str, str] = {}
        failures = 0
        with ThreadPoolExecutor(_CONNECTIONS) as pool, self._service.stopping():
            waiting = {pool.submit(self._text, identifier): identifier for identifier in wanted}
            for done, future in enumerate(as_completed(waiting), start=1):
                try:
                    text = future.result()
                except ServiceError as error:
                    failures += not isinstance(error, Missing)
                    if failures > _TOLERATED:
                        raise
                    self._service.say(f"a page has no text: {error}")
                    text = ""
                texts[waiting[future]] = text
                self._progress(what, done, len(wanted))
        return texts

    def _text(self, identifier: str) -> str:
        query = (("uuid", identifier), ("index", _INDEX), ("raw", None), ("plain", None))
        return self._service.ask(Request("/cache", query), self._read_text)

    def _read_text(self, body: bytes) -> str:
        """The text of a page, which may be HTML."""
        if not _HTML.search(body):
            text = body.decode("utf-8", "replace")
        else:
            try:
                parsed = parse_guarded(Html(body, "utf-8", main_content=False), self._limits)
            except ValueError as error:
                self._service.say(f"a page has no text: {error}")
                return ""
            text = parsed.text
        if not text.strip():
            raise UnusableAnswer("sent an empty page")
        return text


def page_uuid(trec_id: str) -> str:
    """ChatNoir's id of a page of ClueWeb12."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{_PREFIX}:{trec_id}"))


def _page(name: str, hit: _Hit) -> WebPage:
    return WebPage(
        id=name,
        title=_shown(hit.title),
        text="",
        url=hit.target_uri or "",
        host=hit.target_hostname or "",
        page_rank=hit.page_rank,
        spam_rank=hit.spam_rank,
        snippet=_shown(hit.snippet),
        uuid=page_uuid(name),
    )


def _shown(marked: str | None) -> str:
    """A title or snippet without highlighting, as people read it."""
    return " ".join(html.unescape(_HIGHLIGHT.sub("", marked or "")).split())


def _read_results(body: bytes) -> tuple[list[tuple[str, _Hit]], int]:
    try:
        answer = decode(_DECODER, body)
    except (ValueError, msgspec.MsgspecError):
        raise UnusableAnswer("sent something other than results") from None
    hits = [
        (hit.trec_id, hit)
        for hit in answer.results
        if hit.trec_id and hit.trec_id.split() == [hit.trec_id] and math.isfinite(hit.score)
    ]
    if len(hits) < len(answer.results):
        raise UnusableAnswer("sent results without an id or a score")
    return hits, answer.meta.total_results
