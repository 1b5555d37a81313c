"""The judging file: its tables, how it is made, and how it is opened.

One SQLite file holds a pool and all that assessors do. Events are only ever added: triggers refuse
to change or delete one. What stands follows from them: of the votes of an assessor for a document
and dimension, the last one that was not undone.

SQLite plays back what lies beside a file under the name of a log, whatever it belongs to, and goes
on writing into a file that was removed. Both would move votes to other documents, or lose them: an
opened file is told from other files of its name, and its log from logs of other files.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from sicetnon.databases import (
    DAMAGE,
    bounded,
    check_logs,
    check_tables,
    has_content,
    is_write_ahead,
    log_of,
)
from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.judging.scales import Scale, scales_of
from sicetnon.operating_system import sync_folder
from sicetnon.records import Topic

VERSION = 2
APPLICATION = 0x5365744E
"""The application id that marks a SQLite file as ours: "SetN"."""
TOKEN = 32

IDENTITY = """
CREATE TABLE identity (pool TEXT NOT NULL, before TEXT NOT NULL, state TEXT NOT NULL) STRICT;
"""
"""Version 2 added it: the identity of a pool, and a token of its state and of the one before. A log
must hold the state before the change that it undoes; SQLite itself would take any."""
FIRST_TABLES = """
CREATE TABLE plan (content TEXT NOT NULL) STRICT;
CREATE TABLE topics (
    place INTEGER PRIMARY KEY,
    number TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL
) STRICT;
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL REFERENCES topics (number),
    document TEXT NOT NULL,
    UNIQUE (topic, document)
) STRICT;
CREATE TABLE assessors (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    assessor INTEGER NOT NULL REFERENCES assessors (id),
    kind TEXT NOT NULL CHECK (kind IN ('vote', 'skip', 'note', 'undo')),
    item INTEGER NOT NULL REFERENCES items (id),
    dimension TEXT NOT NULL,
    label TEXT NOT NULL,
    note TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES events (number)
) STRICT;
CREATE INDEX events_of_items ON events (item, assessor, kind, dimension, number);
CREATE INDEX events_of_assessors ON events (assessor, kind, number);
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'kept'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'kept'); END;
CREATE TABLE reservations (
    item INTEGER NOT NULL REFERENCES items (id),
    assessor INTEGER NOT NULL REFERENCES assessors (id),
    until REAL NOT NULL,
    PRIMARY KEY (item, assessor)
) STRICT;
CREATE VIEW kept AS
SELECT * FROM events AS event
WHERE kind <> 'undo'
AND NOT EXISTS (SELECT 1 FROM events AS undo WHERE undo.undoes = event.number);
CREATE VIEW standing AS
SELECT * FROM kept AS event
WHERE NOT EXISTS (
    SELECT 1 FROM kept AS later
    WHERE later.item = event.item AND later.assessor = event.assessor AND later.kind = event.kind
    AND later.dimension = event.dimension AND later.number > event.number
);
"""


class NotSavedError(SicetnonError):
    """The file cannot be written now, as on a full disk. Nothing of the request was saved."""


class Plan(msgspec.Struct, frozen=True):
    """The rules of a pool: dimensions, depth, votes per document.

    Attributes:
        task: The task-year; the empty string for none.
        depth: The first documents of each topic that each run gave to the pool.
        seed: The seed of the orders in which assessors see documents.
        votes: How many assessors judge a document.
        quota: How many documents an assessor judges at most; None for no limit.
    """

    task: str
    dimensions: tuple[str, ...]
    depth: int
    runs: tuple[str, ...]
    seed: int = 0
    votes: int = 1
    quota: int | None = None

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales of the dimensions."""
        return scales_of(self.task, self.dimensions)


def create(
    path: Path, plan: Plan, topics: Sequence[Topic], pool: Mapping[str, Sequence[str]]
) -> None:
    """Make a judging file; atomic.

    Args:
        path: The file.
        plan: How it is judged.
        topics: The topics, in the order in which reports list them.
        pool: The documents of each topic, by its number, in the order of their ids in the file.
    """
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path}: is there already, and may hold votes; name another file")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: found no such folder; make it, or name another file")
    _remove_logs(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(f"BEGIN; {FIRST_TABLES} {IDENTITY}")
            _fill(database, plan, topics, pool)
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        # a link is refused where another process has made the file meanwhile
        os.link(temporary, path)
    except FileExistsError:
        raise UsageError(f"{path}: is there already, and may hold votes; name another") from None
    except sqlite3.OperationalError as error:
        raise NotSavedError(f"{path}: cannot be written: {error}; nothing was made") from None
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(f"{temporary.name}-journal").unlink(missing_ok=True)
    sync_folder(path.parent)


def _remove_logs(path: Path) -> None:
    """Remove logs of a file that was removed, which SQLite would play back into the new one."""
    for kind in ("wal", "journal"):
        if has_content(log := log_of(path, kind)):
            raise UsageError(
                f"{log}: is the log of a judging file that is gone, and may hold votes; move it to "
                "that file, or remove it, or name another file"
            )
    for kind in ("wal", "shm", "journal"):
        log_of(path, kind).unlink(missing_ok=True)


def add_identity(database: sqlite3.Connection) -> None:
    """Give a new judging file an identity that no other has."""
    tokens = [token() for _ in range(3)]
    database.execute("INSERT INTO identity VALUES (?, ?, ?)", tokens)


def token() -> str:
    """A new token."""
    return secrets.token_hex(TOKEN // 2)


def _fill(
    database: sqlite3.Connection,
    plan: Plan,
    topics: Sequence[Topic],
    pool: Mapping[str, Sequence[str]],
) -> None:
    add_identity(database)
    database.execute("INSERT INTO plan VALUES (?)", (msgspec.json.encode(plan).decode(),))
    rows = [
        (place, topic.number, msgspec.json.encode(topic).decode())
        for place, topic in enumerate(topics)
    ]
    database.executemany("INSERT INTO topics VALUES (?, ?, ?)", rows)
    items = [(topic, document) for topic, documents in pool.items() for document in documents]
    database.executemany("INSERT INTO items (topic, document) VALUES (?, ?)", items)


_PROCESS = threading.RLock()
"""Held while this process uses a judging file: to close a file that is looked at beside SQLite
would give up the locks that SQLite has on it, for another thread."""
_WAIT_SECONDS = 30.0
_LOOKS, _LOOKING = 100, 0.1  # the log of another program that is writing changes meanwhile
# a log holds each page of its file once; no change takes pages away
_LOG_GROWTH, _LOG_BYTES = 2, 1 << 20
_NEXT_STATE = "UPDATE identity SET before = state, state = ?"


class OpenedFile:
    """An opened judging file: writes go to it, or nowhere.

    Another file of its name, a moved folder, or an older copy that was put in its place ends in an
    error, and so no vote is acknowledged that would be in none, or in another pool.

    Args:
        path: The file.
    """

    def __init__(self, path: Path):
        self._path, self._name = path.absolute(), path
        self._pool, self._last = "", (0, "")
        self._file = self._identity()
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
                if self._identity() == self._file:
                    self.database.execute("PRAGMA busy_timeout = 0")
                    self.database.execute("PRAGMA journal_mode = DELETE")
            self.database.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Queries; nobody else of this process uses a judging file meanwhile."""
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
        """A transaction: on the disk when it ends, rolled back by any error."""
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

    def _identity(self) -> tuple[int, int] | None:
        """The device and the number of the file of this name."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        """Refuse to write where the name leads to another file than the one that is open."""
        if self._identity() != self._file:
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
                _check_database(database, path)
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


def _check_database(database: sqlite3.Connection, path: Path) -> None:
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
    """Refuse logs of another file, which SQLite would play back into this one."""
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
    # the row of the file may hold the state before the change, or after it
    found = log[1].decode(), log[2].decode()
    return found == (before, state) or found[1] == before


def _foreign_log(log: Path) -> DataError:
    return DataError(
        "is the log of another file, or of another state of this one; SQLite would play it back; "
        "put the file that it belongs to beside it, or move it away",
        log,
    )
