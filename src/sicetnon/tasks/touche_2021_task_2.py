"""Touché 2021 task 2: web documents for comparative questions, topics 51 to 100.

The documents are those of 2020, and so are the systems.
"""

from __future__ import annotations

from sicetnon.tasks.task import Task
from sicetnon.tasks.touche_2020_task_2 import SYSTEMS

TASK = Task(
    id="touche-2021-task-2",
    title="Web documents for comparative questions (2021)",
    records="pages",
    analysis="porter",
    systems=SYSTEMS,
    is_corpus_given=False,
)
