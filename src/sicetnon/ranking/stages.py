"""Stages that reorder a ranking by other signals than relevance.

Blending adds measures to scores, penalties take faults from them, repeats of a page go last.
Bounded moves and promotion inside chunks come from the pipeline of UvATask2SVM (University of
Amsterdam, CLEF 2020, section 3.2): a signal other than relevance reorders a ranking, but no
document moves far from its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.argument_checks import check_number
from sicetnon.cancellation import check_cancelled
from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic, said

RankingSignal = Callable[[Topic, Ranking], Sequence[float]]
"""One number per document of a ranking, the higher the better."""


def bounded_order(keys: ArrayLike, bound: int) -> NDArray[np.int64]:
    """The order by descending key in which no item moves more than `bound` places.

    Each place is filled from the items that may stand there: those at most `bound` places after
    it. An item at the last place that it may have goes first; else the one with the greatest key.
    This is earliest deadline first with the key as priority, so a legal order always exists. Of
    equal keys the one that stood first goes first.

    Args:
        keys: One number per item, in the present order. NaN counts as the smallest.
        bound: From 0 (nothing moves). At len(keys) - 1 or more this is the plain stable sort.

    Returns:
        Present places in the new order, shape (n,).
    """
    values = np.asarray(keys, dtype=np.float64).reshape(-1)
    values = np.where(np.isnan(values), -np.inf, values)
    if bound >= len(values) - 1:
        return np.argsort(-values, kind="stable").astype(np.int64)
    waiting: list[int] = []
    order = np.empty(len(values), dtype=np.int64)
    for place in range(len(values)):
        # the items that may stand here, in their old order
        first_new = 0 if place == 0 else place + bound
        waiting.extend(range(first_new, min(place + bound + 1, len(values))))
        overdue = waiting[0] == place - bound
        chosen = 0 if overdue else max(range(len(waiting)), key=lambda at: values[waiting[at]])
        order[place] = waiting.pop(chosen)
    return order


def promoted_order(chosen: Sequence[bool] | Sequence[float], chunk: int) -> NDArray[np.int64]:
    """The order that puts chosen items first inside each chunk; otherwise the order is kept.

    Args:
        chosen: Whether each item is chosen, in the present order.
        chunk: Items per chunk, from 1. At len(chosen) or more this is one stable sort.

    Returns:
        Present places in the new order, shape (n,).
    """
    flags = np.asarray(chosen, dtype=bool).reshape(-1)
    places = np.arange(len(flags))
    return np.lexsort((places, ~flags, places // chunk)).astype(np.int64)


def rescored(ranking: Ranking, scores: NDArray[np.float64]) -> Ranking:
    """The ranking with its best documents, at least one, sorted by new scores; the others below."""
    order = np.argsort(-scores, kind="stable")
    rest = np.arange(len(scores), len(ranking))
    below = scores.min() - np.arange(1, len(rest) + 1)
    return ranking.taken(np.concatenate((order, rest)), np.concatenate((scores[order], below)))


class _Reordering(ABC):
    """Base of both stages: orders the best documents by a signal, and leaves scores in place."""

    def __init__(self, measure: RankingSignal, depth: int | None):
        if depth is not None:
            check_number(depth, "depth", 0)
        self._measure, self._depth = measure, depth

    @abstractmethod
    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        """Present places in the new order, shape (n,)."""

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking."""
        top = ranking if self._depth is None else ranking.best(self._depth)
        rest = np.arange(len(top), len(ranking), dtype=np.int64)
        order = self._order(self._measure(topic, top))
        return ranking.taken(np.concatenate((order, rest)), ranking.scores)


class BoundedMoves(_Reordering):
    """A stage: sorts by a measure, but moves no document more than some places.

    Scores stay in place: the first score goes to the document that is now first.

    Args:
        measure: One number per document, the higher the better; NaN where nothing is known.
        bound: The most places that a document may move, up or down; no bound when left out.
        depth: Number of the best documents that take part; all when left out.
    """

    def __init__(self, measure: RankingSignal, bound: int | None = 10, depth: int | None = None):
        if bound is not None:
            check_number(bound, "bound", 0)
        super().__init__(measure, depth)
        self._bound = bound

    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        return bounded_order(values, len(values) if self._bound is None else self._bound)


class Promotion(_Reordering):
    """A stage: puts chosen documents first inside each chunk of the ranking.

    The order among the chosen and among the others is kept, and scores stay in place.

    Args:
        measure: 1 or True for each chosen document, else 0 or False.
        chunk: Documents per chunk.
        depth: Number of the best documents that take part; all when left out.
    """

    def __init__(self, measure: RankingSignal, chunk: int = 10, depth: int | None = None):
        check_number(chunk, "chunk", 1)
        super().__init__(measure, depth)
        self._chunk = chunk

    def _order(self, values: Sequence[float]) -> NDArray[np.int64]:
        return promoted_order(values, self._chunk)


class Blend:
    """A stage: adds weighted measures to the scores of the best documents, and sorts them again.

    The scores are scaled to 0 … 1 first, so that weights mean the same for every retriever. The
    other documents keep their places after the best.

    Args:
        measures: Measures from 0 to 1, each with its weight.
        depth: Number of the best documents that are measured.
    """

    def __init__(self, measures: Sequence[tuple[RankingSignal, float]], depth: int = 100):
        self._measures, self._depth = tuple(measures), depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking. Scores are the sums; those of the others continue below."""
        top = ranking.best(self._depth)
        if not len(top):
            return ranking
        sums = _scaled(top.scores)
        for measure, weight in self._measures:
            sums = sums + weight * np.asarray(measure(topic, top))
        return rescored(ranking, sums)


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores from 0 to 1; all 1 where they are equal."""
    spread = scores.max() - scores.min()
    if not spread > 0:
        return np.ones(len(scores))
    return (scores - scores.min()) / spread  # type: ignore[no-any-return]


class Penalties:
    """A stage: subtracts weighted faults of their texts from the scores of the best documents.

    Args:
        index: The documents.
        faults: Measures of a text, each with its weight in units of the score.
        depth: Number of the best documents that are measured; others may rise past them.
    """

    def __init__(
        self, index: IndexReader, faults: Mapping[Callable[[str], float], float], depth: int = 100
    ):
        self._index, self._faults, self._depth = index, dict(faults), depth

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking; documents with equal scores keep their order."""
        top = ranking.ids[: self._depth]
        scores = ranking.scores.copy()
        texts = [said(record) for record in self._index.records(top)]
        for fault, cost in self._faults.items():
            scores[: len(top)] -= cost * np.array([fault(text) for text in texts])
        order = np.argsort(-scores, kind="stable")
        return ranking.taken(order, scores[order])


_SHINGLE = 3
# between the id of the page and the number of the passage
_SEPARATOR = "___"
Shingles: TypeAlias = frozenset[tuple[str, ...]]


class RepeatsLast:
    """A stage: moves passages that repeat a better passage of their page after the best.

    Two passages repeat each other where they share most of the shorter one's shingles (sequences of
    three words). Otherwise the order is kept, and no passage is dropped.

    Args:
        index: The passages.
        depth: Number of the best passages that are compared.
        share: The share of the shorter passage's shingles from which it is a repeat.
    """

    def __init__(self, index: IndexReader, depth: int = 100, share: float = 0.8):
        self._index, self._depth, self._share = index, depth, share

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The ranking with repeats after the best; scores stay in place."""
        count = min(self._depth, len(ranking))
        pages = [_page_of(identifier) for identifier in ranking.ids[:count]]
        with_others = [place for place in range(count) if pages.count(pages[place]) > 1]
        records = self._index.records([ranking.ids[place] for place in with_others])
        seen: dict[str, list[Shingles]] = defaultdict(list)
        later = []
        for place, record in zip(with_others, records, strict=True):
            parts = shingles(record.default_text())
            if any(shared(parts, other) >= self._share for other in seen[pages[place]]):
                later.append(place)
            seen[pages[place]].append(parts)
        if not later:
            return ranking
        first = [place for place in range(count) if place not in later]
        places = np.array([*first, *later, *range(count, len(ranking))], dtype=np.int64)
        return ranking.taken(places, ranking.scores)


def _page_of(name: str) -> str:
    return name.rpartition(_SEPARATOR)[0] or name


def shingles(text: str) -> Shingles:
    """The sequences of three words of a text; of a shorter one, all of its words."""
    check_cancelled()
    words = text.lower().split()
    length = min(_SHINGLE, len(words))
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def shared(one: Shingles, other: Shingles) -> float:
    """The share of the smaller set that both have; 0 where one is empty."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
