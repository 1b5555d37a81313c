"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.system import System
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
from sicetnon.tasks.task import Task
from sicetnon.text.analysis import DEFAULT_ANALYSIS

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


def task_of(records: str) -> Task[Any] | None:
    """The task whose documents are of a kind; None for documents that belong to no task."""
    # people are shown whole arguments, also where a task asks for pairs of their sentences
    wanted = "arguments" if records == "processed" else records
    return next((task for task in TASKS.values() if task.records == wanted), None)


def analysis_for(records: str) -> str:
    """The name of the analysis that suits a kind of documents."""
    task = next((task for task in TASKS.values() if task.records == records), None)
    return DEFAULT_ANALYSIS if task is None else task.analysis


def search_system(name: str, index: IndexReader, stance: str | None = None) -> System:
    """The system of a name for any index: of the task of its documents, or a general one.

    `dense` and `hybrid` search any index whose documents have embeddings.

    Args:
        name: The system's name.
        index: The index to search.
        stance: What finds the object that a passage favours; the system's own when left out.

    Raises:
        MissingExtraError: The stance classifier is not installed.
        UsageError: There is no such system, or no such stance classifier, for this index.
    """
    kind = index.manifest.records
    task = task_of(kind)
    systems: Mapping[str, Callable[[Any], System]] = task.systems if task else general.SYSTEMS
    if stance is not None and not (task and task.stances):
        raise UsageError(f"{kind} have no stance towards two objects; leave --stance out")
    source = index if task is None or task.is_corpus_given else from_index(index)
    if name in systems:
        if task is None:
            return replace(systems[name](index), name=name)
        return replace(task.system(name, source, task.stance(stance)), name=name)
    if name == "dense":
        return replace(general.dense(index), name=name)
    if name == "hybrid":
        return replace(general.hybrid(systems["default"](source), index), name=name)
    known = list(dict.fromkeys((*systems, "dense", "hybrid")))
    raise UsageError(f"unknown system {name!r}; choose one of {', '.join(known)}")
