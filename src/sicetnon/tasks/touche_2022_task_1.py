"""Touché 2022 task 1: pairs of sentences from args.me for controversial questions.

Every system reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import CandidateReader
from sicetnon.pairs.pairing import SentencePairs
from sicetnon.pairs.sides import LearnedSides, RuleSides
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

    The side of a pair is that of the premise towards its conclusion, times that of the conclusion
    towards the topic, which rules find; `--stance learned` judges it by `sicetnon.Side`. See
    docs/figures/pairs.md.
    """
    arguments = touche_2020_task_1.default(index)
    pairs = SentencePairs(CandidateReader(index), depth=DEPTH)
    return System(arguments.retriever, [*arguments.stages, pairs], DEPTH)


TASK = Task(
    id="touche-2022-task-1",
    title="Pairs of sentences for controversial questions (2022)",
    records="processed",
    analysis="forms",
    systems={"default": default},
    stances={"rules": lambda: RuleSides, "learned": lambda: LearnedSides},
)
