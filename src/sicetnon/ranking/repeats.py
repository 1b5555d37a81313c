"""Repeats: passages that say nearly what a better one of the same page has said."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sicetnon.index.reader import IndexReader
from sicetnon.records import Ranking, Topic

_SHINGLE = 3


class RepeatsLast:
    """A stage: moves passages behind the best ones that repeat a better passage of their page.

    Two passages repeat each other where they share enough of their runs of three words, measured
    on the shorter one. The order is kept otherwise, and no passage is lost.

    Args:
        index: Where the texts are.
        depth: How many of the best passages are looked at.
        share: The part of the shorter passage's runs from which it is a repeat.
        separator: What separates the page's id from the passage's number.
    """

    def __init__(
        self, index: IndexReader, depth: int = 100, share: float = 0.8, separator: str = "___"
    ):
        self._index, self._depth, self._share = index, depth, share
        self._separator = separator

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The ranking with repeats behind the best; scores go on falling."""
        count = min(self._depth, len(ranking))
        pages = [self._page(identifier) for identifier in ranking.ids[:count]]
        shared = [place for place in range(count) if pages.count(pages[place]) > 1]
        records = self._index.records([ranking.ids[place] for place in shared])
        seen: dict[str, list[frozenset[tuple[str, ...]]]] = defaultdict(list)
        later = []
        for place, record in zip(shared, records, strict=True):
            runs = _runs(record.default_text())
            if any(self._repeats(runs, other) for other in seen[pages[place]]):
                later.append(place)
            seen[pages[place]].append(runs)
        if not later:
            return ranking
        first = [place for place in range(count) if place not in later]
        places = np.array([*first, *later, *range(count, len(ranking))], dtype=np.int64)
        # the scores stay with the places, so that they fall as before
        return ranking.taken(places, ranking.scores)

    def _page(self, name: str) -> str:
        return name.rpartition(self._separator)[0] or name

    def _repeats(self, runs: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
        least = min(len(runs), len(other))
        return bool(least) and len(runs & other) >= self._share * least


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    length = min(_SHINGLE, len(words))
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))
