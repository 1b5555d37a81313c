"""Touché 2020 task 2: web documents for comparative questions.

Documents come from an index of web pages that the user names, or else from ChatNoir. Every system
reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.argumentativeness import argumentativeness
from sicetnon.arguments.credibility import Credibility
from sicetnon.ranking.blending import Blend
from sicetnon.records import WebPage
from sicetnon.tasks import uva
from sicetnon.tasks.sources import PageSource, on_pages
from sicetnon.tasks.system import System, Task

DEPTH = 100


def default(pages: PageSource) -> System:
    """BM25, a little better for pages that argue and for pages that can be trusted.

    1. Pages are found by BM25 on the whole title. Scores are brought to 0 … 1.
    2. The best 100 gain up to 0.05 for cues of arguing in their texts, and up to 0.05 for
       credibility (PageRank, spam rank, kind of host, https, length, advertising).

    The weights were set by hand, since judged documents with their texts are not at hand; they are
    small, since each such signal alone cost nDCG@5 in the published ablation of UvATask2SVM.
    """
    arguing = on_pages(pages.records, _arguing)
    trusted = on_pages(pages.records, Credibility())
    return System(pages.retriever, [Blend([(arguing, 0.05), (trusted, 0.05)], DEPTH)], DEPTH)


def bm25(pages: PageSource) -> System:
    """BM25 on the whole title (of ChatNoir: its own ranking)."""
    return System(pages.retriever)


def _arguing(pages: Sequence[WebPage]) -> NDArray[np.float64]:
    return np.array([argumentativeness(page.default_text()) for page in pages])


SYSTEMS: dict[str, Callable[[PageSource], System]] = {
    "default": default,
    "bm25": bm25,
} | uva.TASK_2_SYSTEMS

TASK = Task(
    id="touche-2020-task-2",
    title="Web documents for comparative questions (2020)",
    records="pages",
    analysis="porter",
    systems=SYSTEMS,
    is_corpus_given=False,
)
