"""Prints whether the model's quality, or argumentativeness, orders arguments better (2020 task 1).

    python benchmarks/reranking.py

Condensed and official nDCG@5 on the odd topics whose arguments are at hand: the default system,
and its first results put in order by its score and some of the model's answer together.
Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.classifiers import read_all
from sicetnon.evaluation import evaluate, load_qrels
from sicetnon.folders import cache_folder
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.records import Argument, Ranking, RunLine
from sicetnon.tasks.touche_2020_task_1 import TASK, default
from sicetnon.text.analysis import named_analysis

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data"))
TOUCHED = (10, 20, 60)
RESULTS = 1000
WEIGHTS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def reordered(
    ranking: Ranking,
    names: Sequence[str],
    answers: NDArray[np.float64],
    touched: int,
    weight: float,
) -> list[RunLine]:
    """A ranking whose first results are in order of their score and an answer [results]."""
    scores = np.asarray(ranking.scores, dtype=np.float64)
    shares = (scores - scores.min()) / (np.ptp(scores) or 1.0)
    said = answers[:touched]
    first = shares[:touched] + weight * (said - said.mean()) / (said.std() or 1.0)
    order = [*np.argsort(-first, kind="stable"), *range(touched, len(scores))]
    return [
        RunLine(ranking.topic.number, "Q0", names[place], rank, -float(rank), "run")
        for rank, place in enumerate(order, start=1)
    ]


def _arguments(records: Sequence[object]) -> list[Argument]:
    return [record for record in records if isinstance(record, Argument)]


def main() -> int:
    """Print a row for each answer, how many results it touches, and the rule."""
    source = DATA / TASK.id / "input"
    if not source.is_dir():
        print(f"{source} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    qrels = load_qrels(DATA / "qrels" / f"{TASK.id}-relevance.held-text.odd-topics.qrels")
    folder = cache_folder() / f"benchmark-{TASK.id}"
    build_index(open_corpus([source]), folder, BuildOptions(named_analysis(TASK.analysis)))
    with IndexReader.open(folder) as index:
        topics = [t for t in read_topics(source / "topics.xml") if t.number in qrels.grades]
        rankings = default(index).rank(topics, RESULTS)
        records = [_arguments(index.records(ranking.documents)) for ranking in rankings]
    said = [
        read_all([each.premise for each in found[: max(TOUCHED)]], ["quality", "argumentativeness"])
        for found in records
    ]
    print("answer, results touched, rule".ljust(42), *(f"{weight:>7}" for weight in WEIGHTS))
    for answer in ("quality", "argumentativeness"):
        raised = [np.log(part[answer] / (1 - part[answer])).astype(np.float64) for part in said]
        for touched in TOUCHED:
            for rule in ("condensed", "official"):
                means = []
                for weight in WEIGHTS:
                    run = [
                        line
                        for ranking, found, own in zip(rankings, records, raised, strict=True)
                        for line in reordered(
                            ranking, [each.id for each in found], own, touched, weight
                        )
                    ]
                    means.append(evaluate(run, qrels, rule=rule)[0].mean)
                row = f"{answer}, {touched}, {rule}".ljust(42)
                print(row, *(f"{mean:7.4f}" for mean in means), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
