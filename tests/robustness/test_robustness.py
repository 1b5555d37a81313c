"""The short form of the harness: every check with few trials, and the harness itself."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from robustness import judging_days, trials
from robustness.harness import CHECKS
from robustness.trials import Check, Lost, Trial, run_check

SHORT = {
    "kills": 8,
    "judgments": 8,
    "judging-days": 1,
    "pools": 40,
    "links": 12,
    "power-cuts": 24,
    "damages": 6,
    "crafted": 5,
    "compiled": 5,
    "inputs": 1500,
    "bombs": 4,
    "questions": 120,
    "expressions": 30,
    "requests": 25,
    "services": 8,
}


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_is_lost_and_nothing_ends_in_a_stack_trace(name: str) -> None:
    if name == "power-cuts" and shutil.which("strace") is None:
        pytest.skip("needs strace")
    check = CHECKS[name]
    if name == "judging-days":
        check = replace(check, prepare=partial(judging_days.prepare, 400))
    # the seeds differ from those of the long form
    tally = run_check(check, range(10**6, 10**6 + SHORT[name]))
    assert tally.trials == SHORT[name]
    failures = [(seed, outcome, known[-900:]) for seed, outcome, known in tally.examples]
    assert not failures, "\n".join(f"--only {name} --seed {s}: {o}: {k}" for s, o, k in failures)


def test_failures_are_counted_with_their_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(_: Path) -> Trial:
        return trial

    def trial(seed: int, folder: Path) -> None:
        assert folder.is_dir()
        if seed == 1:
            raise Lost("a file")
        if seed == 2:
            os.kill(os.getpid(), signal.SIGSEGV)
        if seed == 3:
            bytearray(1 << 30)
        while seed == 4:
            pass
        if seed == 5:
            raise ValueError("no clear line")

    # of processor time, which is the same on a busy machine
    monkeypatch.setattr(trials, "SECONDS", 1)
    tally = run_check(Check("each kind", 7, prepare, memory=1 << 28), range(7))
    assert tally.trials == 7
    found = {seed: outcome for seed, outcome, _ in tally.examples}
    assert found == {1: "lost", 2: "crash", 3: "memory", 4: "hang", 5: "trace"}
