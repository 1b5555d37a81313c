"""Touché 2021 task 1: arguments from args.me for controversial questions, topics 51 to 100.

The corpus is that of 2020, and so are the systems; their parameters were chosen on topics of 2020.
"""

from __future__ import annotations

from sicetnon.tasks.task import Task
from sicetnon.tasks.touche_2020_task_1 import TASK as TASK_2020

TASK = Task(
    id="touche-2021-task-1",
    title="Arguments for controversial questions (2021)",
    records=TASK_2020.records,
    analysis=TASK_2020.analysis,
    systems=TASK_2020.systems,
    analyses=TASK_2020.analyses,
)
