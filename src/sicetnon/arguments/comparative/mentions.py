"""Mentions of two objects in a text, also by shorter names of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sicetnon.text.analysis import stemmer

FIRST, SECOND = "A", "B"
"""The marks that replace the two objects in a text."""

_WORD = re.compile(r"[^\W_]+(?:[+#]+(?!\w)|['’][^\W_]+)?|[^\w\s]", re.UNICODE)
_SMALL = frozenset(
    "a an the of in on at for to and or with by from my your our their its is be".split()  # noqa: SIM905
)
# words that name no object on their own
_EMPTY = frozenset(
    "food thing things stuff system systems type types kind one code way method guy people person"  # noqa: SIM905
    " degree camera car search style version".split()
)
_NEGATIONS = frozenset(["no", "not", "never", "without"])
_MARK = re.compile(r"[^\W\d_]", re.UNICODE)

_stem = stemmer("porter2")
_stems: dict[str, str] = {}
_MOST_STEMS = 100_000


def words_of(text: str) -> list[str]:
    """The words and marks of a text, in order."""
    return _WORD.findall(text)


def key_of(word: str) -> str:
    """The key by which words are compared: the stem without possessive and plural endings."""
    known = _stems.get(word)
    if known is None:
        if len(_stems) >= _MOST_STEMS:
            _stems.clear()
        lower = word.lower().replace("’", "'").removesuffix("'s").removesuffix("'")
        # abbreviations have plurals that the stemmer leaves
        is_plural = word[:2].isupper() and len(lower) in (3, 4) and word[: len(lower)].endswith("s")
        known = _stems[word] = _stem([lower[:-1] if is_plural else lower])[0]
    return known


def words_of_name(name: str) -> list[str]:
    """The content words of an object's name; all words if it has only function words."""
    words = [word for word in words_of(name) if _MARK.search(word) or word.isdigit()]
    return [word for word in words if word.lower() not in _SMALL] or words


class Mentions:
    """Marks two objects in texts. With the objects swapped, the marks are swapped.

    Attributes:
        starts: The first keys of all mentions.
    """

    def __init__(self, first: str, second: str):
        names = self._names(first, second), self._names(second, first)
        # a name that both objects have is no mention of either
        own = [set(names[0]) - set(names[1]), set(names[1]) - set(names[0])]
        pairs = [(name, mark) for name, mark in zip(own, (FIRST, SECOND), strict=True)]
        self._marks = {name: mark for each, mark in pairs for name in each}
        self._longest = max(map(len, self._marks), default=0)
        self.starts = {name[0] for name in self._marks}
        self._exact = {
            key_of(word): word
            for word in [*first.split(), *second.split()]
            if len(word) <= 2 and word[:1].isupper()
        }

    def marked(self, words: Sequence[str], keys: Sequence[str] = ()) -> list[str]:
        """The words in lower case, with each mention of an object as one word: `A` or `B`.

        Args:
            words: As `words_of` gives them.
            keys: Their keys, if they are known.
        """
        keys = keys or [key_of(word) for word in words]
        found: list[str] = []
        place = 0
        while place < len(words):
            length, mark = self._at(words, keys, place)
            found.append(mark or words[place].lower())
            place += length
        return found

    def _at(self, words: Sequence[str], keys: Sequence[str], place: int) -> tuple[int, str | None]:
        if keys[place] in self.starts:
            for length in range(min(self._longest, len(keys) - place), 0, -1):
                mark = self._marks.get(tuple(keys[place : place + length]))
                if mark and self._is_exact(words[place], keys[place]):
                    return length, mark
        return 1, None

    def _is_exact(self, word: str, key: str) -> bool:
        """Names of one or two letters are case-sensitive ("R" is not "r")."""
        wanted = self._exact.get(key)
        return wanted is None or word.rstrip("s") == wanted.rstrip("s")

    @staticmethod
    def _names(name: str, other: str) -> list[tuple[str, ...]]:
        """The names of an object, as the keys of their words."""
        words = words_of_name(name)
        whole = tuple(map(key_of, words))
        shared = {key_of(word) for word in words_of(other)}
        distinct = tuple(key for key in whole if key not in shared)
        # "no" distinguishes "no sugar" from "sugar", but is in every other sentence
        if _NEGATIONS.issuperset(distinct):
            distinct = ()
        names = [whole]
        if 0 < len(distinct) < len(whole):
            names.append(distinct)
        elif len(whole) > 1 and distinct:
            names += _shorter(words, other)
        return [each for each in dict.fromkeys(names) if each]


def _shorter(words: Sequence[str], other: str) -> list[tuple[str, ...]]:
    """Shorter forms of a name of several words that the other object does not have."""
    names = []
    if len(words) > 2:
        names.append(tuple(map(key_of, words[:-1])))
    capitals = [word for word in words if word[0].isupper()]
    if len(capitals) == len(words):
        names.append((key_of("".join(word[0] for word in words)),))
    word = capitals[-1] if capitals else words[-1]
    if word.lower() in _EMPTY:
        word = words[0]
    # "sort" would also name a "quicksort"
    if word.lower() not in _EMPTY and key_of(word) not in key_of(other.replace(" ", "")):
        names.append((key_of(word),))
    return names
