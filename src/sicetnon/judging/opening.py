"""An opened judging file, told from other files of its name and from logs of other files.

SQLite plays back what lies beside a file under the name of a log, whatever it belongs to, and goes
on writing into a file that was removed. Both would move votes to other documents, or lose them.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sicetnon.databases import (
    DAMAGE,
    bounded,
    check_logs,
    check_tables,
    has_content,
    is_write_ahead,
    log_of,
)
from sicetnon.errors import DataError, SicetnonError
from sicetnon.judging.schema import (
    APPLICATION,
    FIRST_TABLES,
    IDENTITY,
    TOKEN,
    VERSION,
    NotSavedError,
    add_identity,
    token,
)

_PROCESS = threading.RLock()
"""Held while this process uses a judging file: to close a file that is looked at beside SQLite
would give up the locks that SQLite has on it, for another thread."""
_WAIT_SECONDS = 30.0
_LOOKS, _LOOKING = 100, 0.1  # the log of another program that is writing changes meanwhile
# a log holds each page of its file once; no change takes pages away
_LOG_GROWTH, _LOG_BYTES = 2, 1 << 20
_NEXT_STATE = "UPDATE identity SET before = state, state = ?"


class Opened:
    """An opened judging file: writes go to it, or nowhere.

    Another file of its name, a moved folder, or an older copy that was put in its place ends in an
    error, and so no vote is acknowledged that would be in none, or in another pool.

    Args:
        path: The file.

    Raises:
        DataError: It is missing, of another version, or no sound judging file.
        NotSavedError: It is there and cannot be written.
    """

    def __init__(self, path: Path):
        self._path, self._name = path.absolute(), path
        self._pool, self._last = "", (0, "")
        self._file = self._found()
        self.database = _connect(path)
        try:
            with self.reading():
                (self._pool,) = self.database.execute("SELECT pool FROM identity").fetchone()
                self._last = self._last_event()
            self._check_file()
        except (TypeError, ValueError) as error:
            self.database.close()
            raise DataError(f"is no sound judging file: {error}", path) from None
        except SicetnonError:
            self.database.close()
            raise

    def close(self) -> None:
        """Close the file, and remove its empty log."""
        with _PROCESS:
            with contextlib.suppress(sqlite3.Error):
                # SQLite would remove the log beside another file of this name
                if self._found() == self._file:
                    self.database.execute("PRAGMA busy_timeout = 0")
                    self.database.execute("PRAGMA journal_mode = DELETE")
            self.database.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Queries; nobody else of this process uses a judging file meanwhile.

        Raises:
            DataError: The file is damaged, or takes too long to read.
            NotSavedError: Another one is in its place.
        """
        with _PROCESS:
            try:
                # before SQLite plays back what lies beside another file of this name
                self._check_file()
                with bounded(self.database):
                    self._check_pool()
                    yield
            except DAMAGE as error:
                raise DataError(f"cannot be read: {error}", self._name) from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: on the disk when it ends, undone as a whole by any error.

        Raises:
            NotSavedError: The disk is full, another program keeps the file locked, the file is
                damaged, or another one is in its place.
        """
        with _PROCESS:
            try:
                self._check_file()
                with bounded(self.database):
                    self.database.execute("BEGIN IMMEDIATE")
                    before = self._path.stat()
                    self._check_pool()
                    self.database.execute(_NEXT_STATE, (token(),))
                    yield
                    last = self._last_event()
                    self._check_file()
                    # SQLite writes when it commits, not before: somebody else has
                    if _written(before) != _written(self._path.stat()):
                        raise self._replaced("was written over")
                    self.database.execute("COMMIT")
                self._check_file()
                self._last = last
            except DAMAGE as error:
                raise NotSavedError(
                    f"{self._name}: nothing was saved: {error}; free some space, try again, or "
                    "take the file from a copy"
                ) from None
            finally:
                if self.database.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        self.database.execute("ROLLBACK")

    def _found(self) -> tuple[int, int] | None:
        """The device and the number of the file of this name."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        """Refuse to write where the name leads to another file than the one that is open."""
        if self._found() != self._file:
            raise self._replaced("was moved, removed or replaced")

    def _check_pool(self) -> None:
        """Refuse another content: another pool, or an older copy without the last known event."""
        # pages that were read before may be those of a file that was written over
        self.database.execute("PRAGMA shrink_memory")
        found = self.database.execute("SELECT pool FROM identity").fetchall()
        if self._pool and found != [(self._pool,)]:
            raise self._replaced("was replaced by another pool")
        number, key = self._last
        kept = self.database.execute("SELECT key FROM events WHERE number = ?", (number,))
        if number and kept.fetchone() != (key,):
            raise self._replaced("was replaced by another copy, which lacks the last event")

    def _last_event(self) -> tuple[int, str]:
        row = self.database.execute(
            "SELECT number, key FROM events ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return row or (0, "")

    def _replaced(self, how: str) -> NotSavedError:
        return NotSavedError(
            f"{self._name}: the file {how} while it was open; nothing was saved; put it back, or "
            "start again with the file that is there now"
        )


def _written(found: os.stat_result) -> tuple[int, int]:
    """Differs as soon as a file is written."""
    return found.st_mtime_ns, found.st_size


def _connect(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise DataError("found no judging file; make one with: sicetnon judge pool", path)
    with _PROCESS:
        if (names := path.stat().st_nlink) > 1:
            # the log of a killed program lies beside one of them alone
            raise DataError(f"found {names} names (hard links) of the file; remove or copy", path)
        _check_logs(path)
        # links are resolved once: SQLite and the checks look at the same file
        database = sqlite3.connect(
            os.path.realpath(path),
            timeout=_WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        # damaged bytes must not end in an error of decoding
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            with bounded(database):
                _check(database, path)
                # a commit is on the disk when it returns; the log stays, and with it its room
                (mode,) = database.execute("PRAGMA journal_mode = PERSIST").fetchone()
                if mode != "persist":
                    raise sqlite3.OperationalError("another program has it open")
                database.execute("PRAGMA synchronous = FULL")
                database.execute("PRAGMA foreign_keys = ON")
                # nothing is written before a transaction commits
                database.execute("PRAGMA cache_spill = OFF")
        except sqlite3.OperationalError as error:
            database.close()
            raise NotSavedError(f"{path}: cannot be opened for writing: {error}") from None
        except DAMAGE as error:
            database.close()
            raise DataError(f"is no judging file, or damaged: {error}", path) from None
        except SicetnonError:
            database.close()
            raise
        return database


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no judging file, of another version, or with tables of its own."""
    database.execute("PRAGMA trusted_schema = OFF")
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise DataError("is no judging file; make one with: sicetnon judge pool", path)
    if version not in (1, VERSION):
        raise DataError(
            f"found version {version} of the judging file; expected {VERSION}; use the version "
            "of sicetnon that made it",
            path,
        )
    tables = FIRST_TABLES if version == 1 else FIRST_TABLES + IDENTITY
    check_tables(database, path, tables, "take it from a copy")
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DataError(f"is damaged: {found}; take it from a copy", path)
    if version == 1:
        # its own kind of log holds no state, and so a kill leaves none that would be refused
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("BEGIN IMMEDIATE")
        # another program may have done it meanwhile
        if database.execute("PRAGMA user_version").fetchone() == (1,):
            database.execute(IDENTITY)
            add_identity(database)
            database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")


def _check_logs(path: Path) -> None:
    """Refuse logs of another file, which SQLite would play back into this one.

    Raises:
        DataError: One is there.
    """
    if not check_logs(path):
        return
    wal, journal = log_of(path, "wal"), log_of(path, "journal")
    if has_content(wal):
        # a file of version 1 that nobody has written since; later ones have another kind of log
        own = is_write_ahead(path) and wal.stat().st_mtime_ns >= path.stat().st_mtime_ns
        if not own:
            raise _foreign_log(wal)
    before = -1
    for _ in range(_LOOKS):
        try:
            if not has_content(journal) or _is_of_state(journal, path):
                return
            if before == (before := journal.stat().st_mtime_ns):
                raise _foreign_log(journal)
        except FileNotFoundError:
            return
        time.sleep(_LOOKING)


def _is_of_state(journal: Path, path: Path) -> bool:
    """Whether a log holds the state that a file had before the change that the log undoes."""
    uri = f"{Path(os.path.realpath(path)).as_uri()}?mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database, bounded(database):
            row = database.execute("SELECT pool, before, state FROM identity").fetchone()
        pool, before, state = map(str, row)
    except (*DAMAGE, TypeError, ValueError):
        return False
    if journal.stat().st_size > _LOG_GROWTH * path.stat().st_size + _LOG_BYTES:
        return False
    token = rf"([0-9a-f]{{{TOKEN}}})"
    log = re.search(f"{re.escape(pool)}{token}{token}".encode(), journal.read_bytes())
    if log is None:
        return False
    # the row of the file may be as it was before the change, or as it is after it
    found = log[1].decode(), log[2].decode()
    return found == (before, state) or found[1] == before


def _foreign_log(log: Path) -> DataError:
    return DataError(
        "is the log of another file, or of another state of this one; SQLite would play it back; "
        "put the file that it belongs to beside it, or move it away",
        log,
    )
