"""Touché 2022 task 1: pairs of sentences from args.me for controversial questions.

Every system reads the topic's title alone (an automatic run).
"""

from __future__ import annotations

from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import CandidateReader
from sicetnon.pairs.pairing import SentencePairs
from sicetnon.ranking.system import System
from sicetnon.tasks import touche_2020_task_1
from sicetnon.tasks.task import Task

DEPTH = 100


def default(index: IndexReader) -> System:
    """Strong, coherent pairs of sentences on one side, from the best arguments.

    1. The best 100 arguments are found as in 2020 task 1.
    2. Sentences that argue and can be read alone stand for their argument, the six best of each;
       near duplicates are folded.
    3. Each is paired with the others of its argument, and the 80 best of all with one another
       where they take the same side. No pair contradicts itself.
    4. A pair is worth what both sentences cover of the question, how strong they are, how well
       they hold together, and how much of their arguments they sum up.
    5. A sentence or argument that was used by better pairs makes a pair pay for it.

    The side of a pair is the premise's towards its conclusion, times the conclusion's towards the
    topic by rules. See docs/figures/pairs.md.
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
)
