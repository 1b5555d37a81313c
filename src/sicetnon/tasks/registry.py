"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
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


def search_system(name: str, index: IndexReader, stance: str | None = None) -> System:
    """The system of a name for searching any index: a task's where its corpus is of that kind.

    Args:
        name: Its name.
        index: What is searched.
        stance: Who says which of two objects a passage favours; the system's own way when left
            out.

    Raises:
        MissingExtraError: What says the stance is not installed.
        UsageError: There is none of this name for such an index, or no stance.
    """
    # people are shown whole arguments, also where a task asks for pairs of their sentences
    records = "arguments" if index.manifest.records == "processed" else index.manifest.records
    task = next((task for task in TASKS.values() if task.records == records), None)
    systems: Mapping[str, Callable[[Any], System]] = task.systems if task else general.SYSTEMS
    if name not in systems:
        raise UsageError(f"unknown system {name!r}; choose one of {', '.join(systems)}")
    if stance is not None and not (task and task.stances):
        kind = index.manifest.records
        raise UsageError(f"{kind} have no stance towards two objects; leave --stance out")
    if task is None:
        return systems[name](index)
    source = index if task.is_corpus_given else from_index(index)
    return task.system(name, source, task.stance(stance))
