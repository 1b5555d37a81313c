"""Dense retrieval: documents by the similarity of their embedding to the question's.

One model embeds questions and documents; the index stores the embeddings of the documents. All of
them are compared, which takes tens of milliseconds on some hundred thousand documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.annotations import Annotation, Annotator
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic


@runtime_checkable
class ComparesItself(Protocol):
    """Vectors that the index compares itself (cluster)."""

    def nearest(
        self, question: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers and scores of the k nearest documents, best first, equal ones by number."""


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
        self._embedding = required_annotation(index, annotator.name)
        if self._embedding.model != annotator.model:
            raise UsageError(
                f"{index.folder}: the {annotator.name} of its documents is by "
                f"{self._embedding.model}, that of questions would be by {annotator.model}; "
                f"{_how(index, annotator.name)}"
            )
        self._index, self._annotator = index, annotator

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is what it was made of; the index by its place."""
        return type(self), (self._index, self._annotator)

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic's title, scores from -1 to 1."""
        if not topics:
            return []
        questions = self._annotator.numbers([topic.title for topic in topics])
        lengths = np.linalg.norm(questions, axis=1, keepdims=True)
        questions /= np.where(lengths > 0, lengths, 1)
        if self._embedding.shape[1:] != questions.shape[1:]:
            raise BrokenIndexError(
                f"{self._index.folder}: found embeddings of shape {self._embedding.shape}, "
                f"expected {questions.shape[1]} numbers for each document; "
                f"{_how(self._index, self._embedding.name)}"
            )
        nearest = self._nearest(questions.astype(np.float64), k)
        return [
            Ranking(topic, tuple(self._index.identifiers(numbers)), scores.astype(np.float64))
            for topic, (numbers, scores) in zip(topics, nearest, strict=True)
        ]

    def _nearest(
        self, questions: NDArray[np.float64], k: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """The numbers and scores of the k best documents for each question."""
        embedding = self._embedding
        if isinstance(embedding, ComparesItself):
            return [embedding.nearest(question, k) for question in questions]
        found = [_Best(k) for _ in questions]
        is_live = np.ones(self._index.size, dtype=bool)
        for segment in self._index.segments:
            if segment.live is not None:
                is_live[segment.base : segment.base + len(segment)] = segment.live
        # Matrix by vector, not by matrix: the latter rounds by how many questions there are. A
        # product in single precision rounds by the size of the block: equal texts would differ.
        for first, block in embedding.blocks():
            exact = block.astype(np.float64)
            for question, best in zip(questions, found, strict=True):
                scores = (exact @ question).astype(np.float32)
                best.offer(first, scores, is_live[first : first + len(block)])
        return [(best.numbers, best.scores) for best in found]


@dataclass
class _Best:
    """The k best documents so far, best first, those of equal scores by number.

    Attributes:
        k: Number of documents to keep.
        numbers: Document numbers, int64.
        scores: Their scores, float32.
    """

    k: int
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    scores: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    def offer(self, first: int, scores: NDArray[np.float32], is_live: NDArray[np.bool_]) -> None:
        """Keep the best of these documents and those before.

        Args:
            first: The number of the first document; all that were offered before are below it.
            scores: Shape (documents,).
            is_live: False for deleted documents, shape (documents,).
        """
        is_full = 0 < self.k <= len(self.scores)
        # ties with the last one come after it
        is_better = scores > (self.scores[-1] if is_full else -np.inf)
        places = np.flatnonzero(is_better & is_live)
        if not len(places):
            return
        numbers = np.concatenate((self.numbers, places + first))
        joined = np.concatenate((self.scores, scores[places]))
        order = np.lexsort((numbers, -joined))[: self.k]
        self.numbers, self.scores = numbers[order], joined[order]


def required_annotation(index: IndexReader, name: str) -> Annotation:
    """The annotation of a name.

    Raises:
        UsageError: The index has none of this name.
    """
    annotation = index.annotation(name)
    if annotation is None:
        raise UsageError(f"{index.folder}: its documents have no {name}; {_how(index, name)}")
    return annotation


def _how(index: IndexReader, name: str) -> str:
    return f"give them one with: sicetnon index annotate {index.folder} --with {name}"
