"""Measuring builds, queries and commands, each in a process of its own."""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import msgspec

from benchmarks.speed.generate import PORTALS
from benchmarks.speed.lucene import Lucene
from benchmarks.speed.peers import PEERS as IN_PROCESS
from benchmarks.speed.peers import Peer

PEERS: dict[str, type[Peer]] = {**IN_PROCESS, Lucene.name: Lucene}
WARM_UP = 50  # queries before the clock runs
MEASURED_QUERIES = 100  # queries whose memory is measured


class BuildFigures(msgspec.Struct):
    """The cost of a build: wall seconds, peak resident and index size in MB (10^6)."""

    seconds: float
    peak_mb: float
    index_mb: float


class QueryFigures(msgspec.Struct):
    """Milliseconds per query at one depth: median and 99th percentile over the queries."""

    k: int
    median_ms: float
    p99_ms: float


class ProcessFigures(msgspec.Struct):
    """The cost of a command: wall and processor seconds, and peak resident in MB (10^6)."""

    seconds: float
    processor: float
    peak_mb: float


def available(names: Sequence[str]) -> list[str]:
    """The peers that can run here; prints what the others lack."""
    missing = {name: PEERS[name].unavailable() for name in names}
    for name, reason in missing.items():
        if reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)
    return [name for name in names if not missing[name]]


def peak_bytes() -> int:
    """Peak resident memory of this process.

    On Linux, ru_maxrss keeps what the parent held before exec; VmHWM does not.
    """
    status = Path("/proc/self/status")
    match = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    peak = int(match[1]) if match else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)  # macOS counts bytes


def measure_build(name: str, corpus: Path, work: Path) -> BuildFigures:
    """Build with peer `name` in a process of its own; RuntimeError says why it failed."""
    for portal in PORTALS:  # every peer reads from the page cache, not from the disk
        (corpus / f"{portal}.json").read_bytes()
    built = _spawn("build", name, work, corpus, environment=PEERS[name].environment)
    return msgspec.json.decode(built, type=BuildFigures)


def measure_queries(name: str, work: Path, queries: Path, ks: Sequence[int]) -> list[QueryFigures]:
    """Run all queries at every depth in one process; RuntimeError says why it failed."""
    answer = _spawn("query", name, work, queries, *ks)
    return msgspec.json.decode(answer, type=list[QueryFigures])


def measure_query_memory(name: str, work: Path, queries: Path, k: int) -> float:
    """The most bytes that a query takes beyond what is kept, of 100 that were asked before."""
    return msgspec.json.decode(_spawn("memory", name, work, queries, k), type=float)


def measure_command(command: Sequence[str], repeats: int) -> list[float]:
    """Wall seconds of a whole command, several times over; RuntimeError says why it failed."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, check=False)
        taken.append(time.perf_counter() - started)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return taken


def measure_process(command: Sequence[str], environment: Mapping[str, str]) -> ProcessFigures:
    """Run a command once, with more of an environment; RuntimeError says why it failed.

    Its peak is what the system says of it when it has ended. That is never below what this process
    holds now, which must therefore hold little.
    """
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=said, stderr=said, env={**os.environ, **environment}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
        if process.returncode:
            said.seek(0)
            answer = said.read().decode(errors="replace").strip().splitlines()[-1:]
            raise RuntimeError(f"{' '.join(command)}: {''.join(answer)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return ProcessFigures(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def _spawn(*arguments: object, environment: Mapping[str, str] | None = None) -> bytes:
    command = [sys.executable, "-m", "benchmarks.speed.harness", *map(str, arguments)]
    whole = {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, check=False, env=whole)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"exit status {done.returncode}: {''.join(last)}")
    return done.stdout.splitlines()[-1]  # PISA logs to standard output, too


def _child(task: str, name: str, work: str, source: str, *depths: str) -> None:
    peer, where = PEERS[name](), Path(work)
    figures: BuildFigures | list[QueryFigures] | int
    with redirect_stdout(sys.stderr):
        if task == "build":
            seconds = peer.build(Path(source), where)
            peak = peak_bytes() + peer.beside_bytes
            size = sum(path.stat().st_size for path in where.rglob("*"))
            figures = BuildFigures(seconds, peak / 1e6, size / 1e6)
        else:
            peer.open(where)
            lines = Path(source).read_text(encoding="utf-8").splitlines()
            if task == "memory":
                figures = _peak_bytes(peer, lines[:MEASURED_QUERIES], int(depths[0]))
            else:
                figures = [_ask(peer, lines, int(k)) for k in depths]
    print(msgspec.json.encode(figures).decode())


def _peak_bytes(peer: Peer, lines: Sequence[str], k: int) -> int:
    """The most bytes that a query takes, of numpy's arrays and those of compiled code."""
    # what is known of a term is kept from the second time on that it is asked for
    for line in [*lines, *lines]:
        peer.search(line, k)
    most = 0
    tracemalloc.start()
    for line in lines:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        peer.search(line, k)
        most = max(most, tracemalloc.get_traced_memory()[1] - before)
    return most


def _ask(peer: Peer, lines: Sequence[str], k: int) -> QueryFigures:
    for line in lines[:WARM_UP]:
        peer.search(line, k)
    taken = [peer.milliseconds(line, k) for line in lines]
    taken.sort()
    return QueryFigures(k, statistics.median(taken), taken[len(taken) * 99 // 100])


if __name__ == "__main__":
    _child(*sys.argv[1:])
