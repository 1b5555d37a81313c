"""Where web pages come from: an index of the user's own, or ChatNoir."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.moves import Measure
from sicetnon.ranking.system import Retriever
from sicetnon.records import Entry, Passage, Ranking, Record, Topic, WebPage
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.services.chatnoir import ChatNoirRetriever

Reader = Callable[[Ranking], Sequence[Record]]
PAGE_KINDS = ("pages", "passages", "entries")


@dataclass(frozen=True)
class PageSource:
    """Finds web pages, and gives what is known of those in a ranking.

    Attributes:
        name: For people.
        retriever: Finds them by BM25 on the whole title.
        shown: The pages as a result list shows them: address and scores, but perhaps no text.
        records: The pages with their texts, which may have to be fetched.
        local: What searches the pages where they are in an index: it takes weighted words.
    """

    name: str
    retriever: Retriever
    shown: Reader
    records: Reader
    local: LocalRetriever | None = None


def from_index(index: IndexReader) -> PageSource:
    """Pages of an index. BM25 as Elasticsearch has it (k1 = 1.2, b = 0.75), as in ChatNoir.

    Raises:
        DataError: The index holds arguments.
    """
    kind = index.manifest.records
    if kind not in PAGE_KINDS:
        raise DataError(f"is an index of {kind}; expected web pages", index.folder)
    retriever = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))])
    return PageSource(str(index.folder), retriever, index.records_of, index.records_of, retriever)


def from_chatnoir(retriever: ChatNoirRetriever) -> PageSource:
    """Pages of ChatNoir."""
    return PageSource("ChatNoir", retriever, retriever.hits, retriever.records)


def as_page(record: Record) -> WebPage:
    """What a record says of a web page."""
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


def on_pages(read: Reader, measure: Callable[[Sequence[WebPage]], NDArray]) -> Measure:  # type: ignore[type-arg]
    """A measure of a ranking's documents from a measure of pages."""

    def of_ranking(_: Topic, ranking: Ranking) -> Sequence[float]:
        pages = [as_page(record) for record in read(ranking)]
        return measure(pages).tolist()  # type: ignore[no-any-return]

    return of_ranking
