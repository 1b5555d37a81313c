"""Searches clusters of one, two and three nodes beside a folder: latency, and its parts.

python -m benchmarks.cluster.searching CORPUS --nodes 1 2 3

CORPUS has a file `queries.txt`, one question per line, as `benchmarks.speed.generate` writes it.
Latencies are the median and the 99th percentile of questions, for some numbers of clients at a
time; *errors* are questions that got no answer in three seconds. The second table is of one client:
a search asks for candidates, then whether the index has changed meanwhile. *Engine* is the time
that the engine reports for the candidates, *way* is what their request takes beyond it (the answer
is written, sent and read), *state* is the second request, and *own code* is what remains: analysis,
exact scores, the proof.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cluster.nodes import started
from sicetnon.app.index import Index
from sicetnon.cluster.build import ClusterOptions
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.transport import Connection
from sicetnon.records import Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, WeightingModel

MODELS: dict[str, WeightingModel] = {
    "BM25": BM25(), "DPH": DPH(),
}  # fmt: skip
"""One whose bound skips documents, and one that goes by script."""

ANALYSIS = "porter-stop"
SHARDS = 3
WARM_UP = 4


@dataclass
class Parts:
    """The seconds that searches take, by part.

    Attributes:
        engine: The engine's own time for candidates, as it reports it.
        candidates: The requests for candidates.
        state: The requests for the state of the index.
        whole: Each search as a whole.
    """

    engine: float = 0.0
    candidates: float = 0.0
    state: float = 0.0
    whole: list[float] = field(default_factory=list)


def main() -> None:
    """Print a table of latencies, and one of their parts."""
    options = _options()
    questions = (options.corpus / "queries.txt").read_text("utf-8").splitlines()
    topics = [
        Topic(str(number), title)
        for number, title in enumerate(questions[: options.questions], start=1)
    ]
    print(f"load average at first: {os.getloadavg()[0]:.1f}\n")
    print("| index | model | k | clients | median | 99th percentile | per second | errors |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    breakdown: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.build(options.corpus, Path(folder) / "index", analysis=ANALYSIS) as index,
    ):
        _search("folder", index, topics, options)
    for count in options.nodes:
        with started(count) as cluster:
            loading = ClusterOptions(SHARDS, replicas=min(count - 1, 1), merge=True)
            address = cluster.address("speed")
            with Index.build(options.corpus, address, analysis=ANALYSIS, cluster=loading) as index:
                name = f"{count} nodes" if count > 1 else "1 node"
                _search(name, index, topics, options)
                breakdown += _broken_down(name, index, topics, options)
    print("\n| index | model | k | median | engine | way | state | own code |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(breakdown))
    print(f"\nload average at last: {os.getloadavg()[0]:.1f}")


def _search(place: str, index: Index, topics: Sequence[Topic], options: argparse.Namespace) -> None:
    for k in options.k:
        for name, model in MODELS.items():
            retriever = LocalRetriever(index, [FieldScore(model)], threads=1)
            # statistics of terms are kept from now on, and the engine's code is compiled
            for _ in range(WARM_UP if place != "folder" else 1):
                _asked(retriever, topics, k, 2)
            for clients in options.clients:
                seconds, whole, errors = _asked(retriever, topics, k, clients)
                low, high = np.percentile(seconds, [50, 99]) * 1000
                print(
                    f"| {place} | {name} | {k:,} | {clients} | {low:.1f} ms | {high:.1f} ms | "
                    f"{len(seconds) / whole:,.0f} | {errors} |",
                    flush=True,
                )


def _asked(
    retriever: LocalRetriever, topics: Sequence[Topic], k: int, clients: int
) -> tuple[list[float], float, int]:
    """The seconds of each question that was answered, those of all, and the number of errors."""

    def ask(topic: Topic) -> float | None:
        begin = time.perf_counter()
        try:
            retriever.retrieve([topic], k)
        except ClusterError:
            return None
        return time.perf_counter() - begin

    many = list(islice(cycle(topics), len(topics) * min(clients, 2)))
    begin = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        seconds = list(pool.map(ask, many))
    answered = [each for each in seconds if each is not None]
    return answered, time.perf_counter() - begin, len(many) - len(answered)


def _broken_down(
    place: str, index: Index, topics: Sequence[Topic], options: argparse.Namespace
) -> list[str]:
    """Lines of the second table."""
    found = []
    for k in options.k:
        for name, model in MODELS.items():
            retriever = LocalRetriever(index, [FieldScore(model)], threads=1)
            with _parted() as parts:
                parts.whole = _asked(retriever, topics, k, 1)[0]
            each = 1000 / len(topics)
            own = sum(parts.whole) - parts.candidates - parts.state
            found.append(
                f"| {place} | {name} | {k:,} | {np.median(parts.whole) * 1000:.1f} ms | "
                f"{parts.engine * each:.1f} | {(parts.candidates - parts.engine) * each:.1f} | "
                f"{parts.state * each:.1f} | {own * each:.1f} |"
            )
    return found


@contextlib.contextmanager
def _parted() -> Iterator[Parts]:
    """Adds up the time of the requests that are sent within the block."""
    parts, ask = Parts(), Connection.ask

    def timed(connection: Connection, method: str, path: str, body: Any = None, **more: Any) -> Any:
        begin = time.perf_counter()
        answer = ask(connection, method, path, body, **more)
        seconds = time.perf_counter() - begin
        if "/_search" in path:
            parts.candidates += seconds
            parts.engine += answer["took"] / 1000
        else:
            parts.state += seconds
        return answer

    Connection.ask = timed  # type: ignore[assignment, method-assign]
    try:
        yield parts
    finally:
        Connection.ask = ask  # type: ignore[method-assign]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 1000])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    return parser.parse_args()


if __name__ == "__main__":
    main()
