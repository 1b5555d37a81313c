"""Time and memory of the validator for a run of a million lines.

    PYTHONPATH=src python -m benchmarks.speed.validation [LINES]     (Linux)

Each form of the run is validated in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sicetnon.validation import validate

TASK, PAIRS = "touche-2022-task-2", "touche-2022-task-1"
TOPIC_LINES = 1000


def rows(count: int) -> Iterator[list[str]]:
    """The columns of a sound run with made-up ids."""
    rng = random.Random(1)
    for number in range(count):
        topic, rank = divmod(number, TOPIC_LINES)
        document = f"clueweb12-{rng.randrange(2000):04d}wb-{number % 100:02d}-{number:05d}___{rank}"
        score = repr(99 - rank / 11 - rng.random() / 20)
        yield [str(topic + 1), "FIRST", document, str(rank + 1), score, "benchmark-run"]


def forms(table: list[list[str]]) -> Iterator[tuple[str, str, Iterator[str]]]:
    """Name, task and lines of the forms that a run may have."""
    yield "strict", TASK, (" ".join(row) for row in table)
    yield "tabs", TASK, ("\t".join(row) for row in table)
    yield "tags with spaces", TASK, (f"{' '.join(row)} two" for row in table)
    by_rank = sorted(table, key=lambda row: int(row[3]))
    yield "sorted by rank", TASK, (" ".join(row) for row in by_rank)
    pairs = ([row[0], "PRO", f"{row[2]},{row[2]}__CONC__1", *row[3:]] for row in table)
    yield "pairs", PAIRS, (" ".join(row) for row in pairs)


def measure(path: Path, task: str, topics: list[str]) -> tuple[float, float, list[str]]:
    """Seconds, MiB at the peak, and the rules that were broken."""
    before = time.perf_counter()
    validation = validate(path, task, topics)
    seconds = time.perf_counter() - before
    # getrusage would give the peak of the process that started this one, where that is higher
    status = Path("/proc/self/status").read_text("ascii")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    return (
        seconds,
        int(peak) / 1024,
        [f"{finding.rule} ({finding.count:,})" for finding in validation.findings],
    )


def main() -> None:
    """Print a line a form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lines", type=int, nargs="?", default=1_000_000, metavar="LINES")
    table = list(rows(parser.parse_args().lines))
    topics = sorted({row[0] for row in table})
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.txt"
        for name, task, lines in forms(table):
            with path.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            # a fresh interpreter, which does not hold the table
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, peak, found = pool.apply(measure, (path, task, topics))
            print(f"{name:17} {seconds:5.2f} s {peak:5.0f} MiB  {', '.join(found) or 'sound'}")


if __name__ == "__main__":
    main()
