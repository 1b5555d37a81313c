"""Loads a cluster of three nodes beside a folder: documents per second, memory and disk.

python -m benchmarks.cluster.loading CORPUS
python -m benchmarks.cluster.loading SMALL LARGER LARGEST --workers 2 --replicas 0

Each corpus is loaded with each number of workers and of further copies, in a process of its own,
so that peak memory is that of one load. The first corpus is loaded once before, which counts for
nothing: nodes that have just started are slow until their code is compiled. Processor seconds are
those of the client alone. Disk is that of one copy of the records, terms and bounds, after each
shard was merged into one segment.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.cluster.nodes import started
from benchmarks.speed.harness import peak_bytes
from sicetnon.app.index import Index
from sicetnon.cluster.build import ClusterOptions
from sicetnon.errors import counted

ANALYSIS = "porter-stop"
SHARDS = 3


class Loaded(msgspec.Struct):
    """The cost of a load: documents, wall and processor seconds, peak memory in MB (10^6)."""

    documents: int
    seconds: float
    processor: float
    peak_mb: float


def main() -> None:
    """Print a table of loads."""
    options = _options()
    if options.load:
        print(msgspec.json.encode(_load(options)).decode())
        return
    print(f"load average at first: {os.getloadavg()[0]:.1f}\n")
    print("| documents | into | clock | processor | documents per second | peak memory | disk |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with started(3) as cluster:
        _spawned(options.corpora[0], cluster.address("speed"), 2, 0)
        for corpus in options.corpora:
            with tempfile.TemporaryDirectory() as folder:
                loaded = _spawned(corpus, f"{folder}/index", 0, 0)
                _print("a folder", loaded, _size(Path(folder)))
            for replicas in options.replicas:
                for workers in options.workers:
                    loaded = _spawned(corpus, cluster.address("speed"), workers, replicas)
                    name = f"{counted(workers, 'worker')}, replicas {replicas}"
                    _print(name, loaded, _disk(cluster))
    print(f"\nload average at last: {os.getloadavg()[0]:.1f}")


def _spawned(corpus: Path, place: str, workers: int, replicas: int) -> Loaded:
    command = [sys.executable, "-m", "benchmarks.cluster.loading", str(corpus), "--load", place]
    command += ["--workers", str(workers), "--replicas", str(replicas)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Loaded)


def _load(options: argparse.Namespace) -> Loaded:
    (corpus,), (workers,), (replicas,) = options.corpora, options.workers, options.replicas
    loading = ClusterOptions(shards=SHARDS, replicas=replicas, workers=workers) if workers else None
    begin = time.perf_counter()
    index = Index.build(corpus, options.load, analysis=ANALYSIS, cluster=loading)
    seconds, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
    count = len(index)
    index.close()
    return Loaded(count, seconds, used.ru_utime + used.ru_stime, peak_bytes() / 1e6)


def _print(name: str, loaded: Loaded, disk: float) -> None:
    print(
        f"| {loaded.documents:,} | {name} | {loaded.seconds:.1f} s | {loaded.processor:.1f} s | "
        f"{loaded.documents / loaded.seconds:,.0f} | {loaded.peak_mb:.0f} MB | {disk:.0f} MB |",
        flush=True,
    )


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _disk(cluster: Any) -> float:
    """Megabytes of one copy of all documents, merged."""
    cluster.ask("speed/_forcemerge?max_num_segments=1", "POST")
    cluster.ask("speed/_flush", "POST")
    sizes = []
    for _ in range(5):  # files of segments that were merged go a little later
        found = cluster.ask("speed/_stats/store?filter_path=_all.primaries")
        sizes.append(float(found["_all"]["primaries"]["store"]["size_in_bytes"]) / 1e6)
        time.sleep(1)
    return min(sizes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("corpora", type=Path, nargs="+", metavar="CORPUS")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--replicas", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--load", metavar="PLACE", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
