"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from sicetnon.errors import UsageError
from sicetnon.index.index import Index
from sicetnon.tasks import general, touche_2020_task_1
from sicetnon.tasks.system import System, Task

TASKS = {task.id: task for task in (touche_2020_task_1.TASK,)}


def find_task(identifier: str) -> Task:
    """The task of an id.

    Raises:
        UsageError: There is none.
    """
    if identifier not in TASKS:
        raise UsageError(f"unknown task {identifier!r}; choose one of {', '.join(TASKS)}")
    return TASKS[identifier]


def search_system(name: str, index: Index) -> System:
    """The system of a name for searching any index: a task's where its corpus is of that kind.

    Raises:
        UsageError: There is none of this name for such an index.
    """
    systems = general.SYSTEMS
    for task in TASKS.values():
        if task.records == index.manifest.records:
            systems = dict(task.systems)
            break
    if name not in systems:
        raise UsageError(f"unknown system {name!r}; choose one of {', '.join(systems)}")
    return systems[name](index)
