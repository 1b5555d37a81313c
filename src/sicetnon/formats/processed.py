"""The corpus of 2022 task 1: a CSV of arguments with their sentences, as a stream.

Columns: `id, conclusion, premises, context, sentences`. The last three are Python literals, not
JSON. They become JSON first, which is read three times as fast and in a tenth of the memory.
`ast.literal_eval`, which builds values and runs nothing, reads strings with escapes, and short
literals that are unlike JSON.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import DataError, counted
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.json_records import mended, strict_json
from sicetnon.formats.tables import check_header, read_table
from sicetnon.records import Argument, ProcessedArgument, Sentence

COLUMNS = ("id", "conclusion", "premises", "context", "sentences")
FILE_NAMES = ("args_processed_04_01.csv", "args_processed.csv")
# strings, words, and quotes that nothing closes; possessive, so that it takes linear time
_TOKEN = re.compile(
    r"""(?s)('[^'\\]*+(?:\\.[^'\\]*+)*+')|("[^"\\]*+(?:\\.[^"\\]*+)*+")|([A-Za-z]++)|['"]"""
)
# Python's own parser takes some 500 times the memory of a literal
_LONGEST_PARSED = 1 << 18
_WORDS = {"None": "null", "True": "true", "False": "false"}


class _RawSentence(msgspec.Struct):
    sent_id: str
    sent_text: str


def read_processed(path: Path | str, reading: Reading | None = None) -> Iterator[ProcessedArgument]:
    """Stream the arguments of a processed CSV file, in its order.

    Raises:
        DataError: The columns are others, or a row cannot be used and `reading.on_error` raises.
    """
    reading = reading or Reading()
    rows = read_table(path, reading)
    first, header = next(rows, (1, []))
    check_header(header, path, first, wanted=COLUMNS)
    if not set(COLUMNS) <= set(header):
        found = f"the columns {', '.join(header)[:200]}" if header else "an empty file"
        raise DataError(f"found {found}; expected {', '.join(COLUMNS)}", path, 1)
    places = [header.index(column) for column in COLUMNS]
    for line, row in rows:
        try:
            if len(row) != len(header):
                raise ValueError(f"found {counted(len(row), 'column')}; expected {len(header)}")
            yield _argument(*(row[place] for place in places))
        except ValueError as error:
            reading.on_error(DataError(f"the row cannot be used: {error}", path, line))


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
        value = _read(text)
        return mended(value) if "\\ud" in text else value
    except (ValueError, SyntaxError, TypeError):
        raise ValueError(
            f"column {column} is no Python literal: {text[:60]!r}; expected a list or dictionary"
        ) from None
    except (MemoryError, RecursionError):
        raise ValueError(f"column {column} is nested too deeply: {text[:60]!r}") from None


def _read(text: str) -> Any:
    # numbers, lists and dictionaries look the same in JSON; whatever else there is does not parse
    with contextlib.suppress(KeyError, ValueError, RecursionError):
        return strict_json(_TOKEN.sub(_as_json, text))
    if len(text) > _LONGEST_PARSED:
        raise ValueError("too long for a literal that is unlike JSON")
    return ast.literal_eval(text)


def _as_json(token: re.Match[str]) -> str:
    single, double, word = token.groups()
    if word:
        return _WORDS[word]
    quoted = single or double
    if quoted is None:
        raise ValueError("a quote is not closed")
    if "\\" in quoted.replace("\\'", ""):
        return json.dumps(ast.literal_eval(quoted), ensure_ascii=False)
    text = quoted[1:-1].replace("\\'", "'")
    return '"' + (text.replace('"', '\\"') if single else text) + '"'
