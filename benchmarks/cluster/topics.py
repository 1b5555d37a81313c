"""Topics together in one request, beside a request for each: seconds for all topics of a task.

python -m benchmarks.cluster.topics INPUT --nodes 1 --delay 0 5

INPUT is an input folder of task 1. Both kinds of requests take turns; each figure is the median of
some rounds. A delay is of a proxy before the first node, which holds each request back for so many
milliseconds.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from benchmarks.cluster.nodes import started
from benchmarks.cluster.same import SYSTEMS
from sicetnon.app.index import Index
from sicetnon.cluster.build import ClusterOptions
from sicetnon.formats.topics import read_topics
from sicetnon.records import Topic
from sicetnon.retrieval.searcher import LocalRetriever
from support.breaking_proxy import BreakingProxy

DEPTHS = {"together": 10_000, "alone": 0}
"""The most documents for each topic for which topics are asked together."""


def main() -> None:
    """Print a table of seconds."""
    options = _options()
    topics = read_topics(options.input / "topics.xml")
    print("| nodes | delay | system | k | together | alone | alone by together |")
    print("|---|---|---|---|---|---|---|", flush=True)
    loading = ClusterOptions(shards=3, replicas=0)
    with started(options.nodes) as cluster:
        Index.build(options.input, cluster.address("topics"), cluster=loading).close()
        for delay in options.delay:
            with (
                BreakingProxy(f"127.0.0.1:{cluster.nodes[0].port}", delay / 1000) as proxy,
                Index.open(f"opensearch+http://{proxy.address}/topics") as index,
            ):
                for system, k in itertools.product(options.systems, options.k):
                    retriever = LocalRetriever(index, *SYSTEMS[system])
                    both = _medians(retriever, topics, k, options.rounds)
                    print(
                        f"| {options.nodes} | {delay} ms | {system} | {k:,} | "
                        f"{both[0] * 1000:.0f} ms | {both[1] * 1000:.0f} ms | "
                        f"{both[1] / both[0]:.2f} |",
                        flush=True,
                    )


def _medians(
    retriever: LocalRetriever, topics: Sequence[Topic], k: int, rounds: int
) -> list[float]:
    """The median seconds of each kind of requests; the first round warms up."""
    index = cast(Any, retriever.index)  # a cluster's index
    seconds: dict[str, list[float]] = {kind: [] for kind in DEPTHS}
    for _ in range(rounds + 1):
        for kind, deepest in DEPTHS.items():
            index.deepest_together = deepest
            begin = time.perf_counter()
            retriever.retrieve(topics, k)
            seconds[kind].append(time.perf_counter() - begin)
    return [statistics.median(seconds[kind][1:]) for kind in DEPTHS]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=Path)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--delay", type=int, nargs="+", default=[0, 5], help="in milliseconds")
    parser.add_argument("--k", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    parser.add_argument("--systems", nargs="+", default=["BM25", "DPH"], choices=list(SYSTEMS))
    parser.add_argument("--rounds", type=int, default=9)
    return parser.parse_args()


if __name__ == "__main__":
    main()
