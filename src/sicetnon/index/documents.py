"""Records: their kinds, and what is kept of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from sicetnon.formats.corpora import is_gap
from sicetnon.records import Argument, Entry, Passage, ProcessedArgument, Record, WebPage

RECORD_TYPES: dict[str, type[Record]] = {
    "arguments": Argument,
    "processed": ProcessedArgument,
    "passages": Passage,
    "pages": WebPage,
    "entries": Entry,
}
# the portals' whole debate texts; kept out since each is repeated in every argument of a debate
_LEFT_OUT = "sourceText"


def _of_python(value: Any) -> Any:
    """A value that numpy or pandas hold as JSON can hold it."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if is_gap(value):
        return None
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    raise TypeError(f"found {type(value).__name__}; expected what JSON can hold")


_encoder = msgspec.json.Encoder(enc_hook=_of_python)


def encode_records(records: Iterable[Record]) -> list[bytes]:
    """Records as the store keeps them.

    Raises:
        ValueError: One holds something that JSON cannot hold, such as half a character.
    """
    try:
        return list(map(_encoder.encode, map(_kept, records)))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def encode_record(record: Record) -> bytes:
    """A record as the store keeps it.

    Raises:
        ValueError: As `encode_records`.
    """
    return encode_records([record])[0]


def _kept(record: Record) -> Record:
    if isinstance(record, Argument):
        record = _without_source_text(record)
    elif isinstance(record, ProcessedArgument):
        argument = _without_source_text(record.argument)
        record = msgspec.structs.replace(record, argument=argument)
    return record


def _without_source_text(argument: Argument) -> Argument:
    if _LEFT_OUT not in argument.context:
        return argument
    kept = {key: value for key, value in argument.context.items() if key != _LEFT_OUT}
    return msgspec.structs.replace(argument, context=kept)
