"""Touché 2022 task 2: passages for comparative questions, with the object that each favours.

Every system reads the topic's title and its two objects (an automatic run). Where a topic gives no
objects, they are parsed from its title.
"""

from __future__ import annotations

from collections.abc import Callable

from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.ranking.stages import Blend, RepeatsLast
from sicetnon.ranking.stances import LearnedStances, NoStances, RuleStances, comparison_model
from sicetnon.ranking.system import Stage, System
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever, ObjectsRetriever
from sicetnon.retrieval.weighting import BM25, DirichletLM
from sicetnon.tasks.task import Task

DEPTH = 100


def default(index: IndexReader) -> System:
    """BM25 with weight on both objects; passages that compare them; repeats last; stances.

    1. BM25 (k1 = 2, b = 0.4) searches the title. Each object's name adds a quarter to the weight.
    2. Scores are scaled to 0 … 1. Each of the best 100 gains up to 0.1 for sentences that compare
       both objects, and up to 0.05 for cues of arguing.
    3. Among these, passages that repeat a better one of their page go after the others.
    4. Rules, or the model if it is named, label the stance of every passage. Stances do not change
       the order.

    There are no texts of judged passages: see docs/figures/passages.md for the evidence.
    """
    evidence = ComparativeEvidence(index)
    words = LocalRetriever(index, [FieldScore(BM25(2.0, 0.4))])
    retriever = ObjectsRetriever(words, objects_of, 0.25)
    comparing = Blend([(evidence.weighing, 0.1), (evidence.arguing, 0.05)], DEPTH)
    stages: list[Stage] = [comparing, RepeatsLast(index, DEPTH)]
    return System(retriever, stages, DEPTH, RuleStances(evidence))


def bm25(index: IndexReader) -> System:
    """The organisers' baseline: BM25 (k1 = 1.2, b = 0.75) on the title. Stances are `NO`."""
    words = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75))])
    return System(words, labelling=NoStances())


def dirichlet(index: IndexReader) -> System:
    """Query likelihood with Dirichlet smoothing, µ = 1,000, on the title; stances by rules."""
    words = LocalRetriever(index, [FieldScore(DirichletLM(1000))])
    return System(words, labelling=by_rules(index))


def by_rules(index: IndexReader) -> RuleStances:
    """Stances by the rules of `sicetnon.arguments.comparative.comparer`."""
    return RuleStances(ComparativeEvidence(index))


def by_model() -> Callable[[IndexReader], LearnedStances]:
    """Stances by the model of `sicetnon annotate comparison`."""
    model = comparison_model()
    return lambda index: LearnedStances(index, model)


TASK = Task(
    id="touche-2022-task-2",
    title="Passages for comparative questions, with stances (2022)",
    records="passages",
    analysis="porter-stop",
    systems={"default": default, "bm25": bm25, "dirichlet": dirichlet},
    stances={"rules": lambda: by_rules, "learned": by_model},
)
