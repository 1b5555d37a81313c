"""Times single queries of 2, 5, 10 and 30 words, on Sic et Non and its peers, by turns in one run.

    python -m benchmarks.speed.latency --corpus DIR --work DIR [--rounds 3] [--only sicetnon pisa]
        [--models BM25 DirichletLM] [--words 2 5 10 30]

DIR of `--work` holds the indexes that `python -m benchmarks.speed --corpus DIR --work DIR` keeps.
Every peer is opened in a process of its own. In each round each of them
answers the same queries. A query's time is its lowest of all rounds, so that other work on the
machine counts little; the table shows the median and the 99th percentile over the queries, in ms,
and in brackets the ratio of the median to that of Sic et Non.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np

from benchmarks.speed.harness import available
from benchmarks.speed.lucene import Lucene
from benchmarks.speed.peers import Bm25s, Peer, Pisa, SicEtNon, Tantivy

MU = 2000.0
TERMS, DEPTHS = (2, 5, 10, 30), (10, 1000)
QUERIES = 200


class SicEtNonDirichlet(SicEtNon):
    """The same index, searched by another model."""

    def open(self, work: Path) -> None:
        """Map the index."""
        from sicetnon.retrieval.scoring import FieldScore
        from sicetnon.retrieval.searcher import LocalRetriever
        from sicetnon.retrieval.weighting import DirichletLM

        super().open(work)
        self._retriever = LocalRetriever(self._index, [FieldScore(DirichletLM(MU))], threads=1)


class PisaDirichlet(Pisa):
    """The same index, with bounds of another model."""

    def open(self, work: Path) -> None:
        """Map the index; make its bounds first where that is still to be done."""
        super().open(work)
        from pyterrier_pisa import _pisathon

        self._context = _pisathon.RetrievalContext()
        _pisathon.prepare_index(self._context, str(work), self.encoding, "qld", "", qld_mu=MU)


class LuceneDirichlet(Lucene):
    """The same index, searched by another model."""

    model = ("dirichlet", MU)


MODELS: dict[str, dict[str, type[Peer]]] = {
    "BM25": {each.name: each for each in (SicEtNon, Bm25s, Tantivy, Pisa, Lucene)},
    "DirichletLM": {
        each.name: each for each in (SicEtNonDirichlet, PisaDirichlet, LuceneDirichlet)
    },
}


class Asked:
    """A process that answers queries with one peer."""

    def __init__(self, model: str, name: str, work: Path):
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.latency",
            "child",
            model,
            name,
            str(work),
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def times(self, queries: Sequence[str], k: int) -> list[float]:
        """Milliseconds of each query."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode((queries, k)) + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(b"times "):  # PISA logs to standard output, too
                return msgspec.json.decode(line[6:], type=list[float])
        raise RuntimeError("the process ended")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def child(model: str, name: str, work: str) -> None:
    """Answer queries from standard input, until it ends."""
    peer = MODELS[model][name]()
    with redirect_stdout(sys.stderr):
        peer.open(Path(work))
    for line in sys.stdin:
        queries, k = msgspec.json.decode(line, type=tuple[list[str], int])
        taken = [peer.milliseconds(query, k) for query in queries]
        print("times " + msgspec.json.encode(taken).decode(), flush=True)


def query_sets(path: Path) -> dict[int, list[str]]:
    """For each number of words as many queries, of words drawn from those of a file."""
    words = path.read_text(encoding="utf-8").split()
    random = Random(1)
    return {n: [" ".join(random.sample(words, n)) for _ in range(QUERIES)] for n in TERMS}


def main() -> int:
    """Measure, and print a table for each model."""
    parser = argparse.ArgumentParser(description="Time single queries, by turns in one run.")
    parser.add_argument("--corpus", type=Path, required=True, metavar="DIR")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(MODELS["BM25"]))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--words", nargs="+", type=int, choices=TERMS, default=TERMS)
    given = parser.parse_args()
    names = available(given.only or list(MODELS["BM25"]))
    missing = [name for name in names if not (given.work / name).is_dir()]
    if missing:
        parser.error(
            f"{given.work}: no index of {', '.join(missing)}; make them with: "
            f"python -m benchmarks.speed --corpus {given.corpus} --work {given.work}"
        )
    sets = query_sets(given.corpus / "queries.txt")
    for model in given.models:
        peers = MODELS[model]
        asked = {name: Asked(model, name, given.work / name) for name in peers if name in names}
        print(f"{model}: words, k, then median / 99th percentile (ratio)")
        for words in given.words:
            for k in DEPTHS:
                print(row(asked, words, sets[words], k, given.rounds), flush=True)
        for each in asked.values():
            each.close()
    return 0


def row(asked: dict[str, Asked], words: int, queries: list[str], k: int, rounds: int) -> str:
    """The figures of all peers for a set of queries."""
    taken: dict[str, list[Any]] = {name: [] for name in asked}
    for place in range(rounds + 1):
        for name, each in asked.items():
            times = each.times(queries, k)
            if place:  # the first round warms up
                taken[name].append(times)
    lowest = {name: np.min(times, axis=0) for name, times in taken.items()}
    own = float(np.median(lowest[SicEtNon.name])) if SicEtNon.name in lowest else 0.0
    cells = [f"{words:3} {k:5}"]
    for name, times in lowest.items():
        median, worst = float(np.median(times)), float(np.percentile(times, 99))
        ratio = f" ({median / own:.2f})" if own and name != SicEtNon.name else ""
        cells.append(f"{name} {median:.2f} / {worst:.2f}{ratio}")
    return "   ".join(cells)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(main())
