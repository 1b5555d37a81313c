"""Small pools, and what assessors do with them."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sicetnon.judging import Action, JudgingFile, Receipt, make_pool

TOPICS = {"1": "Should zoos be closed?", "2": "Is homework useful?"}


def runs(count: int = 6) -> dict[str, dict[str, dict[str, float]]]:
    """Two runs that share half of their documents: 1.5 times as many as one has."""
    first = {t: {f"d{t}-{n}": 1.0 / (n + 1) for n in range(count)} for t in TOPICS}
    second = {t: {f"d{t}-{n + count // 2}": 1.0 / (n + 1) for n in range(count)} for t in TOPICS}
    return {"one": first, "two": second}


def pool(path: Path, count: int = 6, **options: Any) -> Path:
    """A judging file of two topics with 9 documents each."""
    make_pool(path, runs(count), TOPICS, **({"depth": count} | options))
    return path


def key() -> str:
    return uuid.uuid4().hex


def vote(item: int, label: str = "1", dimension: str = "relevance", **more: Any) -> Action:
    return Action(more.pop("key", None) or key(), "vote", item, dimension, label)


def undo(of: Action) -> Action:
    return Action(key(), "undo", of.item, target=of.key)


def outcomes(receipts: Iterable[Receipt]) -> list[str]:
    return [receipt.outcome for receipt in receipts]


def judge_all(file: JudgingFile, name: str, label: str = "1", most: int = 10**6) -> int:
    """Judge what is assigned until nothing is; the number of documents."""
    done = 0
    while done < most and (items := file.assigned(name, 1)):
        for dimension in file.plan.dimensions:
            (receipt,) = file.record(name, [vote(items[0].id, label, dimension)])
            assert receipt.outcome == "saved", receipt.reason
        done += 1
    return done


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    """Put another pool in the place of one, as a checkout does."""
    pool(path.with_name("other"))
    path.with_name("other").replace(path)


def write_over(path: Path) -> None:
    """Write another pool into the file of one, as `cp` does."""
    pool(path.with_name("other"))
    path.write_bytes(path.with_name("other").read_bytes())


def truncate(path: Path) -> None:
    os.truncate(path, 0)


def cut_short(path: Path) -> None:
    os.truncate(path, 4096)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def make_anew(path: Path) -> None:
    path.unlink()
    pool(path)


GONE: tuple[Callable[[Path], None], ...] = (
    remove, replace, write_over, truncate, cut_short, move_folder, remove_folder, make_anew,
)  # fmt: skip
"""What happens to a pool while it is open."""


def first_version(path: Path) -> None:
    """Make a judging file one of version 1, in the mode that it had."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("DROP TABLE identity; PRAGMA user_version = 1")
        database.execute("PRAGMA journal_mode = WAL")


def killed_log(path: Path, kind: str) -> Path:
    """The log of a program that was killed while it wrote a vote into a pool; as SQLite names it.

    Args:
        path: A pool with the version of its kind of log; it stays as it was.
        kind: `wal` or `journal`.
    """
    own = path.with_name("killed")
    shutil.copy(path, own)
    with contextlib.closing(sqlite3.connect(own, isolation_level=None)) as database:
        database.execute(f"PRAGMA journal_mode = {'WAL' if kind == 'wal' else 'PERSIST'}")
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN")
        if kind == "journal":
            database.execute("UPDATE identity SET before = state, state = ?", ("0" * 32,))
        database.execute("INSERT INTO assessors VALUES (77, 'mallory')")
        database.execute(
            "INSERT INTO events VALUES "
            "(NULL, 'key-of-a-vote', 1.0, 77, 'vote', 1, 'relevance', '2', '', NULL)"
        )
        more = ((f"assessor {number}" * 9,) for number in range(2000))
        database.executemany("INSERT INTO assessors (name) VALUES (?)", more)
        if kind == "wal":
            database.execute("COMMIT")
        log = path.with_name(f"log of {path.name}")
        shutil.copy(own.with_name(f"killed-{kind}"), log)
    for each in path.parent.glob("killed*"):
        each.unlink()
    return log


def naming(log: Path, other: Path) -> Path:
    """Make a log one of a change of several files: SQLite removes the file that lists their logs.

    Args:
        log: A log of the kind `journal`.
        other: The file that it names.
    """
    name, page = os.fsencode(other), (1 << 30) // 4096 + 1
    end = struct.pack(">I", page) + name + struct.pack(">II", len(name), sum(name))
    log.write_bytes(log.read_bytes() + end + bytes.fromhex("d9d505f920a163d7"))
    return log
