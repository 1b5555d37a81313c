"""Pairs of sentences (2022 task 1): two ids joined by a comma, in whichever order."""

from __future__ import annotations

from collections.abc import Iterable

SEPARATOR = ","


def is_pair(identifier: str) -> bool:
    """Whether an id is one of a pair: exactly one comma, with something on either side."""
    first, comma, second = identifier.partition(SEPARATOR)
    return bool(first and comma and second) and SEPARATOR not in second


def all_pairs(identifiers: Iterable[str]) -> bool:
    """Whether there are ids and every one is a pair's."""
    found = False
    for identifier in identifiers:
        if not is_pair(identifier):
            return False
        found = True
    return found


def one_order(identifier: str) -> str:
    """The id of a pair with its halves in alphabetical order; any other id as it is."""
    first, comma, second = identifier.partition(SEPARATOR)
    if comma and second < first and SEPARATOR not in second and second:
        return f"{second}{SEPARATOR}{first}"
    return identifier
