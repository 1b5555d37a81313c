"""Dense retrieval: documents by what they mean, whatever their words.

Question and documents are vectors of one model; documents have theirs from the index. All are
compared, so nothing is missed: on some hundred thousand documents that takes tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.index.annotations import Annotation, Annotator
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic


class Dense:
    """Ranks the documents of an index by the cosine of their stored embedding with the question's.

    Of documents with equal scores the one that was indexed first stands first. A question's
    scores do not depend on the questions beside it.

    Args:
        index: An opened index whose documents have embeddings.
        annotator: Embeds questions, by the model that embedded the documents.

    Raises:
        UsageError: The index has no embeddings, or has them from another model.
    """

    def __init__(self, index: IndexReader, annotator: Annotator):
        self._embedding = stored(index, annotator.name)
        if self._embedding.model != annotator.model:
            raise UsageError(
                f"{index.folder}: the {annotator.name} of its documents is by "
                f"{self._embedding.model}, that of questions would be by {annotator.model}; "
                f"{_how(index, annotator.name)}"
            )
        self._index, self._annotator = index, annotator

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic's title, scores from -1 to 1."""
        if not topics:
            return []
        questions = self._annotator.numbers([topic.title for topic in topics])
        lengths = np.linalg.norm(questions, axis=1, keepdims=True)
        questions /= np.where(lengths > 0, lengths, 1)
        found = [_Best(k) for _ in topics]
        # matrix by vector, not by matrix: the latter rounds by how many questions there are
        for first, block in self._embedding.blocks():
            alive = self._alive(first, len(block))
            for question, best in zip(questions, found, strict=True):
                best.offer(first, block @ question, alive)
        return [
            Ranking(
                topic,
                tuple(self._index.identifiers(best.numbers)),
                best.scores.astype(np.float64),
            )
            for topic, best in zip(topics, found, strict=True)
        ]

    def _alive(self, first: int, count: int) -> NDArray[np.bool_] | None:
        """Which documents of a block are not deleted; None where all are there."""
        for segment in self._index.segments:
            if segment.base <= first < segment.base + len(segment):
                if segment.live is None:
                    return None
                begin = first - segment.base
                alive: NDArray[np.bool_] = segment.live[begin : begin + count] != 0
                return alive
        raise IndexError(f"document {first} of {self._index.size}")


@dataclass
class _Best:
    """The k best documents so far, best first, those of equal scores by number.

    Attributes:
        k: How many are wanted.
        numbers: Document numbers, int64.
        scores: Their scores, float32.
    """

    k: int
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    scores: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    def offer(
        self, first: int, scores: NDArray[np.float32], alive: NDArray[np.bool_] | None
    ) -> None:
        """Take what is better from the scores of documents behind all that were offered before."""
        is_full = len(self.scores) >= self.k
        # an equal one behind comes too late
        wanted = scores > self.scores[-1] if is_full and self.k else np.ones(len(scores), bool)
        if alive is not None:
            wanted &= alive
        places = np.flatnonzero(wanted)
        if not len(places):
            return
        numbers = np.concatenate((self.numbers, places + first))
        joined = np.concatenate((self.scores, scores[places]))
        order = np.lexsort((numbers, -joined))[: self.k]
        self.numbers, self.scores = numbers[order], joined[order]


def stored(index: IndexReader, name: str) -> Annotation:
    """An annotation of an index that there has to be.

    Raises:
        UsageError: There is none.
    """
    annotation = index.annotation(name)
    if annotation is None:
        raise UsageError(f"{index.folder}: its documents have no {name}; {_how(index, name)}")
    return annotation


def _how(index: IndexReader, name: str) -> str:
    return f"give them one with: sicetnon index annotate {index.folder} --with {name}"
