"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.index.index import Index
from sicetnon.tasks import (
    general,
    touche_2020_task_1,
    touche_2020_task_2,
    touche_2021_task_1,
    touche_2021_task_2,
    touche_2022_task_1,
    touche_2022_task_2,
)
from sicetnon.tasks.sources import from_index
from sicetnon.tasks.system import System, Task

TASKS: dict[str, Task[Any]] = {
    task.id: task
    for task in (
        touche_2020_task_1.TASK,
        touche_2020_task_2.TASK,
        touche_2021_task_1.TASK,
        touche_2021_task_2.TASK,
        touche_2022_task_1.TASK,
        touche_2022_task_2.TASK,
    )
}


def find_task(identifier: str) -> Task[Any]:
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
    systems: Mapping[str, Callable[[Any], System]] = general.SYSTEMS
    source: Any = index
    # people are shown whole arguments, also where a task asks for pairs of their sentences
    records = "arguments" if index.manifest.records == "processed" else index.manifest.records
    for task in TASKS.values():
        if task.records == records:
            systems = task.systems
            source = index if task.is_corpus_given else from_index(index)
            break
    if name not in systems:
        raise UsageError(f"unknown system {name!r}; choose one of {', '.join(systems)}")
    return systems[name](source)
