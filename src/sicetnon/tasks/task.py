"""A task: the documents that it searches, and the systems that solve it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from sicetnon.errors import UsageError
from sicetnon.ranking.system import Labelling, System

ANSWERS = "answers"
"""The name of the system that ranks by the ranker."""
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
            stance classifier. It loads what the classifier needs, and gives the function that
            makes the classifier for a source, in place of a system's own.
    """

    id: str
    title: str
    records: str
    analysis: str
    systems: Mapping[str, Callable[[Source], System]]
    analyses: Mapping[str, str] = field(default_factory=dict)
    is_corpus_given: bool = True
    stances: Mapping[str, Callable[[], Callable[[Source], Labelling]]] = field(default_factory=dict)

    def prepared(
        self, name: str, stance: str | None = None, ranker: Path | str | None = None
    ) -> Callable[[Source], System]:
        """The function that makes a system for a source; its models are loaded before other work.

        A stance classifier takes the place of the system's own, and so does the ranker of a folder
        in the system `answers`.
        """
        self._check_name("system", name, self.systems)
        if ranker is not None:
            return self._ranked(name, stance, ranker)
        if stance is None:
            return lambda source: replace(self.systems[name](source), name=name)
        if not self.stances:
            raise UsageError(
                f"{self.id} asks for no stance towards two objects; choose no stance classifier"
            )
        self._check_name("stance", stance, self.stances)
        labelling = self.stances[stance]()
        return lambda source: replace(
            self.systems[name](source), name=name, labelling=labelling(source)
        )

    def _ranked(
        self, name: str, stance: str | None, ranker: Path | str
    ) -> Callable[[Source], System]:
        # most systems rank by no ranker
        from sicetnon.ranker.model import read_model, with_ranker

        if name != ANSWERS:
            raise UsageError(f"the system {name} has no ranker; --ranker goes with {ANSWERS}")
        prepared, model = self.prepared(name, stance), read_model(ranker)
        return lambda source: with_ranker(prepared(source), model)

    def system(
        self,
        name: str,
        source: Source,
        stance: str | None = None,
        ranker: Path | str | None = None,
    ) -> System:
        """A system by its name; errors as in `prepared`."""
        return self.prepared(name, stance, ranker)(source)

    def analysis_for(self, system: str) -> str:
        """The name of the analysis for a system's index."""
        return self.analyses.get(system, self.analysis)

    def _check_name(self, what: str, name: str, names: Iterable[str]) -> None:
        if name not in names:
            raise UsageError(f"{self.id} has no {what} {name!r}; choose one of {', '.join(names)}")
