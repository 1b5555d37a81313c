"""The tasks by id, and the systems that can search an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.system import System
from sicetnon.tasks import general
from sicetnon.tasks.task import ANSWERS, Task

TASKS = (
    "touche-2020-task-1",
    "touche-2020-task-2",
    "touche-2021-task-1",
    "touche-2021-task-2",
    "touche-2022-task-1",
    "touche-2022-task-2",
)
"""The ids of the tasks. The module of the same name has the task; it is loaded when asked for."""

# the first task with documents of a kind: its systems search an index of them
_TASK_OF = {
    "arguments": "touche-2020-task-1",
    "pages": "touche-2020-task-2",
    "processed": "touche-2022-task-1",
    "passages": "touche-2022-task-2",
}


def find_task(identifier: str) -> Task[Any]:
    """The task of an id.

    Raises:
        UsageError: There is none.
    """
    if identifier not in TASKS:
        raise UsageError(f"unknown task {identifier!r}; choose one of {', '.join(TASKS)}")
    task: Task[Any] = import_module(f"sicetnon.tasks.{identifier.replace('-', '_')}").TASK
    return task


def task_of(records: str) -> Task[Any]:
    """The task whose documents are of a kind; `general.TASK` where there is none."""
    # people are shown whole arguments, also where a task asks for pairs of their sentences
    wanted = "arguments" if records == "processed" else records
    return find_task(_TASK_OF[wanted]) if wanted in _TASK_OF else general.TASK


def analysis_for(records: str) -> str:
    """The name of the analysis that suits a kind of documents."""
    return (find_task(_TASK_OF[records]) if records in _TASK_OF else general.TASK).analysis


def shown_system(index: IndexReader) -> str:
    """The name of the system whose results a person is shown, unless another one is asked for."""
    return ANSWERS if ANSWERS in task_of(index.manifest.records).systems else "default"


def search_system(
    name: str, index: IndexReader, stance: str | None = None, ranker: Path | str | None = None
) -> System:
    """A system for any index: of the task that its documents belong to, or a general one.

    `dense` and `hybrid` search any index whose documents have embeddings.

    Raises:
        DataError: The folder `ranker` holds none.
        UsageError: This index has no such system or no such stance classifier.
    """
    kind = index.manifest.records
    task = task_of(kind)
    if stance is not None and not task.stances:
        raise UsageError(f"{kind} have no stance towards two objects; choose no stance classifier")
    source: Any = index
    if not task.is_corpus_given:
        # it loads the clients of services
        from sicetnon.services.page_sources import from_index

        source = from_index(index)
    with_embeddings: dict[str, Callable[[Any], System]] = {
        "dense": lambda _: general.dense(index),
        "hybrid": lambda source: general.hybrid(task.systems["default"](source), index),
    }
    systems = dict(task.systems) | with_embeddings
    return replace(task, systems=systems).system(name, source, stance, ranker)
