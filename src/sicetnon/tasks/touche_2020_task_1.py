"""Touché 2020 task 1: arguments from args.me for controversial questions.

Every system reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from sicetnon.arguments.text_quality import housekeeping, shouting
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.features import DEPTH
from sicetnon.ranker.model import LearnedRanker
from sicetnon.ranking.stages import Penalties
from sicetnon.ranking.system import System
from sicetnon.retrieval.feedback import RM3
from sicetnon.retrieval.scoring import Coverage, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DirichletLM
from sicetnon.tasks import general
from sicetnon.tasks.task import Task
from sicetnon.uva import ANALYSIS


def default(index: IndexReader) -> System:
    """Query likelihood that prefers the exact word; titles; penalties for two faults.

    1. Query likelihood with Dirichlet smoothing, µ = 3,000, scores the premise. Other forms of a
       word's stem count a tenth of the word itself.
    2. The share of the question that conclusion and discussion title cover is added.
    3. The best 100 arguments lose points for phrases that run a debate instead of arguing (0.3 for
       one per hundred words), and for shouting (2 for capitals or repetition throughout).

    Parameters were chosen on the odd topics; docs/figures/effectiveness.md says what that is worth.
    """
    premise = FieldScore(DirichletLM(3000), {"premise": 1.0}, other_forms=0.1)
    heading = Coverage(("conclusion", "title"))
    faults = Penalties(index, {housekeeping: 0.3, shouting: 2.0}, depth=100)
    return System(LocalRetriever(index, [premise, heading]), [faults], depth=100)


def answers(index: IndexReader) -> System:
    """The ranking that `search` shows: on topic first, then strong, by learned models.

    The best 100 arguments of the default system are put in the order of the ranker, which reads
    the scores of three models, the similarity of headings, proximity, and the form of the text.
    docs/figures/answers.md says what that is worth.
    """
    found = default(index)
    return System(found.retriever, [*found.stages, LearnedRanker(index)], depth=DEPTH)


def dirichlet(index: IndexReader) -> System:
    """The organisers' baseline: query likelihood with Dirichlet smoothing, µ = 2,000."""
    return System(LocalRetriever(index, [FieldScore(DirichletLM(2000))]))


def bm25(index: IndexReader) -> System:
    """BM25 for long arguments (k1 = 3.2, b = 0.2); the usual parameters favour short ones."""
    return System(LocalRetriever(index, [FieldScore(BM25(3.2, 0.2))]))


def dirichlet_rm3(index: IndexReader) -> System:
    """The organisers' baseline; terms of the first ten arguments expand the query (RM3)."""
    return System(LocalRetriever(index, [FieldScore(DirichletLM(2000))], RM3()))


def hybrid(index: IndexReader) -> System:
    """The default system and embeddings: the sum of scores, with double weight for the first."""
    return general.hybrid(default(index), index)


def uva(index: IndexReader) -> System:
    """UvATask1LTR of CLEF 2020: see `sicetnon.uva.systems`, which takes longer to load."""
    from sicetnon.uva.systems import task_1

    return task_1(index)


TASK = Task(
    id="touche-2020-task-1",
    title="Arguments for controversial questions (2020)",
    records="arguments",
    analysis="forms",
    systems={
        "default": default,
        "answers": answers,
        "dirichlet": dirichlet,
        "bm25": bm25,
        "dph": general.dph,
        "dirichlet-rm3": dirichlet_rm3,
        "dense": general.dense,
        "hybrid": hybrid,
        "uva": uva,
    },
    analyses={"uva": ANALYSIS},
)
