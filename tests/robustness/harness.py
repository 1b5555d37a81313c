"""All checks, the command that does them, and the table that it prints."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial

from robustness import (
    attacks,
    bombs,
    damages,
    inputs,
    judging_days,
    judgments,
    kills,
    links,
    pools,
    power_cuts,
    questions,
)
from robustness.crafted import crafted
from robustness.damage import damage
from robustness.trials import OUTCOMES, Check, Tally, run_check, run_trial

CHECKS = {
    check.name: check
    for check in (
        Check("kills", 1_000, kills.prepare),
        Check("judgments", 500, judgments.prepare),
        Check("judging-days", 1, partial(judging_days.prepare, 20_000), seconds=1200),
        Check("pools", 2_000, pools.prepare),
        Check("links", 2_000, links.prepare),
        Check("power-cuts", 20_000, power_cuts.prepare),
        Check("damages", 2_000, partial(damages.prepare, damage, False)),
        Check("crafted", 200, partial(damages.prepare, crafted, True)),
        Check("compiled", 2_000, partial(damages.prepare, crafted, True, is_compiled=True)),
        Check("inputs", 100_000, inputs.prepare),
        Check("bombs", len(bombs.BOMBS), bombs.prepare),
        Check("questions", 50_000, questions.prepare),
        Check("expressions", 20_000, attacks.prepare_expressions),
        Check("requests", 5_000, attacks.prepare_requests),
        Check("services", 500, attacks.prepare_services),
    )
}


def main(arguments: Sequence[str]) -> int:
    """Do checks and print their table; 1 where any trial failed.

    The check `clusters` has options and a table of its own.
    """
    if arguments and arguments[0] == "clusters":
        # it needs a client that others do not
        from robustness.clusters import main as break_clusters

        return break_clusters(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument(
        "checks",
        nargs="*",
        help=f"of {', '.join(CHECKS)}, or clusters alone; all but that when left out",
    )
    parser.add_argument("--trials", type=int, help="trials of each check")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the trials, such as 0.01"
    )
    parser.add_argument("--first", type=int, default=0, help="the seed of the first trial")
    parser.add_argument("--only", metavar="CHECK", help="do one trial again, in this process")
    parser.add_argument("--seed", type=int, default=0, help="its seed")
    given = parser.parse_args(arguments)
    if unknown := {*given.checks, *filter(None, [given.only])} - CHECKS.keys():
        parser.error(f"unknown check {', '.join(sorted(unknown))}; expected of {', '.join(CHECKS)}")
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    if given.only:
        run_trial(CHECKS[given.only], given.seed)
        print("fine")
        return 0
    tallies = {}
    for name in given.checks or CHECKS:
        check = CHECKS[name]
        trials = given.trials or max(1, round(check.trials * given.share))
        tallies[name] = run_check(check, range(given.first, given.first + trials))
        _print_examples(name, tallies[name])
    print_table(tallies)
    return int(any(tally.outcomes for tally in tallies.values()))


def _print_examples(name: str, tally: Tally) -> None:
    for seed, outcome, known in tally.examples:
        last = known.strip().splitlines()[-1:] or [""]
        print(f"{outcome}: --only {name} --seed {seed}: {last[0][:300]}", flush=True)


def print_table(tallies: dict[str, Tally]) -> None:
    """A line for each check: its trials, its failures by outcome, its time."""
    columns = ("check", "trials", *OUTCOMES, "seconds")
    print("".join(f"{column:>13}" for column in columns))
    for name, tally in tallies.items():
        counts = [tally.outcomes[outcome] for outcome in OUTCOMES]
        cells = (name, f"{tally.trials:,}", *counts, f"{tally.seconds:.0f}")
        print("".join(f"{cell:>13}" for cell in cells), flush=True)
