"""Touché 2022 task 2: passages for comparative questions, with the object that each favours.

Every system reads the topic's title and its two objects (an automatic run). Where a topic gives no
objects, they are parsed from its title.
"""

from __future__ import annotations

from collections.abc import Callable

from sicetnon.arguments.comparative.questions import objects_of
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.blending import Blend
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.ranking.repeats import RepeatsLast
from sicetnon.ranking.stances import LearnedStances, SameStance, Stances, comparing_model
from sicetnon.ranking.system import Labelling, Stage, System
from sicetnon.retrieval.objects import ObjectsRetriever
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DirichletLM
from sicetnon.tasks.task import Task

DEPTH = 100


def default(index: IndexReader) -> System:
    """BM25 with weight on both objects; passages that weigh them; repeats last; stances.

    1. BM25 (k1 = 2, b = 0.4) on the title, where the name of each object counts a quarter more.
    2. Scores are brought to 0 … 1. The best 100 gain up to 0.1 for sentences that compare both
       objects, and up to 0.05 for cues of arguing.
    3. Of these, passages that repeat a better one of their page go behind the others.
    4. The stance of every passage is found by rules, unless the model is asked for. It orders
       nothing.

    Judged passages with their texts are not at hand: docs/figures/passages.md gives the evidence.
    """
    comparison = ComparativeEvidence(index)
    found = LocalRetriever(index, [FieldScore(BM25(2.0, 0.4))])
    weighed = Blend([(comparison.weighing, 0.1), (comparison.arguing, 0.05)], DEPTH)
    stages: list[Stage] = [weighed, RepeatsLast(index, DEPTH)]
    retriever = ObjectsRetriever(found, objects_of, 0.25)
    return System(retriever, stages, DEPTH, Stances(comparison))


def bm25(index: IndexReader) -> System:
    """The organisers' baseline: BM25 (k1 = 1.2, b = 0.75) on the title. Stances are `NO`."""
    found = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))])
    return System(found, labelling=SameStance("NO"))


def dirichlet(index: IndexReader) -> System:
    """Query likelihood with Dirichlet smoothing, µ = 1,000, on the title; stances."""
    found = LocalRetriever(index, [FieldScore(DirichletLM(1000))])
    return System(found, labelling=by_rules()(index))


def by_rules() -> Callable[[IndexReader], Labelling]:
    """Stances by the rules of `sicetnon.arguments.comparative.comparer`."""
    return lambda index: Stances(ComparativeEvidence(index))


def by_model() -> Callable[[IndexReader], Labelling]:
    """Stances by the model that `sicetnon annotate comparison` asks."""
    model = comparing_model()
    return lambda index: LearnedStances(index, model)


TASK = Task(
    id="touche-2022-task-2",
    title="Passages for comparative questions, with stances (2022)",
    records="passages",
    analysis="porter-stop",
    systems={"default": default, "bm25": bm25, "dirichlet": dirichlet},
    stances={"rules": by_rules, "learned": by_model},
)
