"""Ids: of documents, of an argument's sentences, and of pairs of sentences (2022 task 1).

A sentence's id is that of its argument, `__` and more (`S1-A2__PREMISE__1`). A pair's id is two ids
joined by a comma, in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SEPARATOR = ","
_SENTENCE = "__"
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
    """As `check_identifier`, for many ids."""
    together = "".join(identifiers)
    if not (all(identifiers) and together.isprintable() and " " not in together):
        for identifier in identifiers:
            check_identifier(identifier)


def argument_of(identifier: str) -> str:
    """The id of the argument that a sentence belongs to; any other id as it is."""
    return identifier.partition(_SENTENCE)[0]


def is_pair(identifier: str) -> bool:
    """Whether an id is one of a pair: exactly one comma, with something on either side."""
    first, comma, second = identifier.partition(SEPARATOR)
    return bool(first and comma and second) and SEPARATOR not in second


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


def all_pairs(identifiers: Iterable[str]) -> bool:
    """Whether all ids are of pairs; false if there is no id."""
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
