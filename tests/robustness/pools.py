"""Stale logs and replaced pools: no vote moves to other documents, none is acknowledged in vain."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from robustness.trials import Lost, Trial
from sicetnon.errors import DataError, UsageError
from sicetnon.judging import JudgingFile, NotSavedError
from sicetnon.judging.votes import events
from support.judging_cases import GONE, killed_log, outcomes, pool, vote


def prepare(folder: Path) -> Trial:
    """A pool with some votes, two states of it, and logs of programs that were killed."""
    first = pool(folder / "first", 60)
    states = []
    with JudgingFile(first) as file:
        for item in range(1, 4):
            file.record("anna", [vote(item)])
            shutil.copy(first, folder / f"state {item}")
            states.append(folder / f"state {item}")
    logs = [(kind, killed_log(each, kind)) for each in states for kind in ("wal", "journal")]

    def trial(seed: int, own: Path) -> None:
        rng = Random(seed)
        if rng.random() < 0.5:
            _stale(own, states, *rng.choice(logs), rng)
        else:
            _gone(own, rng)

    return trial


def _stale(own: Path, states: list[Path], kind: str, log: Path, rng: Random) -> None:
    """Put the log of a pool beside another one, or beside another state of it."""
    path = own / "pool"
    beside = path.with_name(f"pool-{kind}")
    data = log.read_bytes()
    if rng.random() < 0.3:
        data = data[: rng.randrange(len(data))]
    if rng.random() < 0.5:
        beside.write_bytes(data)
        try:
            pool(path, 60)
        except UsageError:
            beside.unlink()
            pool(path, 60)
        wanted = 0
    else:
        others = [each for each in states if log.name != f"log of {each.name}"]
        # the log of a state fits the one after, too, which it leads to
        if kind == "journal":
            others = [each for each in others if each.name < log.name.removeprefix("log of ")]
        if not others:
            return
        chosen = rng.choice(others)
        wanted = int(chosen.name.split()[1])
        shutil.copy(chosen, path)
        beside.write_bytes(data)
    try:
        found = _count(path)
    except DataError:
        beside.unlink(missing_ok=True)
        found = _count(path)
    if found != wanted:
        raise Lost(f"{found} votes in place of {wanted}, after the {kind} of {log.name}")


def _count(path: Path) -> int:
    with JudgingFile(path) as file:
        return len(list(events(file)))


def _gone(own: Path, rng: Random) -> None:
    """Judge a pool that goes meanwhile."""
    folder = own / "folder"
    folder.mkdir()
    path, gone = pool(folder / "pool"), rng.choice(GONE)
    with JudgingFile(path) as file, JudgingFile(path) as other:
        for number in range(rng.randrange(3)):
            file.record("anna", [vote(number + 1)])
        gone(path)
        for each in (file, other):
            try:
                receipts = each.record("bert", [vote(9)])
            except NotSavedError:
                continue
            raise Lost(f"{outcomes(receipts)} after {gone.__name__}")
    if gone.__name__ in ("replace", "write_over", "make_anew") and _count(path):
        raise Lost(f"votes of another pool, after {gone.__name__}")
