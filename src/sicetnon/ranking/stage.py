"""The second of the two verbs: a stage turns a ranking into another."""

from __future__ import annotations

from typing import Protocol

from sicetnon.records import Ranking, Topic


class Stage(Protocol):
    """Anything that reorders, shortens or labels a ranking."""

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The new ranking for the topic."""


class Labelling(Stage, Protocol):
    """A stage that labels results and leaves all else as it is."""

    @property
    def method(self) -> str:
        """How the labels are found, in a few words."""
