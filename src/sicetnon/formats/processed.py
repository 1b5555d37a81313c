"""The corpus of 2022 task 1: a CSV of arguments with their sentences, as a stream.

Columns: `id, conclusion, premises, context, sentences`. The last three are Python literals, not
JSON; they are read as `ast.literal_eval` does, which builds values and runs nothing.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.argsme import check_identifier
from sicetnon.formats.files import Reading, read_lines
from sicetnon.formats.jsontext import mended
from sicetnon.formats.literals import read_literal
from sicetnon.records import Argument, ProcessedArgument, Sentence

COLUMNS = ("id", "conclusion", "premises", "context", "sentences")
FILE_NAMES = ("args_processed_04_01.csv", "args_processed.csv")


class _RawSentence(msgspec.Struct):
    sent_id: str
    sent_text: str


def read_processed(path: Path | str, reading: Reading | None = None) -> Iterator[ProcessedArgument]:
    """Stream the arguments of a processed CSV file, in its order.

    Raises:
        DataError: The columns are others, or a row cannot be used and `reading.on_error` raises.
    """
    reading = reading or Reading()
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader((text + "\n" for _, text in read_lines(path, reading)), strict=True)
    header = _next_row(rows, path)
    if header is None or not set(COLUMNS) <= set(header):
        found = "an empty file" if header is None else f"the columns {', '.join(header)[:200]}"
        raise DataError(f"found {found}; expected {', '.join(COLUMNS)}", path, 1)
    places = [header.index(column) for column in COLUMNS]
    line = rows.line_num
    while (row := _next_row(rows, path)) is not None:
        first, line = line + 1, rows.line_num
        if not row:
            continue
        try:
            if len(row) != len(header):
                raise ValueError(f"found {len(row)} columns; expected {len(header)}")
            yield _argument(*(row[place] for place in places))
        except ValueError as error:
            reading.on_error(DataError(f"the row cannot be used: {error}", path, first))


def _next_row(rows: Any, path: Path | str) -> list[str] | None:
    try:
        return next(rows, None)
    except csv.Error as error:
        raise DataError(
            f"the CSV breaks off or is damaged: {error}; copy or download the file again",
            path,
            rows.line_num,
        ) from None


def _argument(
    identifier: str, conclusion: str, premises: str, context: str, sentences: str
) -> ProcessedArgument:
    check_identifier(identifier)
    argument = msgspec.convert(
        {
            "id": identifier,
            "conclusion": conclusion,
            "premises": _literal("premises", premises),
            "context": _literal("context", context) if context else {},
        },
        Argument,
    )
    if not argument.premises:
        raise ValueError(f"argument {identifier!r} has no premise")
    raw = msgspec.convert(_literal("sentences", sentences), list[_RawSentence])
    return ProcessedArgument(
        argument, tuple(Sentence(sentence.sent_id, sentence.sent_text) for sentence in raw)
    )


def _literal(column: str, text: str) -> Any:
    try:
        value = read_literal(text)
        return mended(value) if "\\ud" in text else value
    except (ValueError, SyntaxError, TypeError):
        raise ValueError(
            f"column {column} is no Python literal: {text[:60]!r}; expected a list or dictionary"
        ) from None
    except (MemoryError, RecursionError):
        raise ValueError(f"column {column} is nested too deeply: {text[:60]!r}") from None
