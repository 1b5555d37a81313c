"""Evidence: what passages say about the two objects of a comparative question."""

from __future__ import annotations

import functools
import threading
from typing import Any

from sicetnon.arguments.argumentativeness import argumentativeness
from sicetnon.arguments.comparative.comparer import (
    Comparer,
    ObjectEvidence,
    Statement,
    read_statements,
)
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic

_NO_EVIDENCE = ObjectEvidence(0.0, 0.0, (0, 0), 0)
_ENOUGH_SENTENCES = 2.0


class ComparativeEvidence:
    """Reads passages of an index for their evidence on the objects of topics, and remembers it.

    The measures `weighing` and `arguing` are for `blending.Blend`: one number per result, from 0
    to 1, and 0 throughout for a topic without two objects.

    Args:
        index: The passages.
        capacity: Number of passages and topics whose evidence is remembered.
        passages: Number of passages whose statements are remembered, for other topics.
    """

    def __init__(self, index: IndexReader, capacity: int = 200_000, passages: int = 20_000):
        self._index, self._capacity = index, capacity
        self._known: dict[tuple[str, str], dict[str, ObjectEvidence]] = {}
        self._lock = threading.Lock()
        self._read = functools.lru_cache(passages)(self._statements)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is what it was made of, not what it remembers."""
        passages = self._read.cache_parameters()["maxsize"]
        return type(self), (self._index, self._capacity, passages)

    def comparer(self, topic: Topic) -> Comparer | None:
        """The comparer for the objects of a topic, or None if it has fewer than two."""
        objects = objects_of(topic)
        return None if objects is None else Comparer(*objects)

    def evidence(self, topic: Topic, ranking: Ranking) -> list[ObjectEvidence]:
        """The evidence of each passage; none for a topic without two objects."""
        comparer = self.comparer(topic)
        if comparer is None:
            return [_NO_EVIDENCE] * len(ranking)
        with self._lock:
            known = self._known.setdefault((comparer.first, comparer.second), {})
            missing = [identifier for identifier in ranking.ids if identifier not in known]
            for identifier in missing:
                keys, statements = self._read(identifier)
                unnamed = comparer.names_none(keys)
                known[identifier] = _NO_EVIDENCE if unnamed else comparer.evidence_of(statements)
            found = [known[identifier] for identifier in ranking.ids]
            if sum(map(len, self._known.values())) > self._capacity:
                self._known.clear()
        return found

    def weighing(self, topic: Topic, ranking: Ranking) -> list[float]:
        """The share of sentences that name both objects and compare them; two and more are 1."""
        found = self.evidence(topic, ranking)
        return [min(1.0, evidence.weighs / _ENOUGH_SENTENCES) for evidence in found]

    def arguing(self, topic: Topic, ranking: Ranking) -> list[float]:
        """The argumentativeness of each passage that names an object; 0 for the others."""
        found = self.evidence(topic, ranking)
        naming = [place for place, evidence in enumerate(found) if any(evidence.mentions)]
        values = [0.0] * len(ranking)
        records = self._index.records([ranking.ids[place] for place in naming])
        for place, record in zip(naming, records, strict=True):
            values[place] = argumentativeness(record.default_text())
        return values

    def _statements(self, identifier: str) -> tuple[frozenset[str], tuple[Statement, ...]]:
        """The keys of all words of a passage, and its statements."""
        (record,) = self._index.records([identifier])
        statements = read_statements(record.default_text())
        return frozenset(key for statement in statements for key in statement.keys), statements
