"""Tables with separated columns (CSV, TSV): rows of texts of any length.

CSV has quotes (RFC 4180). TSV has none (IANA, text/tab-separated-values), unless its header has.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import sys
import threading
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from sicetnon.errors import DataError
from sicetnon.formats.files import CARRIAGE_RETURN, Limits, Reading, read_lines

_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_CURES = {
    (",", "\t"): "rename it to .tsv",
    ("\t", ","): "rename it to .csv",
}
_LIMIT = threading.Lock()
_LONGEST = min(sys.maxsize, 2**31 - 1)  # a C long, which has 32 bits on Windows


def read_table(
    path: Path | str, reading: Reading | None = None, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Stream the rows of a table, each with the number of its first line; empty rows are left out.

    Raises:
        DataError: The file cannot be read, a quoted field is not closed properly, or a row is
            longer than a record may be.
    """
    reading = reading or Reading()
    # an error closes the file at once, and not when its traceback is collected
    with contextlib.closing(read_lines(path, reading)) as read:
        first = next(read, (1, ""))
        if "\r" in first[1]:
            raise DataError(CARRIAGE_RETURN, path, first[0])
        lines, names = itertools.chain([first], read), first[1].split(delimiter)
        if delimiter != "\t" or any(name.startswith('"') for name in names):
            # quotes around fields with another separator are faults for csv
            check_separator(names, path, first[0], delimiter)
            yield from _quoted(lines, path, reading.limits, delimiter)
        else:
            yield from ((line, text.split(delimiter)) for line, text in lines if text)


def _quoted(
    lines: Iterator[tuple[int, str]], path: Path | str, limits: Limits, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    size = 0

    def texts() -> Iterator[str]:
        nonlocal size
        for _, text in lines:
            size += len(text)
            if size > limits.record_bytes:
                raise limits.too_long("the row", path, first)
            yield text + "\n"

    rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        first, size = rows.line_num + 1, 0
        try:
            with _long_fields():
                row = next(rows, None)
        except csv.Error as error:
            raise DataError(
                f"the table breaks off or is damaged: {error}; copy or download the file again",
                path,
                rows.line_num,
            ) from None
        if row is None:
            return
        if row:
            yield first, row


def check_header(
    header: Sequence[str],
    path: Path | str,
    line: int,
    delimiter: str = ",",
    wanted: Container[str] | None = None,
) -> None:
    """Refuse a header with another separator, or with a column twice.

    Args:
        header: The names of the columns.
        path: The file.
        line: The line of the header.
        delimiter: The separator of the file.
        wanted: The columns that are read; all when left out.

    Raises:
        DataError: It does.
    """
    check_separator(header, path, line, delimiter)
    for name, count in Counter(header).items():
        if count > 1 and name and (wanted is None or name in wanted):
            raise DataError(
                f"found {count} columns of the name {name!r}; expected one; rename the others",
                path,
                line,
            )


def check_separator(header: Sequence[str], path: Path | str, line: int, delimiter: str) -> None:
    """Refuse a header with another separator.

    Raises:
        DataError: It has more of another one than columns.
    """
    text = delimiter.join(header)
    other = max((each for each in _SEPARATORS if each != delimiter), key=text.count)
    if text.count(other) >= max(len(header), 1):
        named = _SEPARATORS[delimiter]
        cure = _CURES.get((delimiter, other), f"save it with {named}")
        raise DataError(
            f"found fields with {other!r} between them; expected {named}; {cure}", path, line
        )


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    # the csv module has one limit for the whole process, and its 128 KiB are too few for a page:
    # the limit is lifted for one row at a time, by one thread at a time
    with _LIMIT:
        before = csv.field_size_limit(_LONGEST)
        try:
            yield
        finally:
            csv.field_size_limit(before)
