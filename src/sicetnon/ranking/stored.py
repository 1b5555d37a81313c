"""Measures that were stored with the index, so that using them costs a look-up."""

from __future__ import annotations

from collections.abc import Sequence

from sicetnon.index.reader import IndexReader
from sicetnon.ranking.blending import Blend
from sicetnon.ranking.moves import Measure
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.dense import stored


def stored_measure(index: IndexReader, name: str) -> Measure:
    """A measure of documents that the index has by name, such as `quality`.

    Args:
        index: An opened index.
        name: Of an annotation with one number a document.

    Raises:
        UsageError: The documents have none.
    """
    annotation = stored(index, name)

    def measure(topic: Topic, ranking: Ranking) -> Sequence[float]:
        found: Sequence[float] = annotation[index.numbers(ranking.ids)].tolist()
        return found

    return measure


def blend_stored(index: IndexReader, name: str, weight: float, depth: int = 100) -> Blend:
    """A stage: adds a stored measure to how well the best documents fit the question.

    Args:
        index: An opened index.
        name: Of an annotation with one number a document.
        weight: What 1 of it is worth, where the spread of the scores is 1.
        depth: How many of the best documents are looked at.

    Raises:
        UsageError: The documents have none.
    """
    return Blend([(stored_measure(index, name), weight)], depth)
