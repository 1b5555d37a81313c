"""Snippets: the part of a text that has most to do with a question, its words marked."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from sicetnon.cancellation import check_cancelled
from sicetnon.text.unicode import IGNORED, MARK, characters_of

_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+")


class Piece(NamedTuple):
    """A piece of a text, and whether it is marked."""

    text: str
    is_marked: bool


@dataclass(frozen=True)
class Snippet:
    """Part of a text.

    Attributes:
        text: The part, white space folded, with `…` where text was left out.
        marks: The places of the question's words in it, as (start, end).
    """

    text: str
    marks: tuple[tuple[int, int], ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The marked parts and those between them."""
        ends = [0, *(end for mark in self.marks for end in mark), len(self.text)]
        parts = [self.text[start:end] for start, end in pairwise(ends)]
        return tuple(Piece(part, position % 2 == 1) for position, part in enumerate(parts) if part)


@functools.cache
def _word() -> re.Pattern[str]:
    """A word: marks, soft hyphens and joiners belong to it, as for the tokeniser."""
    letter = rf"[\w{characters_of(IGNORED, MARK)}]"
    return re.compile(rf"{letter}+(?:['’＇]{letter}+)*")


def words_of(text: str) -> list[str]:
    """The words of a text, each as often as it occurs."""
    return _word().findall(text)


def snippet(
    text: str, wanted: Collection[str], terms_of: Callable[[str], Collection[str]], length: int
) -> Snippet:
    """The run of sentences, of about `length` characters, that holds most of the wanted terms.

    Args:
        text: The whole text.
        wanted: The terms of the question.
        terms_of: The terms of a word.
        length: Characters of the text at most; the ellipses come on top.
    """
    check_cancelled()
    folded = " ".join(text.split())
    known: dict[str, bool] = {}

    def is_wanted(word: str) -> bool:
        if word not in known:
            check_cancelled()
            known[word] = not set(terms_of(word)).isdisjoint(wanted)
        return known[word]

    hits = [m.span() for m in _word().finditer(folded) if is_wanted(m.group())]
    start, end = _window(folded, hits, length)
    part = folded[start:end]
    before, after = "…\u00a0" if start else "", "\u00a0…" if end < len(folded) else ""
    shift = len(before) - start
    marks = tuple((b + shift, e + shift) for b, e in hits if start <= b and e <= end)
    return Snippet(before + part.strip() + after, marks)


def _window(text: str, hits: list[tuple[int, int]], length: int) -> tuple[int, int]:
    """The best window: most different words of the question, then most of them, then first."""
    if len(text) <= length:
        return 0, len(text)
    starts = [0, *(match.end() for match in _BREAK.finditer(text))]
    best = max(starts, key=lambda start: (_worth(text, hits, start, start + length), -start))
    end = best + length
    if end >= len(text):
        return best, len(text)
    space = text.rfind(" ", best, end + 1)
    return best, space if space > best else end


def _worth(text: str, hits: list[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    # only the hits of the window are looked at: a long text has thousands of both
    first = bisect.bisect_left(hits, (start, start))
    last = bisect.bisect_right(hits, end, key=itemgetter(1))
    inside = [text[b:e].lower() for b, e in hits[first:last]]
    return len(set(inside)), len(inside)
