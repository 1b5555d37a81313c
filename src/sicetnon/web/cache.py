"""A cache that is bounded by number and by the size of the texts in it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

# what a result costs beside its texts
_LEAST = 200
# one result may take this share of the cache
_LARGEST_SHARE = 0.1


class Cache:
    """Results by key; those that were used last stay."""

    def __init__(self, most: int, most_letters: int):
        self._most, self._most_letters = most, most_letters
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._letters = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable) -> Any:
        """A result that is kept."""
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Hashable, result: Any, letters: int) -> None:
        """Keep a result in place of those that were not used for long."""
        if letters > self._most_letters * _LARGEST_SHARE:
            return
        self._letters += letters - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = result, letters
        while len(self._kept) > self._most or self._letters > self._most_letters:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._letters -= dropped


def letters_of(value: Any) -> int:
    """About how many letters the texts of a value have."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return _LEAST + sum(map(letters_of, value)) + sum(map(letters_of, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return _LEAST + sum(map(letters_of, value))
    if isinstance(value, msgspec.Struct):
        return _LEAST + sum(letters_of(getattr(value, name)) for name in value.__struct_fields__)
    if is_dataclass(value):
        return _LEAST + sum(letters_of(getattr(value, each.name)) for each in fields(value))
    return int(getattr(value, "nbytes", 8))
