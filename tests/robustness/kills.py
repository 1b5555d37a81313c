"""Kills: an index is as it was or as it should be, a run is whole or absent, and work goes on."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from robustness.commands import command
from robustness.trials import Lost, Trial
from sicetnon.errors import BrokenIndexError
from sicetnon.index.writing import BuildOptions, build_index
from support.command_line import ROOT, TASK
from support.index_cases import PORTER, Documents, check_tidy, content_of, counted, entries
from support.index_faults import (
    CHANGES,
    NEW,
    OLD,
    OLD_CONTENT,
    at_moment,
    count_moments,
    die,
    forked,
    rebuild,
)

SAMPLE = ROOT / "examples" / "touche-2020-task-1" / "input"
OUTPUTS = ("run.txt", "ir-metadata.yml")
Work = Callable[[Path], object]


def prepare(folder: Path) -> Trial:
    """Changes of an index and runs, with their moments and durations."""
    build_index(entries(OLD), folder / "old", BuildOptions(PORTER))
    sample = folder / "sample"
    for option in (["-o", folder / "whole", "--index", sample],) * 2:
        if command("run", TASK, "-i", SAMPLE, "-k", 5, *option).status:
            raise AssertionError("the sample cannot be run")
    whole = (folder / "whole" / OUTPUTS[0]).read_bytes()
    # what is compiled is compiled before anything is timed
    works: dict[str, Work] = {name: change for name, (change, _) in CHANGES.items()}
    works |= {"first": rebuild, "run": partial(_run, sample)}
    moments, seconds = {}, {}
    for name, work in works.items():
        place = folder / "measured" / name
        _begin(name, folder, place)
        begin = time.monotonic()
        moments[name] = count_moments(partial(work, place), folder)
        seconds[name] = time.monotonic() - begin

    def trial(seed: int, own: Path) -> None:
        rng = Random(seed)
        name = rng.choice(sorted(works))
        place = own / "new" / "place"
        _begin(name, folder, place)
        work = partial(works[name], place)
        if rng.random() < 0.5:
            work = partial(at_moment, rng.randint(1, moments[name]), die, work)
            # a moment that is not reached lets the work end
            if forked(work, own / "errors") != -signal.SIGKILL and (own / "errors").read_text():
                raise AssertionError((own / "errors").read_text())
        else:
            _kill_after(rng.uniform(0, seconds[name]), work)
        if name == "run":
            _check_run(place, whole)
            _run(sample, place)
            _check_run(place, whole, is_done=True)
        else:
            _check_index(name, place)

    return trial


def _begin(name: str, folder: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if name in CHANGES:
        shutil.copytree(folder / "old", place)


def _run(index: Path, place: Path) -> None:
    done = command("run", TASK, "-i", SAMPLE, "-o", place, "--index", index, "-k", 5)
    if done.status:
        raise AssertionError(done.error)


def _kill_after(seconds: float, work: Callable[[], object]) -> None:
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    time.sleep(seconds)
    child.kill()
    child.join()


def _check_run(place: Path, whole: bytes, is_done: bool = False) -> None:
    """A run is whole, or absent; what was not finished bears a name of its own."""
    path = place / OUTPUTS[0]
    if path.exists() and path.read_bytes() != whole:
        raise Lost(f"{path} is neither whole nor absent")
    if is_done and not all((place / name).exists() for name in OUTPUTS):
        raise Lost(f"{path} is absent after a run")


def _check_index(name: str, place: Path) -> None:
    after: Documents = CHANGES[name][1] if name in CHANGES else NEW
    try:
        found = content_of(place)
    except BrokenIndexError:
        if name != "first":
            raise Lost(f"{name}: the index is broken") from None
    else:
        if found not in ([OLD_CONTENT] if name != "first" else []) + [counted(after, PORTER)]:
            raise Lost(f"{name}: the index is neither old nor new")
    rebuild(place)
    check_tidy(place)
    if content_of(place) != counted(NEW, PORTER):
        raise Lost(f"{name}: the next change is not what it should be")
