"""Repeats: passages with nearly the words of a better one from the same page."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np

from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic

_SHINGLE = 3
_Shingles: TypeAlias = frozenset[tuple[str, ...]]


class RepeatsLast:
    """A stage: moves passages that repeat a better passage of their page behind the best.

    Two passages repeat each other where they share most of the shorter one's shingles (sequences of
    three words). Otherwise the order is kept, and no passage is dropped.

    Args:
        index: The passages.
        depth: Number of the best passages that are compared.
        share: The share of the shorter passage's shingles from which it is a repeat.
        separator: The text between the page's id and the passage's number in an id.
    """

    def __init__(
        self, index: IndexReader, depth: int = 100, share: float = 0.8, separator: str = "___"
    ):
        self._index, self._depth, self._share = index, depth, share
        self._separator = separator

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The ranking with repeats behind the best; scores stay in place."""
        count = min(self._depth, len(ranking))
        pages = [self._page(identifier) for identifier in ranking.ids[:count]]
        shared = [place for place in range(count) if pages.count(pages[place]) > 1]
        records = self._index.records([ranking.ids[place] for place in shared])
        seen: dict[str, list[_Shingles]] = defaultdict(list)
        later = []
        for place, record in zip(shared, records, strict=True):
            shingles = _shingles(record.default_text())
            if any(self._repeats(shingles, other) for other in seen[pages[place]]):
                later.append(place)
            seen[pages[place]].append(shingles)
        if not later:
            return ranking
        first = [place for place in range(count) if place not in later]
        places = np.array([*first, *later, *range(count, len(ranking))], dtype=np.int64)
        return ranking.taken(places, ranking.scores)

    def _page(self, name: str) -> str:
        return name.rpartition(self._separator)[0] or name

    def _repeats(self, shingles: _Shingles, other: _Shingles) -> bool:
        least = min(len(shingles), len(other))
        return bool(least) and len(shingles & other) >= self._share * least


def _shingles(text: str) -> _Shingles:
    words = text.lower().split()
    length = min(_SHINGLE, len(words))
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))
