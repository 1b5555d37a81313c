"""The plain claim or question in loaded words: "Isn't homework a waste?" asks whether it is one.

The model takes the "not" of a question that expects a yes for a denial. In 350 held-out pairs of a
claim and a text, it reads the side right in 0.81 where the claim stands alone, in 0.32 after
"Don't you think that", and in 0.54 after "It is a myth that".
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple


class Plain(NamedTuple):
    """A claim or question in plain words.

    Attributes:
        turned: Whether who agrees with them disagrees with what was said.
    """

    text: str
    turned: bool = False


# few statements have any such words; to compile the patterns for them takes milliseconds
_MAY_BE_LOADED = re.compile(
    r"n['‘’]?t\b|\bnot\b|\bthat\b|think|believe|agree|^\s*wh(?:ether|y)\b|,[^,]{1,20}\?\s*$",
    re.IGNORECASE,
)


@functools.lru_cache(maxsize=4096)
def plain(statement: str) -> Plain:
    """A claim or question without the words that ask for a yes or deny the rest.

    "Isn't homework a waste of time?" becomes "Is homework a waste of time?", "Don't you think that
    zoos are cruel?" "Zoos are cruel", and "It is a myth that zoos teach" "Zoos teach", turned.
    Other statements stay unchanged.
    """
    if not _MAY_BE_LOADED.search(statement):
        return Plain(statement)
    from sicetnon.arguments.side.loaded import unloaded

    said = re.sub("[‘’]", "'", " ".join(statement.split()))
    text, turned = unloaded(said)
    return Plain(statement) if text == said else Plain(text[:1].upper() + text[1:], turned)
