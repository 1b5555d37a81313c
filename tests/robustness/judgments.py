"""Votes that are killed: what was acknowledged is there, nothing is there twice, quotas hold."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random

from robustness.trials import Lost, Trial
from sicetnon.judging import JudgingFile
from sicetnon.judging.votes import events, standing_votes
from support.databases import opened_database
from support.judging_cases import pool, undo, vote

ASSESSORS = ("anna", "bert", "cleo")
VOTES, QUOTA = 2, 30
SECONDS = 0.12
"""The longest time that assessors judge before they are killed."""


def prepare(folder: Path) -> Trial:
    """A pool, judged by processes that are killed between two acknowledgements."""
    made = pool(folder / "pool.sqlite", count=40, votes=VOTES, quota=QUOTA)

    def trial(seed: int, own: Path) -> None:
        rng, path = Random(seed), own / "pool.sqlite"
        shutil.copy(made, path)
        acknowledged: dict[str, str] = {}
        # the file is opened, killed and opened again
        for part in range(rng.randint(1, 3)):
            acknowledged |= _killed(path, own / f"log {part}", rng)
        _check(path, acknowledged)

    return trial


def _killed(path: Path, log: Path, rng: Random) -> dict[str, str]:
    """Kill assessors at work; the actions that were acknowledged to them, by key."""
    context = multiprocessing.get_context("fork")
    names = ASSESSORS[: rng.randint(1, len(ASSESSORS))]
    children = [
        context.Process(target=partial(_judge, path, log.with_name(f"{log.name} {name}"), name))
        for name in names
    ]
    for child in children:
        child.start()
    time.sleep(rng.uniform(0, SECONDS))
    for child in children:
        child.kill()
    for child in children:
        child.join()
    found = {}
    for name in names:
        told = log.with_name(f"{log.name} {name}")
        if told.exists():
            lines = told.read_text().split("\n")
            # a line without its end was not told
            found |= dict.fromkeys(lines[:-1], name)
    return found


def _judge(path: Path, log: Path, name: str) -> None:
    rng = Random(name)
    with JudgingFile(path) as file, log.open("ab", buffering=0) as told:
        done = []
        while items := file.assigned(name, 2):
            actions = [vote(item.id, rng.choice(["0", "1", "2"])) for item in items]
            if done and rng.random() < 0.1:
                actions.append(undo(done.pop()))
            for action, receipt in zip(actions, file.record(name, actions), strict=True):
                if receipt.outcome == "saved":
                    os.write(told.fileno(), f"{action.key}\n".encode())
                    done += [action] if action.kind == "vote" else []


def _check(path: Path, acknowledged: dict[str, str]) -> None:
    with JudgingFile(path) as file:
        votes = standing_votes(file)
        count = len(list(events(file)))
        # work goes on
        file.assigned("dora", 1)
    with opened_database(path) as database:
        rows = database.execute(
            "SELECT key, name FROM events JOIN assessors ON assessors.id = assessor"
        ).fetchall()
        (sound,) = database.execute("PRAGMA integrity_check").fetchone()
    if sound != "ok":
        raise Lost(f"the file is damaged: {sound}")
    if missing := acknowledged.items() - set(rows):
        raise Lost(f"{len(missing)} acknowledged actions are gone")
    if len({key for key, _ in rows}) != count:
        raise Lost("an action is there twice")
    if max(Counter(each.document for each in votes).values(), default=0) > VOTES:
        raise Lost("a document has more votes than are wanted")
    if max(Counter(each.assessor for each in votes).values(), default=0) > QUOTA:
        raise Lost("an assessor has more documents than the quota")
