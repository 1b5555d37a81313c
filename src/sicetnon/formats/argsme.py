"""The args.me corpus: five portal files, or one `args-me.json`, as a stream of arguments.

Versions 1.0, 1.0-cleaned and 2020-04-01 share this layout:
`{"arguments": [{"id", "conclusion", "premises": [{"text", "stance"}], "context"}]}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.json_records import JsonArray, decode
from sicetnon.records import Argument

PORTALS = ("debateorg", "debatepedia", "debatewise", "idebate", "parliamentary")
SINGLE_FILE = "args-me.json"
EXPECTED = '{"id", "conclusion", "premises": [{"text", "stance": "PRO" or "CON"}], "context"}'
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
            other = _OTHER if count == 1 else ""
            reading.on_error(
                DataError(
                    f"argument {count} cannot be used: {error}; expected {EXPECTED}{other}",
                    path,
                    array.line_of(offset),
                )
            )
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
