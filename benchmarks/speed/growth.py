"""Measures how the cost of an index grows with its documents, and prints a table and slopes.

    python -m benchmarks.speed.growth --from DIR --work DIR [--sizes 400000 1000000 2000000]

DIR of `--from` is a corpus of args.me, of which `generate.py` makes documents of some 30 words.
For each size a corpus is made where it is missing in DIR of `--work`, and an index built in a
process of its own. Then 1,000 queries of 3 to 8 words are asked, the indexes taking turns; a
query's time is its lowest of three rounds. Last comes the most memory that one of 100 warm queries
takes. A slope is the exponent p with which a figure grows between two sizes, as documents to the
power of p: 1 is linear, 0.5 the square root.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.speed.harness import measure_build, measure_query_memory
from benchmarks.speed.latency import Asked
from benchmarks.speed.peers import SicEtNon

SIZES = (400_000, 1_000_000, 2_000_000)
DEPTHS = (10, 1000)
QUERIES, ROUNDS = 1000, 3


def main() -> int:
    """Measure each size, and print its figures and slopes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="DIR")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    given = parser.parse_args()
    sizes = sorted(given.sizes)
    print(row("documents", ["build s", "peak MB", "index MB"]))
    rows = [built(given.source, given.work, size) for size in sizes]
    for line in with_slopes(sizes, rows):
        print(line, flush=True)
    print(row("documents", [f"{what} k={k}" for k in DEPTHS for what in ("ms", "p99")]))
    for line in with_slopes(sizes, asked(given.work, sizes)):
        print(line, flush=True)
    print(row("documents", [f"query MB k={k}" for k in DEPTHS]))
    for line in with_slopes(sizes, [query_memory(given.work, sizes[0], size) for size in sizes]):
        print(line, flush=True)
    return 0


def built(source: Path, work: Path, size: int) -> list[float]:
    """Seconds, peak memory and size of an index of so many documents."""
    corpus, index = _places(work, size)
    if not (corpus / "queries.txt").exists():
        generate = [sys.executable, "-m", "benchmarks.speed.generate", "--from", str(source)]
        options = ["--short", "--arguments", str(size), "--queries", str(QUERIES)]
        subprocess.run([*generate, *options, "-o", str(corpus)], check=True, stdout=sys.stderr)
    figures = measure_build(SicEtNon.name, corpus, index)
    return [figures.seconds, figures.peak_mb, figures.index_mb]


def asked(work: Path, sizes: list[int]) -> list[list[float]]:
    """For each size the median and the 99th percentile of the times of queries, at each depth."""
    queries = (_places(work, sizes[0])[0] / "queries.txt").read_text("utf-8").splitlines()
    processes = [Asked("BM25", SicEtNon.name, _places(work, size)[1]) for size in sizes]
    rows: list[list[float]] = [[] for _ in sizes]
    for k in DEPTHS:
        # the first round warms up
        rounds = [[each.times(queries, k) for each in processes] for _ in range(ROUNDS + 1)]
        for place, figures in enumerate(rows):
            lowest = np.min([taken[place] for taken in rounds[1:]], axis=0)
            figures += [float(np.median(lowest)), float(np.percentile(lowest, 99))]
    for each in processes:
        each.close()
    return rows


def query_memory(work: Path, first: int, size: int) -> list[float]:
    """The most memory that a warm query takes, at each depth; the queries are those of `asked`."""
    queries, index = _places(work, first)[0] / "queries.txt", _places(work, size)[1]
    return [measure_query_memory(SicEtNon.name, index, queries, k) / 1e6 for k in DEPTHS]


def with_slopes(sizes: list[int], rows: list[list[float]]) -> list[str]:
    """A line for each size; in brackets the slope from the size before."""
    lines = []
    for place, figures in enumerate(rows):
        cells = [f"{value:,.2f}" for value in figures]
        if place:
            step = math.log(sizes[place] / sizes[place - 1])
            slopes = [math.log(a / b) / step for a, b in zip(figures, rows[place - 1], strict=True)]
            cells = [f"{cell} ({slope:.2f})" for cell, slope in zip(cells, slopes, strict=True)]
        lines.append(row(f"{sizes[place]:,}", cells))
    return lines


def row(head: str, cells: list[str]) -> str:
    """A line of the table."""
    return head.rjust(12) + "".join(cell.rjust(18) for cell in cells)


def _places(work: Path, size: int) -> tuple[Path, Path]:
    return work / f"corpus-{size}", work / f"index-{size}"


if __name__ == "__main__":
    sys.exit(main())
