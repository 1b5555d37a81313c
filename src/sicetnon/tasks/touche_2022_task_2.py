"""Touché 2022 task 2: passages for comparative questions, with the object that each favours.

Every system reads the topic's title and its two objects (an automatic run). Where a topic gives no
objects, they are parsed from its title.
"""

from __future__ import annotations

from sicetnon.index.index import Index
from sicetnon.ranking.blending import Blend
from sicetnon.ranking.comparing import Comparison, objects_of
from sicetnon.ranking.repeats import RepeatsLast
from sicetnon.ranking.stage import Stage
from sicetnon.ranking.stances import SameStance, Stances
from sicetnon.retrieval.objects import ObjectsRetriever
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DirichletLM
from sicetnon.tasks.system import System, Task

DEPTH = 100


def default(index: Index) -> System:
    """BM25 with weight on both objects; passages that weigh them; repeats last; stance by rules.

    1. BM25 (k1 = 2, b = 0.4) on the title, where the name of each object counts a quarter more.
    2. Scores are brought to 0 … 1. The best 100 gain up to 0.1 for sentences that compare both
       objects, and up to 0.05 for cues of arguing.
    3. Of these, passages that repeat a better one of their page go behind the others.
    4. The stance of every passage is found by rules. It orders nothing.

    Judged passages with their texts are not at hand: docs/passages.md says what this rests on.
    """
    comparison = Comparison(index)
    found = LocalRetriever(index, [FieldScore(BM25(2.0, 0.4))])
    weighed = Blend([(comparison.weighing, 0.1), (comparison.arguing, 0.05)], DEPTH)
    stages: list[Stage] = [weighed, RepeatsLast(index, DEPTH), Stances(comparison)]
    return System(ObjectsRetriever(found, objects_of, 0.25), stages, DEPTH)


def bm25(index: Index) -> System:
    """The organisers' baseline: BM25 (k1 = 1.2, b = 0.75) on the title, `NO` for every stance."""
    return System(LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))]), [SameStance("NO")])


def dirichlet(index: Index) -> System:
    """Query likelihood with Dirichlet smoothing, µ = 1,000, on the title; stance by rules."""
    return System(
        LocalRetriever(index, [FieldScore(DirichletLM(1000))]), [Stances(Comparison(index))]
    )


TASK = Task(
    id="touche-2022-task-2",
    title="Passages for comparative questions, with stances (2022)",
    records="passages",
    analysis="porter-stop",
    systems={"default": default, "bm25": bm25, "dirichlet": dirichlet},
)
