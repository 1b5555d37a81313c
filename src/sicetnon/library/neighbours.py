"""The documents beside a document: of the same debate, or of the same page."""

from __future__ import annotations

from collections.abc import Iterator

from sicetnon.library.index import Index
from sicetnon.records import Argument, Passage, ProcessedArgument, Record

_MOST = 50


def neighbours(index: Index, identifier: str, most: int = _MOST) -> list[str]:
    """The ids of the other documents of the same debate or page, in their order.

    Corpora name them so: arguments of args.me `DEBATE-ARGUMENT`, passages `PAGE___NUMBER`. Other
    documents have none. A corpus holds those of one debate one after the other; the nearest are
    given.

    Raises:
        DataError: The index has no such document.
    """
    (number,) = index.numbers([identifier]).tolist()
    name = _shared(index.records_at([number])[0])
    if not name:
        return []
    before = list(_run(index, range(number - 1, -1, -1), name, most))
    behind = _run(index, range(number + 1, index.size), name, most)
    return [*reversed(before), *behind]


def _shared(record: Record) -> str:
    """The begin of a document's id that the others of its debate or page share."""
    if isinstance(record, Argument | ProcessedArgument):
        name, mark, _ = record.id.rpartition("-")
    elif isinstance(record, Passage):
        name, mark, _ = record.id.rpartition("___")
    else:
        return ""
    return name + mark if name else ""


def _run(index: Index, numbers: range, name: str, most: int) -> Iterator[str]:
    """The ids at some places as long as they begin with a name; deleted ones are passed over."""
    for number in numbers[:most]:
        try:
            (identifier,) = index.identifiers([number])
        except IndexError:  # a deleted document of an index on a cluster
            continue
        if not identifier.startswith(name):
            return
        if index.number(identifier) == number:
            yield identifier
