"""The two systems of the University of Amsterdam, CLEF 2020, stage by stage.

`sicetnon train` trains their learned parts. Those of the package use hashed words in place of a
language model, and no named entities.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.reader import IndexReader
from sicetnon.ranking.stages import BoundedMoves, Promotion
from sicetnon.ranking.system import Stage, System
from sicetnon.records import Ranking, Topic, WebPage, said
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.services.page_sources import PageSource, on_pages
from sicetnon.uva.text_models import (
    ARGUMENTATIVENESS,
    StrengthRanker,
    TextClassifier,
    says_forum_or_blog,
)

BOUND = CHUNK = 10
RERANKED = 10
CLASSIFIED = 100


def task_1(index: IndexReader) -> System:
    """UvATask1LTR: BM25 on the whole title, then RankNet on how strong an argument is.

    1. BM25 (k1 = 1.2, b = 0.75), stop words kept.
    2. A support vector machine labels the quality of each argument.
    3. RankNet sorts the best ten by the text's vector, the label, and named entities. The paper
       does not say how many arguments were sorted.
    """
    retriever = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))])
    return System(retriever, [by_strength(index, StrengthRanker.read())], RERANKED)


def by_strength(index: IndexReader, ranker: StrengthRanker, depth: int = RERANKED) -> Stage:
    """Step 3 of UvATask1LTR: sorts the best arguments by the strength of their premises."""
    return BoundedMoves(functools.partial(_strength, index, ranker), bound=None, depth=depth)


def _strength(
    index: IndexReader, ranker: StrengthRanker, _: Topic, ranking: Ranking
) -> list[float]:
    texts = [said(record) for record in index.records(ranking.ids)]
    scores: list[float] = ranker.score(texts).tolist()
    return scores


def task_2(pages: PageSource) -> System:
    """UvATask2SVM: BM25, then PageRank, web domain and argumentativeness within limits.

    1. BM25 on the whole title.
    2. Pages are sorted by PageRank, but none moves more than 10 places.
    3. Addresses with `forum` or `blog` go first in each chunk of 10.
    4. Among the best 100, pages that a support vector machine labels as argumentative go first in
       each chunk of 10.
    """
    stages = [by_page_rank(pages), forums_first(pages), arguments_first(pages)]
    return System(pages.retriever, stages, CLASSIFIED)


def by_page_rank(pages: PageSource) -> Stage:
    """Step 2 of UvATask2SVM."""
    return BoundedMoves(on_pages(pages.shown, _page_ranks), BOUND)


def forums_first(pages: PageSource) -> Stage:
    """Step 3 of UvATask2SVM."""
    return Promotion(on_pages(pages.shown, _forums), CHUNK)


def arguments_first(pages: PageSource, classifier: TextClassifier | None = None) -> Stage:
    """Step 4 of UvATask2SVM, by the trained classifier or another one."""
    trained = classifier or TextClassifier.read(ARGUMENTATIVENESS)

    def is_argumentative(found: Sequence[WebPage]) -> NDArray[np.float64]:
        return trained.is_good([page.default_text() for page in found]).astype(np.float64)

    return Promotion(on_pages(pages.records, is_argumentative), CHUNK, CLASSIFIED)


def only(step: Callable[[PageSource], Stage], title: str) -> Callable[[PageSource], System]:
    """A system of one step alone, for the ablation."""

    def build(pages: PageSource) -> System:
        return System(pages.retriever, [step(pages)], CLASSIFIED)

    build.__doc__ = f"BM25, then one step of UvATask2SVM alone: {title}."
    return build


TASK_2_SYSTEMS: dict[str, Callable[[PageSource], System]] = {
    "uva": task_2,
    "uva-page-rank": only(by_page_rank, "PageRank"),
    "uva-domain": only(forums_first, "web domain"),
    "uva-argumentativeness": only(arguments_first, "argumentativeness"),
}


def _page_ranks(pages: Sequence[WebPage]) -> NDArray[np.float64]:
    return np.array([np.nan if page.page_rank is None else page.page_rank for page in pages])


def _forums(pages: Sequence[WebPage]) -> NDArray[np.float64]:
    return np.array([float(says_forum_or_blog(page.url)) for page in pages])
