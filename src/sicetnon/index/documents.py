"""Records: their kinds, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

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

_encoder = msgspec.json.Encoder()


def encode_record(record: Record) -> bytes:
    """A record as the store keeps it.

    Raises:
        ValueError: It holds something that JSON cannot hold, such as half a character.
    """
    return encode_records([record])[0]


def encode_records(records: Sequence[Record]) -> list[bytes]:
    """Records as the store keeps them; many at once take less time.

    Raises:
        ValueError: One of them holds something that JSON cannot hold, such as half a character.
    """
    try:
        lines = _encoder.encode_lines([_stored(record) for record in records])
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    # behind the last record stands a line break, too; in JSON there is no other
    return lines.split(b"\n")[:-1]


def _stored(record: Record) -> Record:
    """A record without what is not kept."""
    if isinstance(record, Argument):
        return _without_source_text(record)
    if isinstance(record, ProcessedArgument):
        return msgspec.structs.replace(record, argument=_without_source_text(record.argument))
    return record


def _without_source_text(argument: Argument) -> Argument:
    if _LEFT_OUT not in argument.context:
        return argument
    kept = {key: value for key, value in argument.context.items() if key != _LEFT_OUT}
    return msgspec.structs.replace(argument, context=kept)
