"""Comparing: how far passages weigh the two objects of a question against each other."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from sicetnon.arguments.argumentativeness import argumentativeness
from sicetnon.arguments.comparative.comparer import Comparer, Evidence, KeyedSentence, sentences_of
from sicetnon.arguments.comparative.questions import objects_of
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic

_MOST_KEPT = 20_000
_MOST_FOUND = 200_000
_NOTHING = Evidence(0.0, 0.0, (0, 0), 0)
# the keys of all words of a passage, and its sentences
_Text = tuple[frozenset[str], tuple[KeyedSentence, ...]]
_ENOUGH_SENTENCES = 2.0


class ComparativeEvidence:
    """Reads passages of an index for the objects of topics, each passage once.

    Its measures are for `blending.Blend`: one number a result from 0 to 1, and 0 throughout for a
    topic without two objects.
    """

    def __init__(self, index: IndexReader):
        self._index = index
        self._read: dict[str, _Text] = {}
        self._found: dict[tuple[str, str], dict[str, Evidence]] = {}
        self._lock = threading.Lock()

    def comparer(self, topic: Topic) -> Comparer | None:
        """What compares the objects of a topic; None where it has no two."""
        objects = objects_of(topic)
        return None if objects is None else Comparer(*objects)

    def evidence(self, topic: Topic, ranking: Ranking) -> list[Evidence]:
        """What each passage says of the objects; nothing where the topic has none."""
        comparer = self.comparer(topic)
        if comparer is None:
            return [_NOTHING] * len(ranking)
        with self._lock:
            known = self._found.setdefault((comparer.first, comparer.second), {})
            missing = [identifier for identifier in ranking.ids if identifier not in known]
            for identifier, (keys, sentences) in zip(missing, self._texts(missing), strict=True):
                unnamed = comparer.starts.isdisjoint(keys)
                known[identifier] = _NOTHING if unnamed else comparer.evidence(sentences)
            found = [known[identifier] for identifier in ranking.ids]
            if sum(map(len, self._found.values())) > _MOST_FOUND:
                self._found.clear()
        return found

    def weighing(self, topic: Topic, ranking: Ranking) -> list[float]:
        """How far sentences name both and compare: 1 from two such sentences on."""
        found = self.evidence(topic, ranking)
        return [min(1.0, evidence.weighs / _ENOUGH_SENTENCES) for evidence in found]

    def arguing(self, topic: Topic, ranking: Ranking) -> list[float]:
        """How argumentative each passage is that names an object; 0 for the others."""
        found = self.evidence(topic, ranking)
        naming = [place for place, evidence in enumerate(found) if any(evidence.mentions)]
        values = [0.0] * len(ranking)
        records = self._index.records([ranking.ids[place] for place in naming])
        for place, record in zip(naming, records, strict=True):
            values[place] = argumentativeness(record.default_text())
        return values

    def _texts(self, ids: Sequence[str]) -> list[_Text]:
        missing = [identifier for identifier in ids if identifier not in self._read]
        if len(self._read) + len(missing) > _MOST_KEPT:
            self._read.clear()
            missing = list(ids)
        for identifier, record in zip(missing, self._index.records(missing), strict=True):
            sentences = sentences_of(record.default_text())
            keys = frozenset(key for sentence in sentences for key in sentence.keys)
            self._read[identifier] = keys, sentences
        return [self._read[identifier] for identifier in ids]
