"""SQLite files that tests look into and change."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that is committed and closed at the end; SQLite's own `with` leaves it open."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        yield database


def rows_of(path: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows that a query gives."""
    with opened_database(path) as database:
        return database.execute(query).fetchall()
