"""Judgments: lines of the form `qid 0 doc label`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from sicetnon.errors import DataError, counted
from sicetnon.formats.files import read_lines
from sicetnon.records import Judgment

STANCES = ("FIRST", "SECOND", "NEUTRAL", "NO")
EXPECTED = "qid 0 doc label"
MOST = 1000


def read_qrels(path: Path | str) -> Iterator[Judgment]:
    """Stream the judgments of a file. Labels are whole numbers (also written `4.0`) or stances.

    Raises:
        DataError: A line has another form.
    """
    for number, line in read_lines(path):
        columns = line.split()
        if not columns:
            continue
        if len(columns) != 4:
            found = counted(len(columns), "column")
            raise DataError(f"found {found}; expected 4: {EXPECTED}", path, number)
        topic, _, document, label = columns
        yield Judgment(topic, document, _label(label, path, number))


def _label(text: str, path: Path | str, line: int) -> int | str:
    if text in STANCES:
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer() or abs(value) > MOST:
        raise DataError(
            f"found the label {text!r}; expected a whole number or one of {', '.join(STANCES)}",
            path,
            line,
        )
    return int(value)
