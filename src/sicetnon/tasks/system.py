"""A system: a retriever and the stages behind it, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sicetnon.errors import UsageError
from sicetnon.ranking.stage import Labelling, Stage
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.searcher import Retriever

Labelled = Callable[[int, int], None]


@dataclass(frozen=True)
class System:
    """Finds documents for topics, then applies each stage to what was found.

    Attributes:
        retriever: What finds documents.
        stages: What reorders them.
        depth: How many documents the stages must see, however few are wanted in the end.
        labelling: What labels the results that are handed out, and reads no others.
    """

    retriever: Retriever
    stages: Sequence[Stage] = ()
    depth: int = 0
    labelling: Labelling | None = None

    def rank(
        self, topics: Sequence[Topic], k: int, labelled: Labelled = lambda _, __: None
    ) -> list[Ranking]:
        """A ranking of at most k results for each topic.

        Args:
            topics: The topics.
            k: Results wanted of each.
            labelled: Called with how many results have their labels, and of how many.
        """
        rankings = self.retriever.retrieve(topics, max(k, self.depth))
        for stage in self.stages:
            rankings = [stage.apply(ranking.topic, ranking) for ranking in rankings]
        rankings = [ranking.best(k) for ranking in rankings]
        if self.labelling is None:
            return rankings
        total = sum(map(len, rankings))
        found: list[Ranking] = []
        for ranking in rankings:
            found.append(self.labelling.apply(ranking.topic, ranking))
            labelled(sum(map(len, found)), total)
        return found


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
        stances: For a task that asks which of two objects a result favours: by name, who says so
            instead of what a system has for it. Each is called once, before anything else is
            done, so that what it lacks is known early; it gives what makes the stage for an index.
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
        """Who says stances, ready to; None where the system's own way is kept.

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
            stance: Who says stances, as `stance` gives it; the system's own way when left out.

        Raises:
            UsageError: The task has none of this name.
        """
        self.check_system(name)
        system = self.systems[name](source)
        return system if stance is None else replace(system, labelling=stance(source))

    def analysis_for(self, system: str) -> str:
        """The name of the analysis that a system's index is made with."""
        return self.analyses.get(system, self.analysis)
