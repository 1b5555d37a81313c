"""Searching documents that belong to no task: plain models over all fields."""

from __future__ import annotations

from collections.abc import Callable

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.feedback import RM3
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, DirichletLM
from sicetnon.tasks.system import System


def bm25(index: IndexReader) -> System:
    """BM25 as Lucene has it, k1 = 0.9 and b = 0.4 (Anserini's defaults for web passages)."""
    return System(LocalRetriever(index, [FieldScore(BM25(0.9, 0.4))]))


def dirichlet(index: IndexReader) -> System:
    """Query likelihood, µ = 1,000."""
    return System(LocalRetriever(index, [FieldScore(DirichletLM(1000))]))


def dph(index: IndexReader) -> System:
    """DPH, which has no parameter."""
    return System(LocalRetriever(index, [FieldScore(DPH())]))


def bm25_rm3(index: IndexReader) -> System:
    """BM25 with feedback from the first ten documents."""
    return System(LocalRetriever(index, [FieldScore(BM25(0.9, 0.4))], RM3()))


SYSTEMS: dict[str, Callable[[IndexReader], System]] = {
    "default": bm25,
    "bm25": bm25,
    "dirichlet": dirichlet,
    "dph": dph,
    "bm25-rm3": bm25_rm3,
}
