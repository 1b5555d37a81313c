"""The judging file: its tables, and how it is made.

One SQLite file holds a pool and all that assessors do. Events are only ever added: triggers refuse
to change or delete one. What stands follows from them: of the votes of an assessor for a document
and dimension, the last one that was not undone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sicetnon.databases import has_content, log_of
from sicetnon.errors import SicetnonError, UsageError
from sicetnon.judging.scales import Scale, scales_of
from sicetnon.platforms import sync_folder
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
    """Make a judging file, whole or not at all.

    Args:
        path: The file.
        plan: How it is judged.
        topics: The topics, in the order in which reports list them.
        pool: The documents of each topic, by its number, in the order of their ids in the file.

    Raises:
        UsageError: The file is there already: it may hold votes. Or a log of another file is.
        OSError: It cannot be written.
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
    """Remove logs of a file that was removed, which SQLite would play back into the new one.

    Raises:
        UsageError: One may hold votes.
    """
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
