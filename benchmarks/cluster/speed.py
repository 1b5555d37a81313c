"""Loading and searching a cluster beside a folder: documents per second, and latency.

python -m benchmarks.cluster.speed INPUT --hosts host:9200,host:9201,host:9202

Loads are with one to four workers, with and without a second copy of each shard. Latencies are the
median and the 99th percentile of single questions, for some numbers of clients at a time. Processor
seconds are those of this process alone, and the load average says how busy the machine was.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from sicetnon.cluster.building import ClusterOptions
from sicetnon.formats.topics import read_topics
from sicetnon.library.index import Index
from sicetnon.records import Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, DirichletLM, WeightingModel

MODELS: dict[str, WeightingModel] = {
    "BM25": BM25(), "DirichletLM": DirichletLM(2000), "DPH": DPH(),
}  # fmt: skip
ANALYSIS = "porter-stop"


def main() -> None:
    """Print a table of loading and one of searching."""
    options = _options()
    topics = read_topics(options.topics or options.input / "topics.xml")
    address = f"opensearch+http://{options.hosts}/speed"
    with tempfile.TemporaryDirectory() as folder:
        print(f"load average at first: {os.getloadavg()[0]:.0f}\n")
        places: list[tuple[str, Index]] = [
            ("folder", _loaded(options.input, Path(folder) / "index", "folder", None))
        ]
        for replicas in options.replicas:
            for workers in options.workers:
                loading = ClusterOptions(shards=3, replicas=replicas, workers=workers, merge=True)
                name = f"{workers} workers, replicas {replicas}"
                index = _loaded(options.input, address, name, loading)
                if (replicas, workers) == (options.replicas[-1], options.workers[-1]):
                    places.append((f"{len(options.hosts.split(','))} hosts", index))
                else:
                    index.close()
        _search(places, topics, options)
    print(f"\nload average at last: {os.getloadavg()[0]:.0f}")


def _loaded(source: Path, place: Path | str, name: str, loading: ClusterOptions | None) -> Index:
    """Build an index, and print a line of the table of loading."""
    begin, used = time.perf_counter(), time.process_time()
    index = Index.build(source, place, analysis=ANALYSIS, cluster=loading)
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    rate = len(index) / seconds
    print(
        f"| {name} | {len(index):,} | {seconds:.1f} s | {used:.1f} s | {rate:,.0f} | {memory} MB |",
        flush=True,
    )
    return index


def _search(
    places: Sequence[tuple[str, Index]], topics: Sequence[Topic], options: argparse.Namespace
) -> None:
    print("\n| index | model | k | clients | median | 99th percentile | per second |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for k in options.k:
        for name, model in MODELS.items():
            for place, index in places:
                retriever = LocalRetriever(index, [FieldScore(model)], threads=1)
                _asked(retriever, topics, k, 1)  # statistics of terms are kept from now on
                for clients in options.clients:
                    seconds, whole = _asked(retriever, topics, k, clients)
                    low, high = np.percentile(seconds, [50, 99]) * 1000
                    print(
                        f"| {place} | {name} | {k:,} | {clients} | {low:.1f} ms | {high:.0f} ms | "
                        f"{len(seconds) / whole:,.0f} |",
                        flush=True,
                    )


def _asked(
    retriever: LocalRetriever, topics: Sequence[Topic], k: int, clients: int
) -> tuple[list[float], float]:
    """The seconds of each question, and of all."""

    def ask(topic: Topic) -> float:
        begin = time.perf_counter()
        retriever.retrieve([topic], k)
        return time.perf_counter() - begin

    begin = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        seconds = list(pool.map(ask, topics))
    return seconds, time.perf_counter() - begin


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=Path, help="a corpus")
    parser.add_argument("--hosts", required=True, help="host:9200,host:9201")
    parser.add_argument("--topics", type=Path, help="topics.xml of the corpus when left out")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--replicas", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--k", type=int, nargs="+", default=[10, 1000])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    return parser.parse_args()


if __name__ == "__main__":
    main()
