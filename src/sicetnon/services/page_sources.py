"""Sources of web pages: an index of the user, or ChatNoir."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sicetnon.arguments.credibility import Signal
from sicetnon.errors import DataError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.stages import RankingSignal
from sicetnon.records import Entry, Passage, Ranking, Record, Retriever, WebPage
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25

if TYPE_CHECKING:
    # it loads what speaks to servers
    from sicetnon.services.chatnoir import ChatNoirRetriever

PageReader: TypeAlias = Callable[[Ranking], Sequence[WebPage]]
PAGE_KINDS = ("pages", "passages", "entries")


@dataclass(frozen=True)
class PageSource:
    """Finds web pages, and reads those of a ranking.

    Attributes:
        retriever: Finds them by BM25 on the whole title.
        shown: Reads the pages as a result list shows them: address and scores, perhaps no text.
        records: Reads the pages with their texts, which may have to be fetched.
        local: The retriever, where the pages are in an index: it takes weighted terms.
    """

    retriever: Retriever
    shown: PageReader
    records: PageReader
    local: LocalRetriever | None = None


def from_index(index: IndexReader) -> PageSource:
    """The pages of an index. BM25 as in Elasticsearch and ChatNoir (k1 = 1.2, b = 0.75)."""
    kind = index.manifest.records
    if kind not in PAGE_KINDS:
        raise DataError(f"is an index of {kind}; expected web pages", index.folder)
    retriever = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))])

    def read(ranking: Ranking) -> list[WebPage]:
        return [as_page(record) for record in index.records_of(ranking)]

    return PageSource(retriever, read, read, retriever)


def from_chatnoir(retriever: ChatNoirRetriever) -> PageSource:
    """The pages of ChatNoir."""
    return PageSource(retriever, retriever.hits, retriever.records)


def as_page(record: Record) -> WebPage:
    """A record as a web page."""
    if isinstance(record, WebPage):
        return record
    if isinstance(record, Passage):
        return WebPage(record.id, "", record.contents, record.url)
    if isinstance(record, Entry):
        url = record.extra.get("url")
        return WebPage(
            record.id,
            record.texts.get("title", ""),
            record.default_text(),
            record.texts.get("url", url if isinstance(url, str) else ""),
        )
    return WebPage(record.id, "", record.default_text())


def on_pages(read: PageReader, signal: Signal) -> RankingSignal:
    """The measure of a ranking's documents that a signal of pages gives."""
    return lambda _, ranking: signal(read(ranking)).tolist()
