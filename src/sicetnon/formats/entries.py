"""Documents of no known corpus: JSON Lines or CSV with named fields."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.passages import read_json_lines
from sicetnon.formats.tables import read_table
from sicetnon.records import Entry, PremiseStance

LOOKED_AT = 100
ID_NAMES = ("id", "docno", "doc_id", "_id", "docid")


_STANCES: dict[str, PremiseStance] = {"pro": "PRO", "for": "PRO", "con": "CON", "against": "CON"}


def read_entries(
    path: Path | str,
    fields: Sequence[str],
    id_field: str,
    reading: Reading | None = None,
    stance_field: str | None = None,
    claim_field: str | None = None,
) -> Iterator[Entry]:
    """Stream the documents of a `.csv`, `.tsv` or JSON Lines file.

    Args:
        path: The file; gzip is fine. What it holds is told by its name.
        fields: The fields whose texts are indexed.
        id_field: The field that holds the id.
        reading: Counts bytes; decides what becomes of unusable records.
        stance_field: The field that holds the side: `PRO` or `for`, `CON` or `against`, in any
            case; empty where it is not known.
        claim_field: The field that holds the claim which the document is for or against.

    Raises:
        DataError: A record lacks its id or all of its texts, or holds another side, and
            `reading.on_error` raises.
    """
    reading = reading or Reading()
    for line, row in _rows(path, reading):
        try:
            entry = _entry(row, fields, id_field)
            if stance_field or claim_field:
                stance = _stance(stance_field, row.get(stance_field or ""))
                claim = " ".join(str(row.get(claim_field or "") or "").split())
                entry = msgspec.structs.replace(entry, stance=stance, claim=claim)
            yield entry
        except ValueError as error:
            reading.on_error(DataError(f"the record cannot be used: {error}", path, line))


def known_fields(path: Path | str) -> Mapping[str, Any]:
    """The fields of the first records of a file (a hundred), each with the first value it has.

    Raises:
        DataError: The file holds no record.
    """
    found: dict[str, Any] = {}
    errors: list[DataError] = []
    for _, row in itertools.islice(_rows(path, Reading(errors.append)), LOOKED_AT):
        for name, value in row.items():
            if found.get(name) is None:
                found[name] = value
    if not found and errors:
        raise errors[0]
    if not found:
        raise DataError("the file holds no record; expected JSON Lines, or CSV with a header", path)
    return found


def is_table(path: Path | str) -> bool:
    """Whether a file's name says that it is CSV or TSV."""
    return Path(path).name.removesuffix(".gz").lower().endswith((".csv", ".tsv"))


def _rows(path: Path | str, reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if not is_table(path):
        yield from read_json_lines(path, dict[str, Any], "a JSON object", reading)
        return
    tabs = Path(path).name.removesuffix(".gz").lower().endswith(".tsv")
    rows = read_table(path, reading, "\t" if tabs else ",")
    _, header = next(rows, (1, []))
    for line, row in rows:
        if len(row) > len(header):
            reading.on_error(DataError("the row has more columns than the header", path, line))
        else:
            yield line, dict(itertools.zip_longest(header, row))


def _entry(row: Mapping[str, Any], fields: Sequence[str], id_field: str) -> Entry:
    identifier = row.get(id_field)
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        raise ValueError(f"found no id in {id_field!r}")
    check_identifier(str(identifier))
    texts = {name: row.get(name) for name in fields}
    if all(text is None for text in texts.values()):
        raise ValueError(f"found none of the fields {', '.join(fields)}")
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise ValueError(f"field {name!r} holds {type(text).__name__}; expected a text")
    rest = {name: value for name, value in row.items() if name not in texts and name != id_field}
    return Entry(str(identifier), {name: text or "" for name, text in texts.items()}, rest)


def _stance(field: str | None, side: object) -> PremiseStance | None:
    if side is None or side == "":
        return None
    stance = _STANCES.get(side.strip().lower()) if isinstance(side, str) else None
    if stance is None:
        raise ValueError(f"field {field!r} holds {side!r}; expected PRO, CON, for or against")
    return stance
