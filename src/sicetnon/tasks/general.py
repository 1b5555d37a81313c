"""Systems for documents that belong to no task, and those that search any index.

They are a task of their own, so that documents of any kind are searched in one way.
"""

from __future__ import annotations

from sicetnon.index.reader import IndexReader
from sicetnon.ranking.system import System
from sicetnon.retrieval.feedback import RM3
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, DirichletLM
from sicetnon.tasks.task import Task
from sicetnon.text.analysis import DEFAULT_ANALYSIS


def bm25(index: IndexReader) -> System:
    """BM25 as in Lucene, k1 = 0.9 and b = 0.4 (Anserini's defaults for web passages)."""
    return System(LocalRetriever(index, [FieldScore(BM25(0.9, 0.4))]))


def dirichlet(index: IndexReader) -> System:
    """Query likelihood, µ = 1,000."""
    return System(LocalRetriever(index, [FieldScore(DirichletLM(1000))]))


def dph(index: IndexReader) -> System:
    """DPH (no parameters)."""
    return System(LocalRetriever(index, [FieldScore(DPH())]))


def bm25_rm3(index: IndexReader) -> System:
    """BM25 with feedback from the first ten documents."""
    return System(LocalRetriever(index, [FieldScore(BM25(0.9, 0.4))], RM3()))


def dense(index: IndexReader) -> System:
    """Cosine of the question's embedding with that of each document.

    Embeddings are stored with the index: `sicetnon index annotate`.
    """
    # most searches need none of these
    from sicetnon.arguments.models.index_annotators import EMBEDDING, annotators
    from sicetnon.retrieval.dense import Dense, required_annotation

    required_annotation(index, EMBEDDING)
    return System(Dense(index, *annotators([EMBEDDING])))


def hybrid(lexical: System, index: IndexReader) -> System:
    """A lexical system and embeddings: the sum of their scores, with double weight for the first.

    Each gives its best 1,000 documents, with scores in standard deviations above its last. With
    the original all-MiniLM-L6-v2 this is neither better nor worse than the default on the odd
    topics of 2020 task 1 (see benchmarks/effectiveness/stored.py).
    """
    from sicetnon.ranking.fusion import Fusion, Joint

    fusion = Fusion("sum", "z-score", weights=(2, 1))
    return System(Joint([lexical, dense(index)], fusion))


TASK = Task(
    id="an index of other documents",
    title="Documents of no task",
    records="entries",
    analysis=DEFAULT_ANALYSIS,
    systems={
        "default": bm25,
        "bm25": bm25,
        "dirichlet": dirichlet,
        "dph": dph,
        "bm25-rm3": bm25_rm3,
    },
)
