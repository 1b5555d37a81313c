"""Times Sic et Non beside its peers in one run, taking turns, and prints medians and ratios.

    python -m benchmarks.speed --corpus DIR [--repeats 3] [--only sicetnon tantivy]

DIR is a corpus of `generate.py` with its `queries.txt`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.speed.harness import (
    PEERS,
    BuildFigures,
    QueryFigures,
    available,
    measure_build,
    measure_command,
    measure_queries,
)
from benchmarks.speed.peers import SicEtNon

DEPTHS = (10, 1000)
OWN = SicEtNon.name


def main() -> int:
    """Measure, print, and return how many peers failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--corpus", type=Path, required=True, metavar="DIR")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the indexes here")
    given = parser.parse_args()
    names = available(given.only)
    with tempfile.TemporaryDirectory(prefix="speed-") as scratch:
        work = given.work or Path(scratch)
        builds, queries, failures = _measure(names, given.corpus, work, given.repeats)
        _print_peers(builds, queries)
        for failure in failures:
            print(failure)
        _print_commands(given.corpus, work / "commands", given.repeats)
    return len(failures)


def _measure(
    names: list[str], corpus: Path, work: Path, repeats: int
) -> tuple[dict[str, list[BuildFigures]], dict[str, list[list[QueryFigures]]], list[str]]:
    builds: dict[str, list[BuildFigures]] = {name: [] for name in names}
    queries: dict[str, list[list[QueryFigures]]] = {name: [] for name in names}
    failures = []
    for repeat in range(repeats):
        for name in names:
            try:
                builds[name].append(measure_build(name, corpus, work / name))
                asked = measure_queries(name, work / name, corpus / "queries.txt", DEPTHS)
                queries[name].append(asked)
            except RuntimeError as error:
                failures.append(f"{name} failed: {error}")
        print(f"round {repeat + 1} of {repeats} done", file=sys.stderr)
    return builds, queries, failures


def _print_peers(
    builds: dict[str, list[BuildFigures]], queries: dict[str, list[list[QueryFigures]]]
) -> None:
    heads = ["build s", "peak MB", "index MB"]
    heads += [f"{what} k={k}" for k in DEPTHS for what in ("median", "p99")]
    rows = {
        name: [
            statistics.median(b.seconds for b in builds[name]),
            statistics.median(b.peak_mb for b in builds[name]),
            statistics.median(b.index_mb for b in builds[name]),
            *(
                statistics.median(values)
                for figures in zip(*queries[name], strict=True)
                for values in ([q.median_ms for q in figures], [q.p99_ms for q in figures])
            ),
        ]
        for name in builds
        if builds[name] and queries[name]
    }
    print("medians over the rounds; queries in ms; in brackets the ratio to sicetnon")
    print("peer".ljust(12) + "".join(head.rjust(18) for head in heads))
    own = rows.get(OWN)
    for name, row in rows.items():
        cells = [
            f"{value:,.2f}" + (f" ({value / mine:.2f})" if own and name != OWN else "")
            for value, mine in zip(row, own or row, strict=True)
        ]
        print(name.ljust(12) + "".join(cell.rjust(18) for cell in cells), flush=True)


def _print_commands(corpus: Path, work: Path, repeats: int) -> None:
    """Time whole commands on the task's own index, as a user starts them."""
    program = [sys.executable, "-m", "sicetnon"]
    index = str(work / "index")
    work.mkdir(parents=True, exist_ok=True)
    run = [*program, "run", "touche-2020-task-1", "-i", str(corpus), "-o", str(work / "out")]
    commands = {
        "index (task's analysis)": [*program, "index", "build", str(corpus), "-o", index],
        "run, warm index, all topics": [*run, "--index", index],
        "search": [*program, "search", "Should teachers get tenure?", "--index", index],
        "--help": [*program, "--help"],
    }
    print("\nwhole commands, wall seconds: median (lowest to highest)")
    for name, command in commands.items():
        taken = measure_command(command, repeats)
        spread = f"({min(taken):.2f} to {max(taken):.2f})"
        print(f"{name.ljust(30)} {statistics.median(taken):6.2f} {spread}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
