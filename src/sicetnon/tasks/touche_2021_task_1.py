"""Touché 2021 task 1: arguments from args.me for controversial questions, topics 51 to 100.

The corpus is that of 2020, and so are the systems; their parameters were chosen on topics of 2020.
"""

from __future__ import annotations

from dataclasses import replace

from sicetnon.tasks import touche_2020_task_1

TASK = replace(
    touche_2020_task_1.TASK,
    id="touche-2021-task-1",
    title="Arguments for controversial questions (2021)",
)
