"""A judging day: every vote that was acknowledged is in the pool that it was given for, alone.

Two servers with four assessors each judge a pool. Meanwhile servers are killed and started again,
copies are made and put back, pools are made anew, the folder is moved, and the disk is full. A
*branch* is a file with what was acknowledged for it; a copy begins another one.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import resource
import shutil
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from robustness.trials import Lost, Trial
from sicetnon.databases import has_content, log_of
from sicetnon.errors import SicetnonError, UsageError
from sicetnon.judging import Action, JudgingFile, export_judgments, make_pool

ASSESSORS = tuple(f"assessor {number}" for number in range(8))
SERVERS = 2
VOTES_PER_EVENT = 200
"""Votes between two things that happen; each of them happens once at least."""
_REFUSED, _LONGEST_STILL = 3, 1.0
_CONTEXT = multiprocessing.get_context("fork")


@dataclass
class Branch:
    """A file, and what it must hold.

    Attributes:
        documents: The beginning of the ids of its documents.
        known: The keys of the events that it began with.
        logs: What servers told of their votes on it.
    """

    documents: str
    known: set[str] = field(default_factory=set)
    logs: list[Path] = field(default_factory=list)

    def told(self, what: str) -> dict[str, str]:
        """The documents of the votes that were `tried`, or `acknowledged`, by their keys."""
        lines = [line for log in self.logs if log.exists() for line in _lines(log)]
        return {key: document for kind, key, document in lines if kind == what}


def _lines(log: Path) -> list[list[str]]:
    # a line without its end was not told
    return [line.split("\t") for line in log.read_text().split("\n")[:-1]]


@dataclass
class Day:
    """The state of a day.

    Attributes:
        path: The pool that is served.
        branch: Its branch.
        files: All branches, by the files where they lie now.
        copy: A copy, with the keys in it and its documents.
        counts: How often each thing has happened.
    """

    folder: Path
    rng: Random
    path: Path
    branch: Branch
    files: dict[Path, Branch] = field(default_factory=dict)
    servers: list[Any] = field(default_factory=list)
    copy: tuple[Path, Branch] | None = None
    pools: int = 0

    def name(self, what: str) -> Path:
        """A new path."""
        self.pools += 1
        return self.folder / f"{what} {self.pools}"

    def start(self, room: int | None = None) -> None:
        """Start the servers that do not run."""
        while len(self.servers) < SERVERS:
            place = len(self.servers)
            log = self.name("log")
            names = ASSESSORS[place::SERVERS]
            server = _CONTEXT.Process(target=_serve, args=(self.path, names, log, room))
            server.start()
            self.branch.logs.append(log)
            self.servers.append(server)

    def kill(self, count: int = SERVERS) -> None:
        """Kill servers."""
        for server in [self.servers.pop() for _ in range(min(count, len(self.servers)))]:
            server.kill()
            server.join()

    def go_on(self) -> None:
        """Kill and start all servers; the log of another file is moved to that file."""
        self.kill()
        try:
            JudgingFile(self.path).close()
        except SicetnonError as error:
            log = log_of(self.path, "journal")
            if not has_content(log) or "log of another" not in str(error):
                raise
            self._move_log()
            JudgingFile(self.path).close()
        self.start()

    def _move_log(self) -> None:
        """Put the log of the last pool that was moved away beside it."""
        log = log_of(self.path, "journal")
        if has_content(log):
            # made last, and a copy has no log
            last = [path for path in self.files if path != self.path][-1]
            log.rename(log_of(last, "journal"))

    def make(self) -> None:
        """Make a pool, in the place of one that was moved away."""
        documents = self.name("pool").name.replace(" ", "-")
        found = {"1": {f"{documents}-{number}": 1.0 / (number + 1) for number in range(400)}}
        topics = {"1": "Should zoos be closed?"}
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        try:
            make_pool(self.path, {"run": found}, topics, depth=400, votes=8)
        except UsageError:
            self._move_log()
            make_pool(self.path, {"run": found}, topics, depth=400, votes=8)
        self.branch = self.files[self.path] = Branch(documents)

    def move_away(self) -> None:
        """Move the pool elsewhere, with or without its servers."""
        if self.rng.random() < 0.5:
            self.kill()
        target = self.name("away")
        self.path.rename(target)
        self.files[target] = self.files.pop(self.path)
        # who serves the pool finds out
        time.sleep(0.05)


def prepare(votes: int, _: Path) -> Trial:
    """A day of so many votes."""

    def trial(seed: int, folder: Path) -> None:
        rng = Random(seed)
        (folder / "served").mkdir()
        day = Day(folder, rng, folder / "served" / "pool.sqlite", Branch(""))
        day.make()
        day.start()
        try:
            count = max(len(EVENTS_OF_DAYS), votes // VOTES_PER_EVENT)
            for event in range(count):
                _wait(day, votes * (event + 1) // count)
                # each once, then any
                things = EVENTS_OF_DAYS[event:][:1] or EVENTS_OF_DAYS
                rng.choice(things)(day)
        finally:
            day.kill()
        for path, branch in day.files.items():
            _check(path, branch, [each for each in day.files.values() if each is not branch])
        total = sum(len(branch.told("acknowledged")) for branch in day.files.values())
        if total < votes:
            raise AssertionError(f"{total} votes were acknowledged, of {votes}")

    return trial


def _wait(day: Day, votes: int) -> None:
    """Wait until so many votes were acknowledged; pools that are complete are made anew."""
    before, since = -1, time.monotonic()
    while True:
        found = sum(len(branch.told("acknowledged")) for branch in day.files.values())
        if found >= votes:
            return
        if found > before:
            before, since = found, time.monotonic()
        elif time.monotonic() - since > _LONGEST_STILL:
            # all is judged, or all servers wait for room
            day.move_away()
            day.make()
            day.go_on()
            since = time.monotonic()
        time.sleep(0.01)


def _kill_one(day: Day) -> None:
    day.kill(1)
    day.start()


def _copy(day: Day) -> None:
    day.kill()
    day.go_on()
    day.kill()
    with JudgingFile(day.path) as file, file.reading() as database:
        keys = {key for (key,) in database.execute("SELECT key FROM events")}
    copy = day.name("copy")
    shutil.copy(day.path, copy)
    day.copy = copy, Branch(day.branch.documents, keys)
    day.start()


def _restore(day: Day) -> None:
    """Put a copy in the place of the pool."""
    if day.copy is None:
        _copy(day)
    assert day.copy
    copy, branch = day.copy
    day.move_away()
    copy.rename(day.path)
    day.copy = None
    day.branch = day.files[day.path] = branch
    day.go_on()


def _make_anew(day: Day) -> None:
    day.move_away()
    day.make()
    day.go_on()


def _move_folder(day: Day) -> None:
    if day.rng.random() < 0.3:
        day.kill()
    target = day.name("moved")
    branch = day.files.pop(day.path)
    day.path.parent.rename(target)
    day.path = target / day.path.name
    day.files[day.path] = branch
    time.sleep(0.05)
    day.go_on()


def _fill_disk(day: Day) -> None:
    """Let files grow no further for a while."""
    day.kill()
    day.start(room=day.path.stat().st_size + day.rng.choice((0, 4096, 20_000)))
    time.sleep(0.2)
    day.go_on()


def _go_on(day: Day) -> None:
    day.go_on()


EVENTS_OF_DAYS: tuple[Callable[[Day], None], ...] = (
    _kill_one, _go_on, _copy, _fill_disk, _move_folder, _make_anew, _restore, _kill_one, _go_on,
)  # fmt: skip


def _serve(path: Path, names: tuple[str, ...], log: Path, room: int | None) -> None:
    if room is not None:
        # a write beyond fails as one on a full disk does
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        file = JudgingFile(path)
    except SicetnonError:
        os._exit(_REFUSED)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    threads = [threading.Thread(target=_judge, args=(file, name, handle)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _judge(file: JudgingFile, name: str, log: int) -> None:
    rng = Random(name)

    def tell(kind: str, found: list[tuple[str, str]]) -> None:
        text = "".join(f"{kind}\t{key}\t{document}\n" for key, document in found)
        # a full disk is that of the pool, not of the log
        with contextlib.suppress(OSError):
            os.write(log, text.encode())

    while True:
        try:
            items = file.assigned(name, rng.choice((1, 2, 5)))
            keys = {uuid.uuid4().hex: item for item in items}
            actions = [
                Action(key, "vote", item.id, "relevance", rng.choice("012"))
                for key, item in keys.items()
            ]
            tell("tried", [(key, item.document) for key, item in keys.items()])
            receipts = file.record(name, actions)
        except SicetnonError:
            time.sleep(0.01)
            continue
        saved = [each.key for each in receipts if each.outcome == "saved"]
        tell("acknowledged", [(key, keys[key].document) for key in saved])
        if not items:
            time.sleep(0.02)


def _check(path: Path, branch: Branch, others: list[Branch]) -> None:
    """Compare a file with what was told of it, and with its export."""
    with JudgingFile(path) as file:
        with file.reading() as database:
            found = dict(
                database.execute(
                    "SELECT key, document FROM events JOIN items ON items.id = item"
                ).fetchall()
            )
            (sound,) = database.execute("PRAGMA integrity_check").fetchone()
        if sound != "ok":
            raise Lost(f"{path.name}: damaged: {sound}")
        acknowledged, tried = branch.told("acknowledged"), branch.told("tried")
        if missing := (branch.known | acknowledged.keys()) - found.keys():
            raise Lost(f"{path.name}: {len(missing)} acknowledged votes are gone")
        if strange := found.keys() - branch.known - tried.keys():
            raise Lost(f"{path.name}: {len(strange)} votes were not given for it")
        if wrong := [key for key, where in acknowledged.items() if found[key] != where]:
            raise Lost(f"{path.name}: {len(wrong)} votes are on other documents")
        if any(not document.startswith(f"{branch.documents}-") for document in found.values()):
            raise Lost(f"{path.name}: documents of another pool")
        for other in others:
            own = other.told("acknowledged").keys() - branch.known
            if forged := own & found.keys():
                raise Lost(f"{path.name}: {len(forged)} votes of another pool")
        if found:
            export_judgments(file, out := path.with_name(f"{path.name} exported"))
            lines = (out / "votes.jsonl").read_text().splitlines()
            exported = sorted(json.loads(line)["document"] for line in lines)
            if exported != sorted(found.values()):
                raise Lost(f"{path.name}: the export differs")
