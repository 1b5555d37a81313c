"""A task: the documents that it searches, and the systems that solve it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sicetnon.errors import UsageError
from sicetnon.ranking.system import Labelling, System

Source = TypeVar("Source")
"""An index or a source of web pages, in which a system finds documents."""


@dataclass(frozen=True)
class Task(Generic[Source]):
    """One of the Touché tasks.

    Attributes:
        id: As in `touche-2020-task-1`.
        title: A few words for people.
        records: The kind of documents.
        analysis: The name of the analysis for its index.
        systems: A function for each system that makes it for a source. `default` is the best.
        analyses: The analysis of a system that needs another one, by the name of the system.
        is_corpus_given: Whether the documents are in the input directory. Otherwise they come from
            a source of web pages.
        stances: For a task that asks which of two objects a result favours: a function for each
            stance classifier that makes it for a source. It takes the place of a system's own.
        requirements: A function for each stance classifier that needs an extra; it raises
            `MissingExtraError` where the extra is not installed.
    """

    id: str
    title: str
    records: str
    analysis: str
    systems: Mapping[str, Callable[[Source], System]]
    analyses: Mapping[str, str] = field(default_factory=dict)
    is_corpus_given: bool = True
    stances: Mapping[str, Callable[[Source], Labelling]] = field(default_factory=dict)
    requirements: Mapping[str, Callable[[], object]] = field(default_factory=dict)

    def check(self, system: str, stance: str | None = None) -> None:
        """Check that a system and a stance classifier can be made, before any work is done.

        Args:
            system: The name of a system.
            stance: The name of a stance classifier; None for the system's own.

        Raises:
            MissingExtraError: The stance classifier needs an extra that is not installed.
            UsageError: The task has no system or no stance classifier of this name.
        """
        self._check_name("system", system, self.systems)
        if stance is None:
            return
        if not self.stances:
            raise UsageError(
                f"{self.id} asks for no stance towards two objects; choose no stance classifier"
            )
        self._check_name("stance", stance, self.stances)
        if stance in self.requirements:
            self.requirements[stance]()

    def system(self, name: str, source: Source, stance: str | None = None) -> System:
        """A system by its name.

        Args:
            name: The name of the system.
            source: Where it finds documents.
            stance: The name of a stance classifier; the system's own when left out.

        Raises:
            MissingExtraError: The stance classifier needs an extra that is not installed.
            UsageError: The task has no system or no stance classifier of this name.
        """
        self.check(name, stance)
        system = replace(self.systems[name](source), name=name)
        return system if stance is None else replace(system, labelling=self.stances[stance](source))

    def analysis_for(self, system: str) -> str:
        """The name of the analysis for a system's index."""
        return self.analyses.get(system, self.analysis)

    def _check_name(self, what: str, name: str, names: Iterable[str]) -> None:
        if name not in names:
            raise UsageError(f"{self.id} has no {what} {name!r}; choose one of {', '.join(names)}")
