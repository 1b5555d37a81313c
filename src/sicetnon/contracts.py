"""Contracts: the rules of the six task-years for runs, and what every index offers.

The rules are plain data taken from the task pages. `IndexStore` and `OpenIndex` are what a folder
and a cluster have in common: code that takes them does not ask where an index is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from sicetnon.argument_checks import check_text
from sicetnon.errors import UsageError

if TYPE_CHECKING:
    # types alone: a folder and a cluster implement the protocols, and import this file
    import numpy as np
    from numpy.typing import NDArray

    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotations import Annotation, Annotator, Callback
    from sicetnon.index.manifest import Manifest
    from sicetnon.index.segment import Segment
    from sicetnon.index.writing import BuildOptions
    from sicetnon.records import Ranking, Record
    from sicetnon.text.analysis import Analysis

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


class OpenIndex(Protocol):
    """An opened index. Documents are numbered from 0; deleted ones keep their numbers.

    Attributes:
        folder: Its folder or address.
        manifest: Its description.
        fields: Names of the indexed fields.
        analysis: Turns texts into terms.
        segments: Its segments, in the order of their document numbers; none on a cluster.
        size: One more than the highest document number.
        document_count: The number of documents that are not deleted.
        field_totals: Terms of all documents by field, int64, shape (fields,).
        missing: The shards that an answer so far lacked, in words; empty if all are complete.
    """

    folder: Any
    manifest: Manifest
    fields: tuple[str, ...]
    analysis: Analysis
    segments: list[Segment]
    size: int
    document_count: int
    field_totals: NDArray[np.int64]
    missing: str

    def identifiers(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[str]:
        """The ids of documents, by their numbers."""

    def number(self, identifier: str) -> int | None:
        """The number of the document with an id, or None; deleted documents have none."""

    def numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of documents, by their ids, shape as `ids`."""

    def records(self, ids: Sequence[str]) -> list[Record]:
        """The records of documents, by their ids."""

    def records_of(self, ranking: Ranking) -> list[Record]:
        """The records of the documents in a ranking."""

    def records_at(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[Record]:
        """The records of documents, by their numbers."""

    def annotation(self, name: str) -> Annotation | None:
        """The annotation of a name, such as `quality`, or None."""

    def verify(self) -> None:
        """Compare the index with what was written; a BrokenIndexError if it differs."""

    def check_open(self) -> None:
        """Refuse to use a closed index."""

    def check_sizes(self) -> None:
        """Refuse to use files that were cut short since they were opened."""

    def close(self) -> None:
        """Close the index."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class IndexStore(Protocol):
    """An index at its location, whether it is there or not.

    Attributes:
        is_remote: Whether every request takes time and may fail.
    """

    is_remote: bool

    def exists(self) -> bool:
        """Whether there is an index, or something else in its place."""

    def open(self, *, partial: bool = False) -> OpenIndex:
        """Open the index; `partial` allows answers that lack shards of a cluster."""

    def manifest(self) -> Manifest:
        """The description of the index."""

    def build(self, corpus: Corpus, options: BuildOptions) -> None:
        """Build the index, in place of the one that may be there."""

    def add(self, corpus: Corpus, options: BuildOptions, replace: bool = False) -> None:
        """Add documents; `replace` allows ids that the index has already."""

    def delete(self, identifiers: Sequence[str]) -> int:
        """Delete documents by id, and return their number. Unknown ids are ignored."""

    def annotate(self, annotators: Sequence[Annotator], progress: Callback) -> None:
        """Store the numbers of annotators for each document; calls back after every batch."""

    def verify(self) -> str:
        """Compare the index with what was written; returns what it consists of, for people."""

    def facts(self) -> list[tuple[str, str]]:
        """Facts about the size of the index, for people: names and values."""
