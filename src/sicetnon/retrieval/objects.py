"""Retrieval for comparative questions: more weight on the names of the objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.searcher import LocalRetriever


class ObjectsRetriever:
    """A retriever that searches for a topic's title, with more weight on its two objects.

    Args:
        retriever: Searches the index.
        objects: Gives the names of a topic's two objects, or None.
        weight: The additional weight of each object. The terms of its name share it equally, so
            that a long name counts no more than a short one.
    """

    def __init__(
        self,
        retriever: LocalRetriever,
        objects: Callable[[Topic], tuple[str, str] | None],
        weight: float = 1.0,
    ):
        self._retriever, self._objects, self._weight = retriever, objects, weight

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic."""
        return [self._retriever.retrieve_weighted(topic, self.query(topic), k) for topic in topics]

    def query(self, topic: Topic) -> dict[str, float]:
        """The weighted terms of a topic."""
        query = self._retriever.terms(topic.title)
        for name in self._objects(topic) or ():
            terms = self._retriever.terms(name)
            for term in terms:
                query[term] = query.get(term, 0.0) + self._weight / len(terms)
        return query
