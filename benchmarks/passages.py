"""Prints what weak evidence says of the systems of 2022 task 2.

    python benchmarks/passages.py [--crossvalidate]

Judged passages with their texts are not at hand. What is: 227 web documents in passages, and for
the odd topics of 2020 and 2021 which of these documents are relevant (102 that BM25 had missed; a
document without that mark may be relevant, too). A document stands where its first passage stands.
Differences of less than 0.05 say nothing: the standard error over 35 topics is about 0.05.

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sicetnon.arguments.comparative.questions import objects_of
from sicetnon.evaluation import Score, evaluate, load_qrels
from sicetnon.evaluation.qrels import Qrels
from sicetnon.folders import cache_folder
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.blending import Blend
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.records import Ranking, RunLine, Topic
from sicetnon.retrieval.objects import ObjectsRetriever
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.tasks.system import System
from sicetnon.tasks.touche_2022_task_2 import DEPTH, TASK
from sicetnon.text.analysis import named_analysis

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data"))
CHOSEN = {"k1": 2.0, "b": 0.4, "objects": 0.25, "weighing": 0.1, "arguing": 0.05}
GRID = {
    "k1": (1.2, 2.0, 3.2),
    "b": (0.2, 0.75),
    "objects": (0.0, 0.5),
    "weighing": (0.0, 0.1),
    "arguing": (0.0, 0.1),
}
NEIGHBOURS = {
    "k1": (0.9, 1.2, 1.5, 3.2),
    "b": (0.2, 0.6, 0.75),
    "objects": (0.0, 0.5, 1.0, 3.0),
    "weighing": (0.0, 0.2, 0.4),
    "arguing": (0.0, 0.1, 0.3),
}


class Bench:
    """Topics, judgments of documents, an index of passages."""

    def __init__(self, index: IndexReader, topics: Sequence[Topic], qrels: Qrels):
        self.index, self.topics, self.qrels = index, topics, qrels
        self.comparison = ComparativeEvidence(index)

    def system(self, parameters: dict[str, float]) -> System:
        """The default system with other parameters, without stances."""
        p = parameters
        found = LocalRetriever(self.index, [FieldScore(BM25(p["k1"], p["b"]))])
        measures = [
            (self.comparison.weighing, p["weighing"]),
            (self.comparison.arguing, p["arguing"]),
        ]
        stage = Blend(measures, DEPTH)
        return System(ObjectsRetriever(found, objects_of, p["objects"]), [stage], DEPTH)

    def score(self, system: System) -> Score:
        """NDCG@5 of documents, strict."""
        run = list(self._lines(system.rank(self.topics, 1000)))
        return evaluate(run, self.qrels, ["nDCG@5"], rule="trec")[0]

    def _lines(self, rankings: Iterable[Ranking]) -> Iterable[RunLine]:
        for ranking in rankings:
            names = self.index.identifiers(ranking.documents)
            documents = dict.fromkeys(name.partition("___")[0] for name in names)
            for place, document in enumerate(documents, start=1):
                yield RunLine(ranking.topic.number, "Q0", document, place, -float(place), "run")


def show(name: str, score: Score) -> None:
    """Print a row."""
    print(
        f"{name:<34} {score.mean:.3f} [{score.low:.3f}, {score.high:.3f}]  n {score.topics}",
        flush=True,
    )


def crossvalidate(bench: Bench) -> None:
    """Choose parameters on all topics but one, test on that one; print the mean."""
    points = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    results = [bench.score(bench.system(point)).values for point in points]
    topics = sorted(results[0])
    tested = []
    for left_out in topics:
        best = max(results, key=lambda v: sum(v[topic] for topic in topics if topic != left_out))
        tested.append(best[left_out])
    print(f"leaving one topic out, {len(points)} settings: {statistics.mean(tested):.3f}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--crossvalidate", action="store_true")
    given = parser.parse_args()
    source = DATA / TASK.id / "input"
    if not source.is_dir():
        print(f"{source} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    qrels = load_qrels(DATA / TASK.id / "relevant-documents.qrels")
    files = ("touche-2020-task-2.xml", "touche-2021-task-2.xml")
    every = [topic for name in files for topic in read_topics(DATA / "topics" / name)]
    topics = [topic for topic in every if topic.number in qrels.topics]
    folder = cache_folder() / "benchmark-touche-2022-task-2"
    build_index(open_corpus([source]), folder, BuildOptions(named_analysis(TASK.analysis)))
    with IndexReader.open(folder) as index:
        bench = Bench(index, topics, qrels)
        print(f"{'nDCG@5 of documents':<34} strict [95%]")
        for name, system in TASK.systems.items():
            show(name, bench.score(system(index)))
        for name, values in NEIGHBOURS.items():
            for value in values:
                show(f"{name} = {value}", bench.score(bench.system(CHOSEN | {name: value})))
        if given.crossvalidate:
            crossvalidate(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
