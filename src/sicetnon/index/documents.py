"""The document store: every record as JSON in SQLite, by document number."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.index.storage import REBUILD
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

_PAGE_BYTES = 1 << 14
_TABLE = "CREATE TABLE documents (number INTEGER PRIMARY KEY, record BLOB NOT NULL)"

_encoder = msgspec.json.Encoder()


def encode_record(record: Record) -> bytes:
    """A record as the store keeps it.

    Raises:
        ValueError: It holds something that JSON cannot hold, such as half a character.
    """
    if isinstance(record, Argument):
        record = _without_source_text(record)
    elif isinstance(record, ProcessedArgument):
        argument = _without_source_text(record.argument)
        record = msgspec.structs.replace(record, argument=argument)
    try:
        return _encoder.encode(record)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _without_source_text(argument: Argument) -> Argument:
    if _LEFT_OUT not in argument.context:
        return argument
    kept = {key: value for key, value in argument.context.items() if key != _LEFT_OUT}
    return msgspec.structs.replace(argument, context=kept)


class DocumentWriter:
    """Writes a new store. It is no file for others until it is closed and its folder renamed."""

    def __init__(self, path: Path):
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # nobody reads the file before it is whole, so no journal is needed
        self._connection.executescript(
            f"PRAGMA page_size = {_PAGE_BYTES}; PRAGMA journal_mode = OFF;"
            f"PRAGMA synchronous = OFF; {_TABLE}; BEGIN;"
        )

    def add(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Add records with their numbers."""
        self._connection.executemany("INSERT INTO documents VALUES (?, ?)", records)

    def close(self) -> None:
        """Commit and close."""
        self._connection.execute("COMMIT")
        self._connection.close()

    def abandon(self) -> None:
        """Close without a commit."""
        self._connection.close()


class DocumentReader:
    """Reads a store.

    The file is opened at once, so that it can be read to the end even if a writer removes it.

    Raises:
        BrokenIndexError: The file cannot be opened.
    """

    def __init__(self, path: Path, kind: str):
        self._path, self._is_closed, self._is_table = path, False, False
        self._decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(RECORD_TYPES[kind])
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            # SQLite serialises access itself, and nothing is ever written
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            # no record is longer than the file, whatever a damaged one says
            longest = max(path.stat().st_size, _PAGE_BYTES)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, (1 << 31) - 1))
        except sqlite3.Error as error:
            raise BrokenIndexError(f"{path}: cannot be read: {error}; {REBUILD}") from None

    def get(self, numbers: Sequence[int]) -> list[Record]:
        """The records of some numbers, in their order.

        Raises:
            BrokenIndexError: The store is damaged, or has no such number.
            UsageError: The store is closed.
        """
        found: dict[int, bytes] = {}
        for begin in range(0, len(numbers), 500):
            part = numbers[begin : begin + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT number, record FROM documents WHERE number IN ({marks})"
            found.update(self._rows(query, part))
        if missing := sorted(set(numbers) - found.keys()):
            raise self._missing(missing[0])
        return self._decoded([found[number] for number in numbers])

    def between(self, first: int, end: int) -> list[Record]:
        """The records of a range of numbers.

        Raises:
            BrokenIndexError: The store is damaged, or lacks one of the numbers.
        """
        return self._decoded([record for _, record in self.raw(first, end)])

    def raw(self, first: int, end: int) -> list[tuple[int, bytes]]:
        """The numbers and stored JSON of a range of numbers.

        Raises:
            BrokenIndexError: The store is damaged, or lacks one of the numbers.
        """
        # a damaged tree may hold a row without end
        query = "SELECT number, record FROM documents WHERE number >= ? AND number < ? LIMIT ?"
        rows = self._rows(query, (first, end, end - first))
        if [number for number, _ in rows] != list(range(first, end)):
            missing = {*range(first, end)} - {number for number, _ in rows}
            raise self._missing(min(missing, default=first))
        return rows

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._is_closed = True

    def _rows(self, query: str, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        try:
            if not self._is_table:
                # a view or a virtual table could run any query, and without end
                schema = "SELECT sql FROM sqlite_master WHERE name = 'documents'"
                if self._connection.execute(schema).fetchall() != [(_TABLE,)]:
                    raise sqlite3.DatabaseError("found no table of records")
                self._is_table = True
            return self._connection.execute(query, numbers).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._damaged(error) from None

    def _decoded(self, records: list[bytes]) -> list[Record]:
        try:
            return [self._decoder.decode(record) for record in records]
        # bad UTF-8 is a ValueError, a number in place of JSON a TypeError
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(error) from None

    def _missing(self, number: int) -> BrokenIndexError:
        return BrokenIndexError(f"{self._path}: document {number} is missing; {REBUILD}")

    def _damaged(self, error: Exception) -> SicetnonError:
        if self._is_closed:
            return UsageError(f"{self._path.parents[1]}: the index is closed; open it again")
        return BrokenIndexError(f"{self._path}: damaged: {error}; {REBUILD}")
