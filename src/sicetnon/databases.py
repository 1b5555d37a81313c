"""SQLite files that anyone may have written: exact tables, bounded queries, logs of other files."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from sicetnon.cancellation import current_cancellation
from sicetnon.errors import DataError, StoppedError

DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors of a damaged file; SQLite quotes its bytes in messages, which may not be UTF-8."""

QUERY_SECONDS = 30.0
"""Seconds after which queries are interrupted: no real file makes them take so long."""
_INSTRUCTIONS = 20_000  # of SQLite's machine between two looks at the clock: about a millisecond
# what ANALYZE and PRAGMA optimize write
_STATISTICS = {
    ("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
}
# ends a log of a change of several files, with the name of the file that lists their logs
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
_WAL_VERSION = 2  # of bytes 18 and 19 of the header


def check_tables(database: sqlite3.Connection, path: Path, tables: str, advice: str) -> None:
    """Refuse a file with other tables, indexes, views or triggers than these, by any name.

    Args:
        database: The opened file.
        path: Its path, for the error.
        tables: The statements that make its tables.
        advice: What to do with another file.

    Raises:
        DataError: It has others.
    """
    database.execute("PRAGMA trusted_schema = OFF")
    with contextlib.closing(sqlite3.connect(":memory:")) as expected:
        expected.executescript(tables)
        wanted = _objects(expected)
    if _objects(database) - _STATISTICS != wanted:
        raise DataError(f"found other tables than expected; it was changed; {advice}", path)


def _objects(database: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    rows = database.execute("SELECT type, name, sql FROM sqlite_master")
    return {(kind, name, sql) for kind, name, sql in rows}


@contextlib.contextmanager
def bounded(database: sqlite3.Connection) -> Iterator[None]:
    """Interrupt queries after `QUERY_SECONDS`, or when nobody waits for them any more.

    Raises:
        StoppedError: Nobody waits.
        sqlite3.OperationalError: They took too long.
    """
    stop, end = current_cancellation(), time.monotonic() + QUERY_SECONDS

    def is_over() -> bool:
        try:
            stop.check()
        except StoppedError:
            return True
        return time.monotonic() > end

    database.set_progress_handler(is_over, _INSTRUCTIONS)
    try:
        yield
    except sqlite3.OperationalError:
        stop.check()
        raise
    finally:
        database.set_progress_handler(None, 0)


def has_content(log: Path) -> bool:
    """Whether a file is a log that SQLite would play back: one that ended well is empty or zeroed.

    Raises:
        DataError: It is a link, a pipe, a folder or a device, has a second name, or names another
            file, which SQLite would remove.
    """
    try:
        found = log.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode):
        raise DataError("is no regular file; SQLite would write there; remove it", log)
    if found.st_nlink > 1:
        raise DataError(
            f"found {found.st_nlink} names (hard links) of the file; SQLite would write there; "
            "remove this one",
            log,
        )
    with contextlib.suppress(FileNotFoundError), log.open("rb") as file:
        begin = file.read(1)
        if found.st_size > len(_NAMES_ANOTHER):
            file.seek(-len(_NAMES_ANOTHER), os.SEEK_END)
            if file.read() == _NAMES_ANOTHER:
                raise DataError("names another file, which SQLite would remove; remove it", log)
        return begin.strip(b"\0") != b""
    return False


def check_logs(path: Path) -> bool:
    """Whether a log that SQLite would play back lies beside a file.

    Raises:
        DataError: What lies there is none, or SQLite would write into another file.
    """
    # the index of a write-ahead log begins with a number, and so says nothing
    has_content(log_of(path, "shm"))
    wal, journal = (has_content(log_of(path, kind)) for kind in ("wal", "journal"))
    return wal or journal


def log_of(path: Path, kind: str) -> Path:
    """The log beside a SQLite file: `wal`, `shm` or `journal`; beside its target for a link."""
    real = Path(os.path.realpath(path))
    return real.with_name(f"{real.name}-{kind}")


def is_write_ahead(path: Path) -> bool:
    """Whether the header of a file says that a write-ahead log belongs to it."""
    with path.open("rb") as file:
        return file.read(20)[18:] == bytes([_WAL_VERSION] * 2)
