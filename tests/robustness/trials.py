"""Trials in child processes: a crash or a hang costs one trial, and its seed is known.

A check is a number of trials. A trial is a function of a seed and an empty folder that raises where
the program breaks a promise. Children do the trials one after the other, and tell where they are.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.small_indexes import passing_folder

Trial = Callable[[int, Path], None]
OUTCOMES = ("lost", "crash", "hang", "memory", "trace")
SECONDS = 10
"""Processor seconds that a trial may take."""
IDLE_SECONDS = 120
"""Seconds that a trial may wait for something, on a machine that is busy."""
MEMORY = 1 << 30
"""Bytes that a child may take, besides those it starts with."""
BATCH = 5000
"""Trials of one child."""


class Lost(Exception):
    """Something acknowledged is gone, or something damaged was passed on as whole."""


@dataclass(frozen=True)
class Check:
    """A number of trials.

    Attributes:
        name: Its name.
        trials: Number of trials of the long form.
        prepare: Makes what all trials share in a folder, and returns the trial.
        memory: Bytes that a child may take, besides those it starts with.
        seconds: Processor seconds that a trial may take, and that it may wait; the usual ones when
            left out.
    """

    name: str
    trials: int
    prepare: Callable[[Path], Trial]
    memory: int = MEMORY
    seconds: int | None = None


@dataclass
class Tally:
    """The outcomes of the trials of a check.

    Attributes:
        trials: Number of trials that were done.
        outcomes: Number of failures by outcome.
        examples: Seeds of some failures, with their outcomes and what is known of them.
        seconds: Time that all of them took.
    """

    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[int, str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, seed: int, outcome: str, known: str = "") -> None:
        """Count the failure of a trial."""
        self.outcomes[outcome] += 1
        if len(self.examples) < 100:
            self.examples.append((seed, outcome, known))


def run_check(check: Check, seeds: range) -> Tally:
    """Do the trials of a check, in child processes."""
    tally, begin = Tally(), time.monotonic()
    with passing_folder() as shared:
        trial = check.prepare(shared)
        start = seeds.start
        while start < seeds.stop:
            part = range(start, min(start + BATCH, seeds.stop))
            start = _batch(trial, part, check, tally)
    tally.seconds = time.monotonic() - begin
    return tally


def run_trial(check: Check, seed: int) -> None:
    """Do one trial in this process; its errors are the caller's."""
    with passing_folder() as shared, passing_folder() as folder:
        check.prepare(shared)(seed, folder)


def _batch(trial: Trial, seeds: range, check: Check, tally: Tally) -> int:
    """Do some trials in one child; the seed of the first one that is left."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(trial, seeds, check.memory, writing)
    os.close(writing)
    current, ended, is_hanging = seeds.start, seeds.start, False
    with os.fdopen(reading, "rb") as told:
        for line in _lines(told.fileno(), child, check.seconds):
            if line is None:
                is_hanging = True
                os.killpg(child, signal.SIGKILL)
                break
            seed, outcome, known = json.loads(line)
            if outcome == "begins":
                current = seed
                continue
            ended = seed + 1
            tally.trials += 1
            if outcome != "fine":
                tally.note(seed, outcome, known)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended == seeds.stop and not status:
        return ended
    tally.trials += 1
    tally.note(current, "hang" if is_hanging else "crash", f"exit status {status}")
    return current + 1


def _lines(handle: int, child: int, seconds: int | None) -> Iterator[bytes | None]:
    """The lines that a child tells; None once it says nothing for too long."""
    rest, since, used = b"", time.monotonic(), 0.0
    while True:
        if not select.select([handle], [], [], 1.0)[0]:
            if _processor_seconds(child) - used > (seconds or SECONDS):
                yield None
                return
            if time.monotonic() - since > (seconds or IDLE_SECONDS):
                yield None
                return
            continue
        data = os.read(handle, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        since, used = time.monotonic(), _processor_seconds(child)


def _processor_seconds(child: int) -> float:
    """The processor time of a child and of its own children that have ended."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _work(trial: Trial, seeds: range, memory: int, writing: int) -> None:
    """Do trials, and end this process."""

    def tell(*what: object) -> None:
        os.write(writing, json.dumps(what).encode() + b"\n")

    try:
        os.setpgid(0, 0)
        faulthandler.disable()
        silence = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(silence, handle)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(memory)
        with passing_folder() as folder:
            for seed in seeds:
                tell(seed, "begins", "")
                tell(seed, *_outcome(trial, seed, folder / str(seed)))
        os._exit(0)
    finally:
        os._exit(99)


def _limit_memory(memory: int) -> None:
    data = next(
        int(line.split()[1]) << 10
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmData:")
    )
    resource.setrlimit(resource.RLIMIT_DATA, (data + memory, resource.RLIM_INFINITY))


def _outcome(trial: Trial, seed: int, folder: Path) -> tuple[str, str]:
    folder.mkdir()
    try:
        trial(seed, folder)
    except Lost as error:
        return "lost", str(error)[:2000]
    except MemoryError as error:
        return "memory", repr(error)[:200]
    except BaseException:
        return "trace", traceback.format_exc()[-3000:]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return "fine", ""
