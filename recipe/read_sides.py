"""Sides of short texts towards questions and claims, read by a large language model.

`read-sides.tsv` has no text of the data: it names a text by its digest, and likewise a context that
is of the data. Its other contexts are questions that were written for it. A small letter marks a
side that a second reader could see otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from recipe.examples import Example
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, plain, rows

READ, ASKED = "read", "asked"
_LETTERS = "FAN"
_UNSURE = 0.75
_DIGITS = 12


def digest(text: str) -> str:
    """The digest that stands for a text in the file."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def read_sides(found: Iterable[Example]) -> Iterator[Example]:
    """The labelled pairs, as the data sets `read` (of the data's contexts) and `asked`.

    Args:
        found: Examples of stance, whose texts and contexts the file names.
    """
    known = {digest(text): text for text in _texts(found)}
    for row in rows(Path(__file__).with_name("read-sides.tsv"), "\t", quoted=False):
        written = row["question"]
        context = written or known.get(row["context"], "")
        for named in row["sides"].split():
            name, letter = named.split(":")
            text = known.get(name)
            if text and context:
                yield _example(ASKED if written else READ, text, context, letter)


def _texts(found: Iterable[Example]) -> Iterator[str]:
    for each in found:
        if each.head == "stance":
            yield each.text
            yield each.context
    for argument in arguments_of(data_folder() / "touche-2020-task-1/input"):
        yield plain(argument.conclusion)


def _example(dataset: str, text: str, context: str, letter: str) -> Example:
    label = _LETTERS.index(letter.upper())
    sure = 1.0 if letter.isupper() else _UNSURE
    votes = [(1 - sure) / 2] * len(_LETTERS)
    votes[label] = sure
    return Example("stance", dataset, text, label, context, context, votes=tuple(votes))
