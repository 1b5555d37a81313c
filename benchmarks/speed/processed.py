"""Indexes a table of 365,408 processed arguments and prints rows a second and memory.

    python -m benchmarks.speed.processed [--rows N]

The table is the one at hand, repeated with ids of their own until it has as many rows as the
official one (2022 task 1); it lies in a temporary folder and is deleted again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import tempfile
from pathlib import Path

from benchmarks.bench import DATA
from benchmarks.speed.harness import measure_process

OFFICIAL_ROWS = 365_408


def repeat(source: Path, target: Path, rows: int) -> None:
    """Writes a table of so many rows, every id once."""
    csv.field_size_limit(1 << 30)
    with source.open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        place = header.index("id")
        for number, row in enumerate(itertools.islice(itertools.cycle(found), rows)):
            identifier = row[place]
            # an id begins with its debate, and its sentences begin with it
            own = f"{identifier}x{number // len(found)}"
            writer.writerow([value.replace(identifier, own) for value in row])


def main() -> None:
    """Writes the table, indexes it, prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=OFFICIAL_ROWS)
    rows = parser.parse_args().rows
    source = DATA / "touche-2022-task-1" / "input" / "args_processed_04_01.csv"
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / source.name
        repeat(source, table, rows)
        size = table.stat().st_size / 1e9
        command = [sys.executable, "-m", "sicetnon", "index", "build", str(table)]
        figures = measure_process([*command, "-o", str(Path(scratch) / "index")], {})
        speed, memory = rows / figures.seconds, figures.peak_mb
        print(f"{rows:,} rows, {size:.2f} GB: {figures.seconds:.1f} s, {speed:,.0f} rows/s", end="")
        print(f", {figures.processor:.1f} s of processors, {memory:.0f} MB")


if __name__ == "__main__":
    main()
