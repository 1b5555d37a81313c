"""A task: what it reads, and the systems that do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sicetnon.errors import UsageError
from sicetnon.ranking.system import Labelling, System

# what systems are made for: an index, or a source of web pages
Source = TypeVar("Source")


@dataclass(frozen=True)
class Task(Generic[Source]):
    """One of the Touché tasks: what it reads, and the systems that do it.

    Attributes:
        id: As in `touche-2020-task-1`.
        title: What it asks, for people.
        records: The kind of corpus that it reads.
        analysis: The name of the analysis that its index is made with.
        systems: By name, what makes the system for an index. `default` is the best.
        analyses: By the name of a system, the analysis that it wants instead.
        is_corpus_given: Whether the documents are in the input directory. Where they are not,
            they come from a source of web pages.
        stances: For a task that asks which of two objects a result favours: stance classifiers by
            name, in place of a system's own. Each is called once, before anything else is done,
            so that a missing extra is known early; it gives a function that makes the stage.
    """

    id: str
    title: str
    records: str
    analysis: str
    systems: Mapping[str, Callable[[Source], System]]
    analyses: Mapping[str, str] = field(default_factory=dict)
    is_corpus_given: bool = True
    stances: Mapping[str, Callable[[], Callable[[Source], Labelling]]] = field(default_factory=dict)

    def check_system(self, name: str) -> None:
        """Refuse a name that no system has.

        Raises:
            UsageError: The task has none of this name.
        """
        if name not in self.systems:
            raise UsageError(
                f"{self.id} has no system {name!r}; choose one of {', '.join(self.systems)}"
            )

    def stance(self, name: str | None) -> Callable[[Source], Labelling] | None:
        """The stance classifier of a name, or None for the system's own.

        Raises:
            MissingExtraError: What it needs is not installed.
            UsageError: The task has none of this name, or asks for no such stances.
        """
        if name is None:
            return None
        if not self.stances:
            raise UsageError(
                f"{self.id} asks for no stance towards two objects; leave --stance out"
            )
        if name not in self.stances:
            raise UsageError(
                f"{self.id} has no stance {name!r}; choose one of {', '.join(self.stances)}"
            )
        return self.stances[name]()

    def system(
        self, name: str, source: Source, stance: Callable[[Source], Labelling] | None = None
    ) -> System:
        """The system of a name.

        Args:
            name: Its name.
            source: What it searches.
            stance: A stance classifier, as `stance` gives it; the system's own when left out.

        Raises:
            UsageError: The task has none of this name.
        """
        self.check_system(name)
        system = self.systems[name](source)
        return system if stance is None else replace(system, labelling=stance(source))

    def analysis_for(self, system: str) -> str:
        """The name of the analysis that a system's index is made with."""
        return self.analyses.get(system, self.analysis)
