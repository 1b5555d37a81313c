"""Tables with separated columns (CSV, TSV): rows of texts of any length."""

from __future__ import annotations

import contextlib
import csv
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from sicetnon.errors import DataError
from sicetnon.formats.files import Reading, read_lines

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
    size = 0

    def lines() -> Iterator[str]:
        nonlocal size
        for _, text in read_lines(path, reading):
            size += len(text)
            if size > reading.limits.record_bytes:
                raise reading.limits.too_long("the row", path, first)
            yield text + "\n"

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
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
