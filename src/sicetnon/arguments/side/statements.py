"""Statements by their form: noun phrases, and points that are made in a debate."""

from __future__ import annotations

import re

_STATES = re.compile(r"\b(?:should|is|are|do|does|can)\b", re.IGNORECASE)
_MOST_WORDS_OF_A_NAME = 4


def is_name(statement: str) -> bool:
    """Whether a statement is a noun phrase, such as "Gun control"."""
    return len(statement.split()) <= _MOST_WORDS_OF_A_NAME and not _STATES.search(statement)


def is_point(conclusion: str, title: str) -> bool:
    """Whether a conclusion is a point in a debate whose title states another resolution.

    On debatewise.org the stance of an argument is towards the title, and its text supports the
    point. A title that is a noun phrase states nothing.
    """
    plain, named = _letters(conclusion), _letters(title)
    differs = bool(plain) and bool(named) and plain not in named and named not in plain
    return differs and not is_name(title)


def _letters(statement: str) -> str:
    return " ".join(re.findall(r"\w+", statement.casefold()))
