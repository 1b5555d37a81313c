"""Faults of a real cluster of three nodes, while a build and searches go on.

python -m tests.robustness clusters --trials 20

In each trial a build is begun and a fault follows; questions are asked meanwhile, and the answers
are compared with those of a folder. Then the fault ends, the build must be whole, and questions
must be answered as before. A killed client is another process that loads and searches.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sicetnon.app.index import Index
from sicetnon.cluster.address import parse_address
from sicetnon.cluster.build import ClusterOptions, build_on_cluster
from sicetnon.errors import SicetnonError
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.writing import BuildOptions
from sicetnon.text.analysis import named_analysis
from support.cluster_faults import (
    FAULTS,
    SMALL_QUEUES,
    Answers,
    Site,
    Watched,
    answers,
    site_of,
    watch,
    write_documents,
)
from support.cluster_nodes import start_cluster

KILLED = "a client is killed"
_LOADING = ClusterOptions(shards=3, replicas=1, lease=1.0, batch_bytes=1 << 14)
_OPTIONS = BuildOptions(named_analysis("porter-stop"))
_DOCUMENTS = 3000
_LONGEST_BUILD = 300
_CLIENT = """
import sys
from sicetnon.cluster.build import ClusterOptions
from sicetnon.app.index import Index
loading = ClusterOptions(shards=3, replicas=1, lease=1.0, batch_bytes=1 << 14)
with Index.open(sys.argv[2]) as index:
    print("ready", flush=True)
    Index.build(sys.argv[1], sys.argv[3], analysis="porter-stop", cluster=loading).close()
    while True:
        index.search("should teachers get tenure", 3000, system="bm25", sides=False)
"""


@dataclass
class _Row:
    """What happened in the trials of a fault."""

    trials: int = 0
    right: int = 0
    errors: int = 0
    slowest: float = 0.0
    slowest_together: float = 0.0
    well: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, met: Watched) -> None:
        self.right += met.right
        self.errors += met.errors
        self.slowest = max(self.slowest, met.slowest)
        self.slowest_together = max(self.slowest_together, met.slowest_together)
        for reason in met.reasons:
            print(f"refused: {reason}", flush=True)


@dataclass(frozen=True)
class _Bench:
    """What all trials share."""

    site: Site
    corpus: Path
    expected: Answers
    index: Index
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Break a cluster in each way, and print a table; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.robustness clusters")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of kills")
    parser.add_argument("--seconds", type=float, default=5, help="of a fault")
    parser.add_argument("--busy-seconds", type=float, default=60, help="that queues are full")
    parser.add_argument("--faults", nargs="+", choices=[*FAULTS, KILLED], default=[*FAULTS, KILLED])
    given = parser.parse_args(arguments)
    rows = {fault: _Row() for fault in given.faults}
    with tempfile.TemporaryDirectory() as folder:
        corpus = write_documents(Path(folder) / "documents.jsonl", _DOCUMENTS)
        with Index.build(corpus, Path(folder) / "index", analysis="porter-stop") as local:
            expected = answers(local)
        cluster = start_cluster(Path(folder) / "nodes", settings=SMALL_QUEUES)
        try:
            with (
                site_of(cluster) as site,
                Index.build(
                    corpus, site.address("searched"), analysis="porter-stop", cluster=_LOADING
                ) as index,
            ):
                # a build does not wait for copies, and without them a lost node is missed
                cluster.wait()
                for number in range(given.seed, given.seed + given.trials):
                    for fault, row in rows.items():
                        busy = fault == "queues are full"
                        seconds = given.busy_seconds if busy else given.seconds
                        bench = _Bench(site, corpus, expected, index, seconds)
                        _try(bench, fault, row, number)
        finally:
            cluster.stop()
            _print(rows)
    return int(any(row.failures for row in rows.values()))


def _try(bench: _Bench, fault: str, row: _Row, number: int) -> None:
    name = f"loaded-{time.monotonic_ns()}"
    address = bench.site.address(name)
    row.trials += 1
    try:
        if fault == KILLED:
            _kill_a_client(bench, address, row, number)
        else:
            _break(bench, fault, address, row)
    except (AssertionError, SicetnonError, TimeoutError) as error:
        row.failures.append(f"{type(error).__name__}: {error}")
        print(f"{fault}, trial {number}: {row.failures[-1]}", flush=True)
    finally:
        bench.site.mend()
        bench.site.cluster.remove(name)


def _break(bench: _Bench, fault: str, address: str, row: _Row) -> None:
    """A fault while a build and searches go on."""
    with ThreadPoolExecutor(1) as pool:
        built = pool.submit(_build, bench, address)
        try:
            time.sleep(0.5)
            FAULTS[fault](bench.site)
            row.add(watch(bench.index, bench.expected, bench.seconds))
        finally:
            begin = time.monotonic()
            bench.site.mend()
            row.well = max(row.well, time.monotonic() - begin)
        acknowledged = built.result(_LONGEST_BUILD)
    _is_whole(bench, address, acknowledged)


def _build(bench: _Bench, address: str) -> int:
    corpus = open_corpus([bench.corpus])
    return build_on_cluster(corpus, parse_address(address), _OPTIONS, _LOADING).acknowledged


def _kill_a_client(bench: _Bench, address: str, row: _Row, number: int) -> None:
    """Another client is killed at some moment; its build is resumed."""
    words = [sys.executable, "-c", _CLIENT, str(bench.corpus), str(bench.index.folder), address]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        client.stdout.readline()
        time.sleep(random.Random(number).uniform(0.1, 6))
        client.kill()
    row.add(watch(bench.index, bench.expected, bench.seconds))
    _is_whole(bench, address, _build(bench, address))


def _is_whole(bench: _Bench, address: str, acknowledged: int) -> None:
    """Nothing is lost and nothing double, and questions are answered as ever."""
    assert acknowledged == _DOCUMENTS, f"acknowledged {acknowledged} of {_DOCUMENTS}"
    with _patient(), Index.open(address) as index:
        assert len(index) == _DOCUMENTS, f"found {len(index)} of {_DOCUMENTS}"
        index.verify()
        assert answers(index) == bench.expected, "the new index gives other answers"
    met = watch(bench.index, bench.expected, 1)
    assert met.right, "no answer after the fault"


@contextlib.contextmanager
def _patient() -> Iterator[None]:
    """Let a busy machine take its time where no fault is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SICETNON_CLUSTER_SECONDS", "60")
        yield


def _print(rows: dict[str, _Row]) -> None:
    print(
        "| fault | trials | right answers | wrong | errors | slowest search | slowest of several | "
        "well after | failed |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for fault, row in rows.items():
        wrong = sum("wrong answer" in failure for failure in row.failures)
        print(
            f"| {fault} | {row.trials} | {row.right:,} | {wrong} | {row.errors:,} | "
            f"{row.slowest:.1f} s | {row.slowest_together:.1f} s | {row.well:.0f} s | "
            f"{len(row.failures)} |"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
