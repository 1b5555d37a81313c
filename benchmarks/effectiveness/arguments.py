"""Prints how good the systems of task 1 are, on the judgments whose texts are at hand.

    python -m benchmarks.effectiveness.arguments [--crossvalidate]

Reads SICETNON_DATA (default: ../shared/data). Tables: systems, ablation, neighbourhood of each
parameter; with --crossvalidate, parameters chosen on all topics but one and tested on that one.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.bench import DATA, Bench, in_order, opened
from sicetnon.arguments.text_quality import housekeeping, shouting
from sicetnon.evaluation import Score, load_qrels, load_run
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.stages import Penalties
from sicetnon.ranking.system import System
from sicetnon.records import Ranking
from sicetnon.retrieval.scoring import Coverage, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import DirichletLM
from sicetnon.tasks.touche_2020_task_1 import TASK

QRELS = "touche-2020-task-1-relevance.held-text.odd-topics.qrels"
PARTICIPANT = "runs/touche-2020-task-1/elrond/ElrondOpenNlpRun.txt.gz"
MEASURES = ("nDCG(rule='condensed')@5", "nDCG(rule='trec')@5")
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


def restricted(run: Path, index: IndexReader) -> list[Ranking]:
    """A run without the documents that are not at hand."""
    return [
        in_order(ranking.topic, [name for name in ranking.ids if index.number(name) is not None])
        for ranking in load_run(run).rankings.values()
    ]


def show(name: str, scores: Sequence[Score]) -> None:
    """Print a row: both means with their 95% intervals."""
    cells = [f"{s.mean:.4f} [{s.low:.3f}, {s.high:.3f}]" for s in scores]
    print(f"{name:<34} {cells[0]}   {cells[1]}", flush=True)


def crossvalidate(bench: Bench, index: IndexReader) -> None:
    """Choose parameters on all topics but one, test on that one; print the means."""
    points = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    results = [bench.scores(build(index, **point)) for point in points]
    topics = sorted(results[0][0].values)

    def tested(worth: Callable[[Score, Score, str], float]) -> tuple[float, float]:
        condensed, strict = [], []
        for left_out in topics:
            best = max(
                results,
                key=lambda pair: sum(
                    worth(pair[0], pair[1], topic) for topic in topics if topic != left_out
                ),
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
    with opened(TASK) as index:
        topics = read_topics(DATA / TASK.id / "input" / "topics.xml")
        bench = Bench(topics, [load_qrels(DATA / "qrels" / QRELS)], MEASURES, 100)
        print(f"{'nDCG@5':<34} condensed [95%]           strict [95%]")
        for name in TASK.systems:
            # embeddings would take minutes to make
            if name not in ("dense", "hybrid"):
                show(name, bench.scores(TASK.system(name, index)))
        show(
            "best participant's, restricted",
            bench.run_scores(restricted(DATA / PARTICIPANT, index)),
        )
        print("\none part taken away")
        for name, value in (("penalty", 0.0), ("heading", 0.0), ("forms", 1.0), ("forms", 0.0)):
            show(f"{name} = {value}", bench.scores(build(index, **CHOSEN | {name: value})))
        print("\none parameter moved")
        for name, values in NEIGHBOURS.items():
            for value in values:
                show(f"{name} = {value}", bench.scores(build(index, **CHOSEN | {name: value})))
        if given.crossvalidate:
            crossvalidate(bench, index)
    return 0


if __name__ == "__main__":
    sys.exit(main())
