"""A cache of the services' answers on disk, so that no request is sent twice."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sicetnon.databases import DAMAGE, bounded, check_logs, check_tables
from sicetnon.errors import DataError
from sicetnon.folders import keep_private

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, fetched TEXT NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID
"""
_FILE = "answers.sqlite"
_PATIENCE_SECONDS = 60
LARGEST_ANSWER = 64 << 20
"""Bytes of an answer at most."""


class ResponseCache:
    """Answers by their request, in one SQLite file.

    Each answer is on disk, whole, before it is used: a killed program finds all that it had
    received when it starts again. Several programs and threads may share one cache.

    The file is for its owner alone.

    Args:
        path: The file, made when there is none; or a folder that it is, or will be, in.

    Raises:
        DataError: The file is something else, damaged, or cannot be written.
    """

    def __init__(self, path: Path):
        self.path = path / _FILE if path.is_dir() else path
        self._lock = threading.Lock()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.path != path and self.path.is_symlink():
            # what is fetched would be written outside of the folder that was named
            raise DataError("is a link; name the file that it leads to", self.path)
        if self.path.exists() and not self.path.is_file():
            raise DataError(
                "is no regular file; expected the file of kept answers, or none", self.path
            )
        with self._clear_errors():
            # a log that SQLite plays back may be that of another file
            is_unsure = check_logs(self.path)
            # answers tell what was asked: others shall not read them at any time
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            # each statement is its own transaction, synced to disk
            self._database = sqlite3.connect(
                self.path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            # a stage that has answers kept is not closed by anyone
            weakref.finalize(self, self._database.close)
            with bounded(self._database):
                if not self._database.execute("PRAGMA schema_version").fetchone()[0]:
                    self._database.execute(_SCHEMA)
                advice = "delete it to fetch all again"
                check_tables(self._database, self.path, _SCHEMA, advice)
                if is_unsure and self._database.execute("PRAGMA quick_check(1)").fetchone() != (
                    "ok",
                ):
                    raise sqlite3.DatabaseError("its log belongs to another file")
            keep_private(self.path)

    def get(self, key: str) -> bytes | None:
        """The answer kept under a key, or None."""
        with self._lock, self._clear_errors(), bounded(self._database):
            row = self._database.execute(
                "SELECT body FROM answers WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        unpacking = zlib.decompressobj()
        try:
            body = unpacking.decompress(row[0], LARGEST_ANSWER + 1)
        except (zlib.error, TypeError):  # a number or a text in place of bytes
            return None
        # the checksum at its end tells that no page of another answer is in it
        return body if unpacking.eof else None

    def put(self, key: str, request: str, body: bytes) -> None:
        """Keep an answer with today's date and time, in place of an older one.

        Args:
            key: The key for `get`.
            request: The request, for people who look into the file; never with an API key.
            body: The answer.
        """
        row = (key, request, datetime.now(UTC).isoformat(timespec="seconds"), zlib.compress(body))
        with self._lock, self._clear_errors(), bounded(self._database):
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, *DAMAGE) as error:
            # damaged files can hold text that is no UTF-8, which Python decodes
            raise DataError(
                f"the answers kept here cannot be used ({error}); make room or rights, or delete "
                "the file to fetch all again",
                self.path,
            ) from None
