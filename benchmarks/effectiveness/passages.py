"""Prints what weak evidence says of the systems of 2022 task 2.

    python -m benchmarks.effectiveness.passages [--crossvalidate]

Judged passages with their texts are not at hand. What is: 227 web documents in passages, and for
the odd topics of 2020 and 2021 which of these documents are relevant (102 that BM25 had missed; a
document without that mark may be relevant, too). A document stands where its first passage stands.
Differences of less than 0.05 say nothing: the standard error over 35 topics is about 0.05.

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys

from benchmarks.bench import DATA, Bench, opened
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.evaluation import Score, load_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.comparative_evidence import ComparativeEvidence
from sicetnon.ranking.stages import Blend
from sicetnon.ranking.system import System
from sicetnon.records import Ranking
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever, ObjectsRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.tasks.touche_2022_task_2 import DEPTH, TASK

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


def documents(ranking: Ranking) -> list[str]:
    """The documents of the passages found, in the order of their first passages."""
    return [name.partition("___")[0] for name in ranking.ids]


def build(
    index: IndexReader, evidence: ComparativeEvidence, parameters: dict[str, float]
) -> System:
    """The default system with other parameters, without stances."""
    p = parameters
    found = LocalRetriever(index, [FieldScore(BM25(p["k1"], p["b"]))])
    measures = [(evidence.weighing, p["weighing"]), (evidence.arguing, p["arguing"])]
    stage = Blend(measures, DEPTH)
    return System(ObjectsRetriever(found, objects_of, p["objects"]), [stage], DEPTH)


def show(name: str, score: Score) -> None:
    """Print a row."""
    print(
        f"{name:<34} {score.mean:.3f} [{score.low:.3f}, {score.high:.3f}]  n {score.topics}",
        flush=True,
    )


def crossvalidate(bench: Bench, index: IndexReader) -> None:
    """Choose parameters on all topics but one, test on that one; print the mean."""
    points = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    evidence = ComparativeEvidence(index)
    results = [bench.scores(build(index, evidence, point))[0].values for point in points]
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
    qrels = load_qrels(DATA / TASK.id / "relevant-documents.qrels")
    files = ("touche-2020-task-2.xml", "touche-2021-task-2.xml")
    every = [topic for name in files for topic in read_topics(DATA / "topics" / name)]
    topics = [topic for topic in every if topic.number in qrels.topics]
    with opened(TASK) as index:
        bench = Bench(topics, [qrels], ["nDCG(rule='trec')@5"], judged_as=documents)
        evidence = ComparativeEvidence(index)
        print(f"{'nDCG@5 of documents':<34} strict [95%]")
        for name in TASK.systems:
            show(name, bench.scores(TASK.system(name, index))[0])
        for name, values in NEIGHBOURS.items():
            for value in values:
                system = build(index, evidence, CHOSEN | {name: value})
                show(f"{name} = {value}", bench.scores(system)[0])
        if given.crossvalidate:
            crossvalidate(bench, index)
    return 0


if __name__ == "__main__":
    sys.exit(main())
