"""Ids: of documents, of an argument's sentences, and of pairs of sentences (2022 task 1).

A sentence's id is that of its argument, `__` and more (`S1-A2__PREMISE__1`). A pair's id is two ids
joined by a comma, in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sicetnon.errors import DataError

SEPARATOR = ","
_SENTENCE = "__"
_SENTENCE_FORM = re.compile(r"\S+_(?:_|sent)\d+")
_FORMS = {
    # hexadecimal numbers without leading zeros; the first release of args.me named the time too
    "argument": r"S[0-9a-f]{4,8}-A[0-9a-f]{4,8}|[0-9a-f]{4,8}-\d{4}-\d\d-\d\dT[\w:-]+",
    # as in ClueWeb
    "document": r"[a-z]+\d*-\w{6}-\d\d-\d{5}",
    "passage": r"[a-z]+\d*-\w{6}-\d\d-\d{5}___\d+",
}
_ALL_OF = {name: re.compile(rf"(?:(?:{form})\n)*") for name, form in _FORMS.items()}
_FORM = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items()))


def check_identifier(identifier: str) -> None:
    """Refuse an id that a run cannot hold.

    Raises:
        ValueError: The id is empty or holds white space.
    """
    if identifier and identifier.isprintable() and " " not in identifier:
        return  # of all that is printable, a blank alone is white space
    if identifier.split() != [identifier]:
        raise ValueError(f"the id {identifier!r} is empty or holds white space")
    raise ValueError(f"the id {identifier!r} holds characters that do not print")


def check_identifiers(identifiers: Sequence[str]) -> None:
    """Refuse ids that a run cannot hold."""
    together = "".join(identifiers)
    if not (all(identifiers) and together.isprintable() and " " not in together):
        for identifier in identifiers:
            check_identifier(identifier)


def check_printable(names: Mapping[str, str], path: Path | str, line: int) -> None:
    """Refuse names on a line of a file that hold characters that nobody sees.

    Raises:
        DataError: A name does; the key says what it names.
    """
    for what, name in names.items():
        if not name.isprintable():
            raise DataError(
                f"found the {what} {name!r}, which holds characters that do not print; remove "
                "them, such as a byte order mark inside a file of several",
                path,
                line,
            )


def argument_of(identifier: str) -> str:
    """The id of the argument that a sentence belongs to; any other id unchanged."""
    return identifier.partition(_SENTENCE)[0]


def halves(identifier: str) -> tuple[str, str] | None:
    """The parts of an id with exactly one comma and something on either side; else None.

    In a task with pairs these are two sentences. Elsewhere a comma is part of the id.
    """
    first, comma, second = identifier.partition(SEPARATOR)
    if not (first and comma and second) or SEPARATOR in second:
        return None
    return first, second


def is_pair(identifier: str) -> bool:
    """Whether an id is one of a pair by its form: two ids of sentences, joined by a comma.

    Ids of sentences end in `__3`, as in the corpus, or in `_sent3`, as on the page of the task.
    """
    found = halves(identifier)
    return found is not None and all(map(_SENTENCE_FORM.fullmatch, found))


def form_of(identifier: str) -> str | None:
    """The kind of document that an id names, by its form in the corpora of the tasks.

    Returns:
        `pair`, `argument`, `document` or `passage`; None for an id of any other form.
    """
    if is_pair(identifier):
        return "pair"
    found = _FORM.fullmatch(identifier)
    return found.lastgroup if found else None


def all_of_form(identifiers: Sequence[str], form: str) -> bool:
    """Whether all ids have one form, or none of the known ones, as those of own corpora."""
    if _ALL_OF[form].fullmatch("".join(f"{each}\n" for each in identifiers)):
        return True
    return all(form_of(each) in (None, form) for each in identifiers)


def all_pairs(identifiers: Iterable[str], has_pairs: bool | None = None) -> bool:
    """Whether all ids are of pairs; false if there is no id.

    Args:
        identifiers: The ids.
        has_pairs: Whether their task has pairs, in any form; their form tells if left out.
    """
    if has_pairs is False:
        return False
    test = halves if has_pairs else is_pair
    found = False
    for identifier in identifiers:
        if not test(identifier):
            return False
        found = True
    return found


def one_order(identifier: str) -> str:
    """The id of a pair with its halves in alphabetical order; an id without one comma unchanged."""
    return SEPARATOR.join(sorted(halves(identifier) or (identifier,)))
