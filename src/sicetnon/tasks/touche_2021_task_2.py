"""Touché 2021 task 2: web documents for comparative questions, topics 51 to 100.

The documents are those of 2020, and so are the systems.
"""

from __future__ import annotations

from dataclasses import replace

from sicetnon.tasks import touche_2020_task_2

TASK = replace(
    touche_2020_task_2.TASK,
    id="touche-2021-task-2",
    title="Web documents for comparative questions (2021)",
)
