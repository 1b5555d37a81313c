"""Judgments: lines of the form `qid 0 doc label`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sicetnon.errors import DataError, counted
from sicetnon.formats.files import CARRIAGE_RETURN, read_lines
from sicetnon.formats.identifiers import check_identifier, check_printable
from sicetnon.records import Judgment

STANCES = ("FIRST", "SECOND", "NEUTRAL", "NO")
SIDES = ("FOR", "AGAINST", "BOTH", "NONE")
EXPECTED = "qid 0 doc label"
MOST = 1000


def read_qrels(path: Path | str, words: Sequence[str] = STANCES) -> Iterator[Judgment]:
    """Stream the judgments of a file. Labels are whole numbers (also written `4.0`) or words.

    Raises:
        DataError: A line has another form, an id holds characters that do not print, or a document
            has two labels.
    """
    return consistent(_numbered(path, words), path)


def consistent(judgments: Iterable[tuple[int, Judgment]], source: Path | str) -> Iterator[Judgment]:
    """Judgments with the number of each, if no document of a topic has two labels.

    Raises:
        DataError: One has; the message names both lines.
    """
    labels: dict[tuple[str, str], tuple[int | str, int]] = {}
    for number, each in judgments:
        label, first = labels.setdefault((each.topic, each.document), (each.label, number))
        if label != each.label:
            raise DataError(
                f"found the label {each.label} for document {each.document!r} of topic "
                f"{each.topic!r}; line {first} has {label}: leave one of the two out",
                source,
                number,
            )
        yield each


def _numbered(path: Path | str, words: Sequence[str]) -> Iterator[tuple[int, Judgment]]:
    for number, line in read_lines(path):
        columns = line.split()
        if not columns:
            continue
        if len(columns) != 4:
            found = f"found {counted(len(columns), 'column')}; expected 4: {EXPECTED}"
            raise DataError(CARRIAGE_RETURN if "\r" in line else found, path, number)
        topic, _, document, label = columns
        check_printable({"topic": topic, "document": document}, path, number)
        yield number, Judgment(topic, document, _label(label, words, path, number))


def qrels_text(judgments: Iterable[Judgment]) -> str:
    """The text of a file of judgments: single spaces, in the order given.

    Raises:
        ValueError: A topic or a document could not stand in such a file.
    """
    lines = []
    for each in judgments:
        check_identifier(each.topic)
        check_identifier(each.document)
        lines.append(f"{each.topic} 0 {each.document} {each.label}\n")
    return "".join(lines)


def _label(text: str, words: Sequence[str], path: Path | str, line: int) -> int | str:
    if text in words:
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer() or abs(value) > MOST:
        raise DataError(
            f"found the label {text!r}; expected a whole number or one of {', '.join(words)}",
            path,
            line,
        )
    return int(value)
