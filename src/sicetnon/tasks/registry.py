"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.system import System
from sicetnon.services.page_sources import from_index
from sicetnon.tasks import (
    general,
    touche_2020_task_1,
    touche_2020_task_2,
    touche_2021_task_1,
    touche_2021_task_2,
    touche_2022_task_1,
    touche_2022_task_2,
)
from sicetnon.tasks.task import Task

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


def task_of(records: str) -> Task[Any]:
    """The task whose documents are of a kind; `general.TASK` where there is none."""
    # people are shown whole arguments, also where a task asks for pairs of their sentences
    wanted = "arguments" if records == "processed" else records
    return next((task for task in TASKS.values() if task.records == wanted), general.TASK)


def analysis_for(records: str) -> str:
    """The name of the analysis that suits a kind of documents."""
    tasks = (task for task in TASKS.values() if task.records == records)
    return next(tasks, general.TASK).analysis


def shown_system(index: IndexReader) -> str:
    """The name of the system whose results a person is shown, unless another one is asked for."""
    return "answers" if "answers" in task_of(index.manifest.records).systems else "default"


def search_system(name: str, index: IndexReader, stance: str | None = None) -> System:
    """A system for any index: of the task that its documents belong to, or a general one.

    `dense` and `hybrid` search any index whose documents have embeddings.

    Args:
        name: The name of the system.
        index: The index to search.
        stance: The name of a stance classifier; the system's own when left out.

    Raises:
        UsageError: This index has no such system or no such stance classifier.
    """
    kind = index.manifest.records
    task = task_of(kind)
    if stance is not None and not task.stances:
        raise UsageError(f"{kind} have no stance towards two objects; choose no stance classifier")
    source = index if task.is_corpus_given else from_index(index)
    with_embeddings: dict[str, Callable[[Any], System]] = {
        "dense": lambda _: general.dense(index),
        "hybrid": lambda source: general.hybrid(task.systems["default"](source), index),
    }
    systems = dict(task.systems) | with_embeddings
    return replace(task, systems=systems).system(name, source, stance)
