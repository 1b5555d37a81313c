"""A system: a retriever and the stages behind it, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sicetnon.errors import UsageError
from sicetnon.index.index import Index
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
        """A ranking of at most k documents for each topic."""
        rankings = self.retriever.retrieve(topics, max(k, self.depth))
        for stage in self.stages:
            rankings = [stage.apply(ranking.topic, ranking) for ranking in rankings]
        return [ranking.best(k) for ranking in rankings]


@dataclass(frozen=True)
class Task:
    """One of the Touché tasks: what it reads, and the systems that do it.

    Attributes:
        id: As in `touche-2020-task-1`.
        title: What it asks, for people.
        records: The kind of corpus that it reads.
        analysis: The name of the analysis that its index is made with.
        systems: By name, what makes the system for an index. `default` is the best.
    """

    id: str
    title: str
    records: str
    analysis: str
    systems: Mapping[str, Callable[[Index], System]]

    def system(self, name: str, index: Index) -> System:
        """The system of a name.

        Raises:
            UsageError: The task has none of this name.
        """
        if name not in self.systems:
            raise UsageError(
                f"{self.id} has no system {name!r}; choose one of {', '.join(self.systems)}"
            )
        return self.systems[name](index)
