"""Find duplicates and near duplicates, which must not be on both sides of a split."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"\w+")
_LENGTH = 4


def shingles(text: str) -> frozenset[int]:
    """The hashes of all runs of four words of a text; of a shorter text, of its words."""
    words = _WORD.findall(text.lower())
    if len(words) <= _LENGTH:
        return frozenset([hash(tuple(words))])
    return frozenset(map(hash, zip(*(words[start:] for start in range(_LENGTH)), strict=False)))


def near_duplicates(
    texts: Sequence[str], references: Iterable[str], share: float = 0.5
) -> dict[int, float]:
    """The texts that share at least a part of their shingles with one reference.

    Returns:
        The share, of every such text's place.
    """
    holders: dict[int, list[int]] = defaultdict(list)
    for number, reference in enumerate(set(references)):
        for shingle in shingles(reference):
            holders[shingle].append(number)
    known = frozenset(holders)
    places = defaultdict(list)
    for place, text in enumerate(texts):
        places[text].append(place)
    found: dict[int, float] = {}
    for text, same in places.items():
        own = shingles(text)
        shared = own & known
        if len(shared) < share * len(own):
            continue
        hits = Counter(number for shingle in shared for number in holders[shingle])
        most = max(hits.values(), default=0) / len(own)
        if most >= share:
            found |= dict.fromkeys(same, most)
    return found
