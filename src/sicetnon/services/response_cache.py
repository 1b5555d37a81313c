"""A cache of the services' answers on disk, so that nothing is asked for twice."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sicetnon.errors import DataError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, fetched TEXT NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID
"""
_FILE = "answers.sqlite"
_PATIENCE_SECONDS = 60


class ResponseCache:
    """Answers by their request, in one SQLite file.

    Each answer is on disk, whole, before it is used: a killed program finds all that it had
    received when it starts again. Several programs and threads may share one cache.

    Args:
        path: The file, made when there is none; or a folder that it is, or will be, in.

    Raises:
        DataError: The file is something else, damaged, or cannot be written.
    """

    def __init__(self, path: Path):
        self.path = path / _FILE if path.is_dir() else path
        self._lock = threading.Lock()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._clear_errors():
            # each statement is its own transaction, synced to disk
            self._database = sqlite3.connect(
                self.path, _PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._database.execute(_SCHEMA)

    def get(self, key: str) -> bytes | None:
        """The answer kept under a key, or None."""
        with self._lock, self._clear_errors():
            row = self._database.execute(
                "SELECT body FROM answers WHERE key = ?", (key,)
            ).fetchone()
        try:
            return zlib.decompress(row[0]) if row else None
        except zlib.error:
            return None

    def put(self, key: str, request: str, body: bytes) -> None:
        """Keep an answer with today's date and time, in place of an older one.

        Args:
            key: The key for `get`.
            request: The request, for people who look into the file; never with an API key.
            body: The answer.
        """
        row = (key, request, datetime.now(UTC).isoformat(timespec="seconds"), zlib.compress(body))
        with self._lock, self._clear_errors():
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise DataError(
                f"the answers kept here cannot be used ({error}); make room or rights, or delete "
                "the file to fetch all again",
                self.path,
            ) from None
