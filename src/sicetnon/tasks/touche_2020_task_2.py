"""Touché 2020 task 2: web documents for comparative questions.

Documents come from an index of web pages that the user names, or else from ChatNoir. Every system
reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.argumentativeness import CUES, argumentativeness
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.arguments.credibility import SIGNALS, Credibility, Signal
from sicetnon.errors import UsageError
from sicetnon.ranking.stages import Blend
from sicetnon.ranking.system import System
from sicetnon.records import WebPage
from sicetnon.retrieval.searcher import ObjectsRetriever
from sicetnon.services.page_sources import PageSource, on_pages
from sicetnon.tasks.task import Task
from sicetnon.uva import systems as uva

DEPTH = 30
OBJECTS = 0.25
WEIGHTS: Mapping[str, float] = {"comparatives": 0.15, "host-kind": 0.01, "advertising": 0.01}
# signals that a list of results shows; no page has to be fetched for them
_SHOWN = frozenset({"page-rank", "spam-rank", "host-kind", "https"})


def cues_of(kinds: Collection[str]) -> Signal:
    """The signal of argumentativeness by some kinds of cues."""

    def measure(pages: Sequence[WebPage]) -> NDArray[np.float64]:
        return np.array([argumentativeness(page.default_text(), kinds) for page in pages])

    return measure


MEASURES: Mapping[str, Signal] = (
    {name: cues_of([name]) for name in CUES}
    | {"arguing": cues_of(tuple(CUES)), "credibility": Credibility()}
    | dict(SIGNALS)
)
"""All signals: each kind of cue, all cues, each sign of trust, and all signs."""


def default(pages: PageSource) -> System:
    """BM25 with weight on both objects; then cues of comparison, and a little trust.

    1. BM25 searches the whole title. In an index of the user the name of each object adds a quarter
       to the weight; ChatNoir's own ranking is kept.
    2. Scores are scaled to 0 … 1. Each of the best 30 gains up to 0.15 for comparatives in its
       text, and up to 0.01 each for the kind of its host and for little advertising.

    All other signals are off, among them PageRank and spam rank. `weighed` switches them on;
    docs/figures/documents.md shows the effect of each.
    """
    return weighed(pages)


def weighed(
    pages: PageSource,
    weights: Mapping[str, float] = WEIGHTS,
    objects: float = OBJECTS,
    depth: int = DEPTH,
) -> System:
    """The default system with other weights.

    Args:
        pages: The source of pages.
        weights: The largest gain by each signal, by its name in `MEASURES`; others are off.
        objects: The additional weight of each object's name, in an index of the user.
        depth: Number of the best pages that are measured.
    """
    if unknown := sorted(set(weights) - set(MEASURES)):
        raise UsageError(f"unknown signal {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    measures = [
        (on_pages(pages.shown if name in _SHOWN else pages.records, MEASURES[name]), weight)
        for name, weight in weights.items()
        if weight
    ]
    retriever = pages.retriever
    if pages.local is not None and objects:
        retriever = ObjectsRetriever(pages.local, objects_of, objects)
    return System(retriever, [Blend(measures, depth)], depth)


def every_signal(pages: PageSource) -> System:
    """BM25; all cues of arguing and all signs of trust blended into the best 100 (0.05 each)."""
    return weighed(pages, {"arguing": 0.05, "credibility": 0.05}, 0.0, 100)


def bm25(pages: PageSource) -> System:
    """BM25 on the whole title (of ChatNoir: its own ranking)."""
    return System(pages.retriever)


SYSTEMS: dict[str, Callable[[PageSource], System]] = {
    "default": default,
    "bm25": bm25,
    "every-signal": every_signal,
} | uva.TASK_2_SYSTEMS

TASK = Task(
    id="touche-2020-task-2",
    title="Web documents for comparative questions (2020)",
    records="pages",
    analysis="porter",
    systems=SYSTEMS,
    is_corpus_given=False,
)
