"""A system: a retriever and the stages behind it, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sicetnon.errors import UsageError
from sicetnon.ranking.stage import Stage
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.searcher import Retriever


@dataclass(frozen=True)
class System:
    """Finds documents for topics, then applies each stage to what was found.

    Attributes:
        retriever: What finds documents.
        stages: What reorders them.
        depth: How many documents the stages must see, however few are wanted in the end.
    """

    retriever: Retriever
    stages: Sequence[Stage] = ()
    depth: int = 0

    def rank(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """A ranking of at most k results for each topic."""
        rankings = self.retriever.retrieve(topics, max(k, self.depth))
        for stage in self.stages:
            rankings = [stage.apply(ranking.topic, ranking) for ranking in rankings]
        return [ranking.best(k) for ranking in rankings]


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
    """

    id: str
    title: str
    records: str
    analysis: str
    systems: Mapping[str, Callable[[Source], System]]
    analyses: Mapping[str, str] = field(default_factory=dict)
    is_corpus_given: bool = True

    def check_system(self, name: str) -> None:
        """Refuse a name that no system has.

        Raises:
            UsageError: The task has none of this name.
        """
        if name not in self.systems:
            raise UsageError(
                f"{self.id} has no system {name!r}; choose one of {', '.join(self.systems)}"
            )

    def system(self, name: str, source: Source) -> System:
        """The system of a name.

        Raises:
            UsageError: The task has none of this name.
        """
        self.check_system(name)
        return self.systems[name](source)

    def analysis_for(self, system: str) -> str:
        """The name of the analysis that a system's index is made with."""
        return self.analyses.get(system, self.analysis)
