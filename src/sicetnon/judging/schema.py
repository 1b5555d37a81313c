"""The judging file: its tables, how it is made, and how it is opened.

One SQLite file holds a pool and all that assessors do. Events are only ever added: triggers refuse
to change or delete one. What stands follows from them: of the votes of an assessor for a document
and dimension, the last one that was not undone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.judging.scales import Scale, scales_of
from sicetnon.platforms import sync_folder
from sicetnon.records import Topic

VERSION = 1
_APPLICATION = 0x5365744E
"""The application id that marks a SQLite file as ours: "SetN"."""
_WAIT_SECONDS = 30.0
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors of a damaged file; SQLite quotes its bytes in messages, which may not be UTF-8."""

_TABLES = """
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
    """Make a judging file, whole or not at all.

    Args:
        path: The file.
        plan: How it is judged.
        topics: The topics, in the order in which reports list them.
        pool: The documents of each topic, by its number, in the order of their ids in the file.

    Raises:
        UsageError: The file is there already: it may hold votes.
        OSError: It cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path}: is there already, and may hold votes; name another file")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: found no such folder; make it, or name another file")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(f"BEGIN; {_TABLES}")
            _fill(database, plan, topics, pool)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
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


def _fill(
    database: sqlite3.Connection,
    plan: Plan,
    topics: Sequence[Topic],
    pool: Mapping[str, Sequence[str]],
) -> None:
    database.execute("INSERT INTO plan VALUES (?)", (msgspec.json.encode(plan).decode(),))
    rows = [
        (place, topic.number, msgspec.json.encode(topic).decode())
        for place, topic in enumerate(topics)
    ]
    database.executemany("INSERT INTO topics VALUES (?, ?, ?)", rows)
    items = [(topic, document) for topic, documents in pool.items() for document in documents]
    database.executemany("INSERT INTO items (topic, document) VALUES (?, ?)", items)


def connect(path: Path) -> sqlite3.Connection:
    """Open a judging file.

    Raises:
        DataError: It is missing, of another version, or no sound judging file.
        NotSavedError: It is there and cannot be written.
    """
    if not path.is_file():
        raise DataError("found no judging file; make one with: sicetnon judge pool", path)
    database = sqlite3.connect(
        path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    # damaged bytes must not end in an error of decoding
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        _check(database, path)
        # a commit is on the disk when it returns, and readers do not wait for writers
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
    except sqlite3.OperationalError as error:
        database.close()
        raise NotSavedError(f"{path}: cannot be opened for writing: {error}") from None
    except DAMAGE as error:
        database.close()
        raise DataError(f"is no judging file, or damaged: {error}", path) from None
    except DataError:
        database.close()
        raise
    return database


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no judging file, of another version, or with tables of its own."""
    database.execute("PRAGMA trusted_schema = OFF")
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise DataError("is no judging file; make one with: sicetnon judge pool", path)
    if version != VERSION:
        raise DataError(
            f"found version {version} of the judging file; expected {VERSION}; use the version "
            "of sicetnon that made it",
            path,
        )
    if _schema(database) != _expected_schema():
        raise DataError("found other tables than a judging file has; it was changed", path)
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DataError(f"is damaged: {found}; take it from a copy", path)


def _schema(database: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    rows = database.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
    )
    return {(kind, name, sql) for kind, name, sql in rows}


def _expected_schema() -> set[tuple[str, str, str | None]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_TABLES)
        return _schema(database)


@contextlib.contextmanager
def transaction(database: sqlite3.Connection, path: Path) -> Iterator[None]:
    """A transaction that writes: on the disk when it ends, undone as a whole by any error.

    Raises:
        NotSavedError: The disk is full, or another program keeps the file locked.
        DataError: The file is damaged.
    """
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise NotSavedError(
            f"{path}: nothing was saved: {error}; free some space or try again"
        ) from None
    except DAMAGE as error:
        raise DataError(f"is damaged: {error}; take it from a copy", path) from None
    finally:
        if database.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                database.execute("ROLLBACK")
