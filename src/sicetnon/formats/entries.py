"""Entries, documents of no known corpus in JSON Lines or CSV, and the arguments of args.me.

Versions 1.0, 1.0-cleaned and 2020-04-01 of args.me are five portal files, or one `args-me.json`,
with the layout
`{"arguments": [{"id", "conclusion", "premises": [{"text", "stance"}], "context"}]}`.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.json_records import JsonArray, decode, read_json_lines
from sicetnon.formats.tables import check_header, read_table
from sicetnon.records import Argument, Entry, PremiseStance

LOOKED_AT = 100
"""Number of the first values of a field that tell whether it holds texts."""

ID_NAMES = ("id", "docno", "doc_id", "_id", "docid")

_SIDES: dict[str, PremiseStance] = {"pro": "PRO", "for": "PRO", "con": "CON", "against": "CON"}


class EntryFields(NamedTuple):
    """The names of the fields of own documents.

    Attributes:
        texts: The fields whose texts are indexed.
        id: The field with the id, or None if a document's position is its id.
        stance: The field with the side: `PRO` or `for`, `CON` or `against`, in any case; empty
            where it is not known.
        claim: The field with the claim that the document is for or against.
    """

    texts: tuple[str, ...] = ()
    id: str | None = None
    stance: str | None = None
    claim: str | None = None


def read_entries(
    path: Path | str, fields: EntryFields, reading: Reading | None = None
) -> Iterator[Entry]:
    """Stream the documents of a `.csv`, `.tsv` or JSON Lines file.

    Raises:
        DataError: A record is unusable as in `entry_of`, and `reading.on_error` raises.
    """
    reading = reading or Reading()
    for line, row in _rows(path, reading):
        try:
            yield entry_of(row, fields)
        except ValueError as error:
            reading.on_error(DataError(f"the record cannot be used: {error}", path, line))


def entry_of(row: Mapping[str, Any], fields: EntryFields, position: int = 0) -> Entry:
    """An own document as a record.

    Raises:
        ValueError: It lacks its id or all of its texts, or holds another side or no text.
    """
    identifier = row.get(fields.id) if fields.id else position
    if isinstance(identifier, bool) or not isinstance(identifier, str | numbers.Integral):
        raise ValueError(f"found no id in {fields.id!r}")
    check_identifier(str(identifier))
    texts = {name: row.get(name) for name in fields.texts}
    if all(text is None for text in texts.values()):
        raise ValueError(f"found none of the fields {', '.join(fields.texts)}")
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise ValueError(f"field {name!r} holds {type(text).__name__}; expected a text")
    return Entry(
        str(identifier),
        {name: text or "" for name, text in texts.items()},
        {name: value for name, value in row.items() if name not in texts and name != fields.id},
        _stance(fields.stance, row.get(fields.stance) if fields.stance else None),
        " ".join(str(row.get(fields.claim) or "").split()) if fields.claim else "",
    )


def values_in(path: Path | str, named: EntryFields) -> dict[str, list[Any]]:
    """The first values of each field of a file, as in `field_values`.

    Raises:
        DataError: The file holds no record.
    """
    first: DataError | None = None

    def keep_first(error: DataError) -> None:
        nonlocal first
        first = first or error

    rows = (row for _, row in _rows(path, Reading(keep_first)))
    found = field_values(rows, named, is_table(path))
    if not found and first is not None:
        raise first
    if not found:
        raise DataError("the file holds no record; expected JSON Lines, or CSV with a header", path)
    return found


def field_values(
    rows: Iterable[Mapping[str, Any]], named: EntryFields, is_regular: bool = False
) -> dict[str, list[Any]]:
    """The first values of each field, without None.

    Args:
        rows: All records; no more of them are read than it takes to know the fields.
        named: The fields that the user has named.
        is_regular: Whether all rows have the same fields.
    """
    found: dict[str, list[Any]] = {}
    wanted = [*named.texts, *filter(None, named[1:])]
    known: set[str] = set()
    for position, row in enumerate(rows):
        is_complete = bool(named.texts) or (is_regular and all(found.values()))
        if position >= LOOKED_AT and is_complete and all(name in found for name in wanted):
            break
        for name, value in row.items():
            if name in known:
                continue
            values = found.setdefault(name, [])
            if value is not None:
                values.append(value)
            if len(values) == LOOKED_AT:
                known.add(name)
    return found


def complete(named: EntryFields, values: Mapping[str, Sequence[Any]]) -> EntryFields:
    """The named fields, with the usual ones where none is named.

    All texts are indexed but the id, the side, links and numbers, which are kept beside them.

    Args:
        named: The fields that the user has named.
        values: As from `field_values`.

    Raises:
        ValueError: A named field is missing, or no field holds texts.
    """
    missing = [name for name in (named.stance, named.claim) if name and name not in values]
    if missing:
        raise ValueError(f"found no field {', '.join(missing)}; there are {', '.join(values)}")
    identifier = named.id or next((name for name in ID_NAMES if name in values), None)
    texts = named.texts or tuple(
        name
        for name, found in values.items()
        if name not in (identifier, named.stance) and are_texts(found)
    )
    if not texts:
        raise ValueError(f"found the fields {', '.join(values)}; expected one with a text")
    return named._replace(texts=texts, id=identifier)


def is_link(value: object) -> bool:
    """Whether a value is the address of a web page."""
    return isinstance(value, str) and value.strip().lower().startswith(("http://", "https://"))


def are_texts(values: Sequence[Any]) -> bool:
    """Whether the values of a field are texts: not all are links, and not all are numbers."""
    if not values or not isinstance(values[0], str):
        return False
    filled = [value for value in values if value != ""]
    return not filled or not (all(map(is_link, filled)) or all(map(is_number, filled)))


def is_number(value: object) -> bool:
    """Whether a value reads as a number."""
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def is_table(path: Path | str) -> bool:
    """Whether the name of a file ends as those of CSV and TSV files do."""
    return _plain_name(path).endswith((".csv", ".tsv"))


def _plain_name(path: Path | str) -> str:
    return Path(path).name.lower().removesuffix(".gz")


def _rows(path: Path | str, reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if not is_table(path):
        yield from read_json_lines(path, dict[str, Any], "a JSON object", reading)
        return
    tabs = _plain_name(path).endswith(".tsv")
    delimiter = "\t" if tabs else ","
    rows = read_table(path, reading, delimiter)
    line, header = next(rows, (1, []))
    check_header(header, path, line, delimiter)
    # pandas and R write a column of row numbers without a name
    names = [name or f"column {position}" for position, name in enumerate(header, start=1)]
    for line, row in rows:
        if len(row) > len(header):
            hint = "; name the column of row names (in R: col.names = NA)"
            what = f"the row has more columns than the header{hint * (len(row) == len(header) + 1)}"
            reading.on_error(DataError(what, path, line))
        elif tabs and len(row) < len(header) and row[-1].startswith('"'):
            what = "the row ends in a quoted text, and TSV has no quotes; save the file as CSV"
            reading.on_error(DataError(what, path, line))
        else:
            cells = itertools.zip_longest(header, names, row)
            yield line, {name: cell if given else cell or None for given, name, cell in cells}


def _stance(field: str | None, side: object) -> PremiseStance | None:
    if side is None or side == "":
        return None
    stance = _SIDES.get(side.strip().lower()) if isinstance(side, str) else None
    if stance is None:
        raise ValueError(f"field {field!r} holds {side!r}; expected PRO, CON, for or against")
    return stance


PORTALS = ("debateorg", "debatepedia", "debatewise", "idebate", "parliamentary")
SINGLE_FILE = "args-me.json"
EXPECTED_ARGUMENT = (
    '{"id", "conclusion", "premises": [{"text", "stance": "PRO" or "CON"}], "context"}'
)
_OTHER = ". Write records of another form as JSON Lines: one in each line, without a list"

_decoder = msgspec.json.Decoder(Argument)


def portal_files(directory: Path) -> list[Path]:
    """The files of the corpus in a directory: the five portals, or the single file.

    Raises:
        DataError: Some portal file is missing.
    """
    single = directory / SINGLE_FILE
    found = [directory / f"{portal}.json" for portal in PORTALS]
    missing = [path.name for path in found if not path.is_file()]
    if single.is_file() and len(missing) == len(found):
        return [single]
    if missing:
        raise DataError(
            f"the corpus lacks {', '.join(missing)}; expected {', '.join(p.name for p in found)}, "
            f"or {SINGLE_FILE}. To go without a portal, index the files that you have by name: "
            "sicetnon index build FILE FILE … -o DIR",
            directory,
        )
    return found


def read_arguments(path: Path | str, reading: Reading | None = None) -> Iterator[Argument]:
    """Stream the arguments of one file, in its order.

    Raises:
        DataError: The file is no args.me JSON, or an argument in it cannot be used and
            `reading.on_error` raises.
    """
    reading = reading or Reading()
    array = JsonArray(path, "arguments", reading)
    for count, (offset, data) in enumerate(array, start=1):
        if reading.passes_over():
            continue
        try:
            argument = decode_argument(data)
        except ValueError as error:
            expected = f"expected {EXPECTED_ARGUMENT}{_OTHER if count == 1 else ''}"
            what = f"argument {count} cannot be used: {error}; {expected}"
            reading.on_error(DataError(what, path, array.line_of(offset)))
        else:
            yield argument


def decode_argument(data: bytes) -> Argument:
    """One argument from its JSON.

    Raises:
        ValueError: It cannot be indexed; the message gives the reason.
    """
    argument = decode(_decoder, data)
    if not argument.premises:
        raise ValueError(f'argument {argument.id!r} has no premise ("premises" is empty)')
    check_identifier(argument.id)
    return argument
