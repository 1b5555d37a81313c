"""Prints how good the systems of task 1 are, on the judgments whose texts are at hand.

    python benchmarks/effectiveness.py [--crossvalidate]

Reads SICETNON_DATA (default: ../shared/data). Tables: systems, ablation, neighbourhood of each
parameter; with --crossvalidate, parameters chosen on all topics but one and tested on that one.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sicetnon.arguments.housekeeping import housekeeping
from sicetnon.arguments.shouting import shouting
from sicetnon.evaluation import Score, evaluate, load_qrels
from sicetnon.evaluation.qrels import Qrels
from sicetnon.folders import cache_folder
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.penalties import Penalties
from sicetnon.records import Ranking, RunLine, Topic
from sicetnon.retrieval.scoring import Coverage, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import DirichletLM
from sicetnon.tasks.system import System
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data"))
QRELS = "touche-2020-task-1-relevance.held-text.odd-topics.qrels"
PARTICIPANT = "runs/touche-2020-task-1/elrond/ElrondOpenNlpRun.txt.gz"
CHOSEN = {"mu": 3000.0, "forms": 0.1, "heading": 1.0, "penalty": 0.3}
NEIGHBOURS = {
    "mu": (1500.0, 2000.0, 2500.0, 3000.0, 4000.0, 5000.0, 7000.0),
    "forms": (0.0, 0.05, 0.1, 0.2, 0.5, 1.0),
    "heading": (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    "penalty": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
}
GRID = {
    "mu": (2000.0, 3000.0, 4000.0),
    "forms": (0.1, 0.2, 0.4, 1.0),
    "heading": (0.0, 0.5, 1.0, 1.5),
    "penalty": (0.0, 0.15, 0.3),
}


def build(index: IndexReader, mu: float, forms: float, heading: float, penalty: float) -> System:
    """The default system with other parameters."""
    premise = FieldScore(DirichletLM(mu), {"premise": 1.0}, other_forms=forms)
    title = Coverage(("conclusion", "title"), weight=heading)
    faults = Penalties(index, {housekeeping: penalty, shouting: 2.0 if penalty else 0.0})
    return System(LocalRetriever(index, [premise, title] if heading else [premise]), [faults])


class Bench:
    """Topics, judgments and index, and what scores a system on them."""

    def __init__(self, index: IndexReader, topics: Sequence[Topic], qrels: Qrels):
        self.index, self.topics, self.qrels = index, topics, qrels

    def lines(self, rankings: Sequence[Ranking]) -> list[RunLine]:
        """A run of the rankings, in memory."""
        return [
            RunLine(ranking.topic.number, "Q0", document, place, -float(place), "run")
            for ranking in rankings
            for place, document in enumerate(self.index.identifiers(ranking.documents), start=1)
        ]

    def scores(self, run: Sequence[RunLine] | Path) -> tuple[Score, Score]:
        """Condensed and strict."""
        condensed, strict = (
            evaluate(run, self.qrels, rule=rule)[0] for rule in ("condensed", "trec")
        )
        return condensed, strict

    def system(self, system: System) -> tuple[Score, Score]:
        """Likewise, of a system."""
        return self.scores(self.lines(system.rank(self.topics, 100)))

    def restricted(self, run: Path) -> list[RunLine]:
        """A run without the documents that are not at hand."""
        from sicetnon.formats.runs import read_run

        kept = [line for line in read_run(run) if self.index.number(line.document) is not None]
        groups = itertools.groupby(kept, key=lambda line: line.topic)
        return [
            RunLine(topic, "Q0", line.document, place, -float(place), line.tag)
            for topic, lines in groups
            for place, line in enumerate(lines, start=1)
        ]


def show(name: str, scores: tuple[Score, Score]) -> None:
    """Print a row: both means with their 95% intervals."""
    cells = [f"{s.mean:.4f} [{s.low:.3f}, {s.high:.3f}]" for s in scores]
    print(f"{name:<34} {cells[0]}   {cells[1]}", flush=True)


def crossvalidate(bench: Bench) -> None:
    """Choose parameters on all topics but one, test on that one; print the means."""
    points = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    results = [bench.system(build(bench.index, **point)) for point in points]
    topics = sorted(results[0][0].values)

    def tested(worth: Callable[[Score, Score, str], float]) -> tuple[float, float]:
        condensed, strict = [], []
        for left_out in topics:
            best = max(
                results,
                key=lambda pair: sum(worth(*pair, topic) for topic in topics if topic != left_out),
            )
            condensed.append(best[0].values[left_out])
            strict.append(best[1].values[left_out])
        return statistics.mean(condensed), statistics.mean(strict)

    both = tested(lambda c, s, topic: c.values[topic] + s.values[topic])
    one = tested(lambda c, _, topic: c.values[topic])
    print(f"\nleaving one topic out, {len(points)} settings        condensed   strict")
    print(f"{'chosen by the sum of both':<34} {both[0]:.4f}      {both[1]:.4f}")
    print(f"{'chosen by condensed alone':<34} {one[0]:.4f}      {one[1]:.4f}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--crossvalidate", action="store_true")
    given = parser.parse_args()
    source = DATA / TASK.id / "input"
    if not source.is_dir():
        print(f"{source} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    folder = cache_folder() / "benchmark-touche-2020-task-1"
    build_index(open_corpus([source]), folder, BuildOptions(named_analysis(TASK.analysis)))
    with IndexReader.open(folder) as index:
        topics = read_topics(source / "topics.xml")
        bench = Bench(index, topics, load_qrels(DATA / "qrels" / QRELS))
        print(f"{'nDCG@5':<34} condensed [95%]           strict [95%]")
        for name in TASK.systems:
            # embeddings would take minutes to make
            if name not in ("dense", "hybrid"):
                show(name, bench.system(TASK.system(name, index)))
        show("best participant's, restricted", bench.scores(bench.restricted(DATA / PARTICIPANT)))
        print("\none part taken away")
        for name, value in (("penalty", 0.0), ("heading", 0.0), ("forms", 1.0), ("forms", 0.0)):
            show(f"{name} = {value}", bench.system(build(index, **CHOSEN | {name: value})))
        print("\none parameter moved")
        for name, values in NEIGHBOURS.items():
            for value in values:
                show(f"{name} = {value}", bench.system(build(index, **CHOSEN | {name: value})))
        if given.crossvalidate:
            crossvalidate(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
