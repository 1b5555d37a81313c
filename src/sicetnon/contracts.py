"""The rules of the six task-years for runs, as plain data taken from the task pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sicetnon.errors import UsageError
from sicetnon.values import check_text

Unit = Literal["argument", "pair", "document", "passage"]
Dimension = Literal["relevance", "quality", "coherence", "stance"]


@dataclass(frozen=True)
class Contract:
    """The rules of a task for runs.

    Attributes:
        task: The id of the task-year.
        title: Its name for people.
        unit: The kind of id in a line of the run. A pair is two sentence ids joined by a comma.
        second_columns: The words allowed in the second column.
        topics: The numbers of the official topics, in their order.
        minimum: The fewest results a topic must have; 0 where nothing is asked.
        maximum: The most results that a topic may have.
    """

    task: str
    title: str
    unit: Unit
    second_columns: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    topics: tuple[str, ...]
    minimum: int = 0
    maximum: int = 1000


def _numbers(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(map(str, numbers))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The topics file of 2020 task 1 leaves topic 25 out; 2022 task 1 was run and judged with it.
_TOPICS_2020_TASK_1 = _numbers(number for number in range(1, 51) if number != 25)
_TOPICS_2022_TASK_2 = _words("""
    2 3 8 9 12 14 17 18 19 22 23 25 26 27 28 30 33 34 36 37 42 43 48 51 53 54 55 56 58 59 60 61
    62 67 68 69 70 72 74 76 77 78 84 86 88 91 92 93 95 100
""")

CONTRACTS: dict[str, Contract] = {
    contract.task: contract
    for contract in (
        Contract(
            "touche-2020-task-1",
            "Touché 2020, task 1: arguments on controversial questions",
            "argument",
            ("Q0",),
            ("relevance",),
            _TOPICS_2020_TASK_1,
        ),
        Contract(
            "touche-2021-task-1",
            "Touché 2021, task 1: arguments on controversial questions",
            "argument",
            ("Q0",),
            ("relevance", "quality"),
            _numbers(range(51, 101)),
        ),
        Contract(
            "touche-2022-task-1",
            "Touché 2022, task 1: pairs of sentences on controversial questions",
            "pair",
            ("PRO", "CON", "Q0"),
            ("relevance", "quality", "coherence"),
            _numbers(range(1, 51)),
            minimum=100,
        ),
        Contract(
            "touche-2020-task-2",
            "Touché 2020, task 2: web documents for comparative questions",
            "document",
            ("Q0",),
            ("relevance",),
            _numbers(range(1, 51)),
        ),
        Contract(
            "touche-2021-task-2",
            "Touché 2021, task 2: web documents for comparative questions",
            "document",
            ("Q0",),
            ("relevance", "quality"),
            _numbers(range(51, 101)),
        ),
        Contract(
            "touche-2022-task-2",
            "Touché 2022, task 2: passages for comparative questions, with their stance",
            "passage",
            ("FIRST", "SECOND", "NEUTRAL", "NO", "Q0"),
            ("relevance", "quality", "stance"),
            _TOPICS_2022_TASK_2,
        ),
    )
}


def has_pairs(task: str | None) -> bool | None:
    """Whether the results of a task are pairs; None if no task is named.

    Raises:
        UsageError: There is no task of that id.
    """
    return contract_of(task).unit == "pair" if task else None


def contract_of(task: str) -> Contract:
    """The contract of a task-year.

    Raises:
        UsageError: There is no task of that id.
    """
    check_text(task, "the task")
    try:
        return CONTRACTS[task]
    except KeyError:
        raise UsageError(
            f"found the task {task!r}; expected one of {', '.join(CONTRACTS)}"
        ) from None
