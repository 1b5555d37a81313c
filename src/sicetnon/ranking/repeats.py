"""Repeats: passages with nearly the words of a better one from the same page."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np

from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic
from sicetnon.stopping import check_wanted

_SHINGLE = 3
# between the id of the page and the number of the passage
_SEPARATOR = "___"
Shingles: TypeAlias = frozenset[tuple[str, ...]]


class RepeatsLast:
    """A stage: moves passages that repeat a better passage of their page behind the best.

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
        """The ranking with repeats behind the best; scores stay in place."""
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
    check_wanted()
    words = text.lower().split()
    length = min(_SHINGLE, len(words))
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def shared(one: Shingles, other: Shingles) -> float:
    """The share of the smaller set that both have; 0 where one is empty."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
