"""Touché 2022 task 1: pairs of sentences from args.me for controversial questions.

Every system reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from collections.abc import Callable

from sicetnon.arguments.side.classifier import Side
from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import CandidateReader
from sicetnon.pairs.pairing import LearnedSides, RuleSides, SentencePairs, ready_side
from sicetnon.ranking.system import System
from sicetnon.tasks import touche_2020_task_1
from sicetnon.tasks.task import Task

DEPTH = 100


def default(index: IndexReader) -> System:
    """Strong, coherent pairs of sentences on one side, from the best arguments.

    1. The default system of 2020 task 1 finds the best 100 arguments.
    2. The six best sentences of each that argue and can be read alone are chosen; near duplicates
       are folded.
    3. Each is paired with the others of its argument, and the 80 best of all with each other where
       they take the same side. Pairs that contradict themselves are refused.
    4. The score of a pair adds the coverage of the question, the strength of both sentences, their
       coherence, and how well they sum up their arguments.
    5. Each use of a sentence or an argument by a better pair lowers the score.
    6. `sicetnon.Side` judges the sides of the arguments in the run, and a pair has the side of its
       arguments. With `--stance rules`, it is the side of the premise towards its conclusion, times
       that of the conclusion towards the topic by rules. Stances do not change the order.

    See docs/figures/pairs.md.
    """
    arguments = touche_2020_task_1.default(index)
    pairs = SentencePairs(CandidateReader(index), depth=DEPTH)
    stages = [*arguments.stages, pairs]
    return System(arguments.retriever, stages, DEPTH, LearnedSides(index, Side()))


def by_rules(_index: IndexReader) -> RuleSides:
    """The sides that the pairs have by rules."""
    return RuleSides()


def by_model() -> Callable[[IndexReader], LearnedSides]:
    """Sides by the model of `sicetnon annotate side`."""
    side = ready_side()
    return lambda index: LearnedSides(index, side)


TASK = Task(
    id="touche-2022-task-1",
    title="Pairs of sentences for controversial questions (2022)",
    records="processed",
    analysis="forms",
    systems={"default": default},
    stances={"rules": lambda: by_rules, "learned": by_model},
)
