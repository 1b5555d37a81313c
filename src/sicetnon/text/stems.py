"""Stemmers by name. Each takes distinct words, so that no word is stemmed twice."""

from __future__ import annotations

from collections.abc import Callable

from sicetnon.errors import UsageError

StemWords = Callable[[list[str]], list[str]]


def _porter2() -> StemWords:
    import Stemmer

    # nothing is stemmed twice: no cache
    stemmer = Stemmer.Stemmer("english", 0)
    return lambda words: list(stemmer.stemWords(words))


_STEMMERS: dict[str, Callable[[], StemWords]] = {
    "none": lambda: lambda words: words,
    "porter2": _porter2,
}
STEMMERS = tuple(_STEMMERS)


def stemmer(name: str) -> StemWords:
    """The stemmer of a name: words in, their stems out.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _STEMMERS:
        raise UsageError(f"unknown stemmer {name!r}; choose one of {', '.join(STEMMERS)}")
    return _STEMMERS[name]()


def stemmer_version(name: str) -> str:
    """The version of a stemmer, which an index records: another one may stem otherwise."""
    if name != "porter2":
        return ""
    import Stemmer

    return f"PyStemmer {Stemmer.version()}"
