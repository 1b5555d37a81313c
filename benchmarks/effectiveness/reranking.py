"""Prints whether the model's quality, or argumentativeness, orders arguments better (2020 task 1).

    python -m benchmarks.effectiveness.reranking

Condensed and official nDCG@5 on the odd topics whose arguments are at hand: the default system,
and its first results put in order by its score and some of the model's answer together.
Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import DATA, in_order, opened
from sicetnon.arguments.models.classifiers import read_all
from sicetnon.evaluation import experiment, load_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.records import Argument, Ranking
from sicetnon.tasks.touche_2020_task_1 import TASK, default

TOUCHED = (10, 20, 60)
RESULTS = 1000
WEIGHTS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def reordered(
    ranking: Ranking, answers: NDArray[np.float64], touched: int, weight: float
) -> Ranking:
    """A ranking whose first results are in order of their score and an answer [results]."""
    scores = np.asarray(ranking.scores, dtype=np.float64)
    shares = (scores - scores.min()) / (np.ptp(scores) or 1.0)
    said = answers[:touched]
    first = shares[:touched] + weight * (said - said.mean()) / (said.std() or 1.0)
    order = [*np.argsort(-first, kind="stable"), *range(touched, len(scores))]
    return in_order(ranking.topic, [ranking.ids[place] for place in order])


def _arguments(records: Sequence[object]) -> list[Argument]:
    return [record for record in records if isinstance(record, Argument)]


def main() -> int:
    """Print a row for each answer, how many results it touches, and the rule."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    qrels = load_qrels(DATA / "qrels" / f"{TASK.id}-relevance.held-text.odd-topics.qrels")
    with opened(TASK) as index:
        every = read_topics(DATA / TASK.id / "input" / "topics.xml")
        topics = [topic for topic in every if topic.number in qrels.grades]
        rankings = default(index).retrieve(topics, RESULTS)
        records = [_arguments(index.records(ranking.ids)) for ranking in rankings]
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
                        reordered(ranking, own, touched, weight)
                        for ranking, own in zip(rankings, raised, strict=True)
                    ]
                    means.append(experiment([run], None, qrels, rule=rule).scores[0].mean)
                row = f"{answer}, {touched}, {rule}".ljust(42)
                print(row, *(f"{mean:7.4f}" for mean in means), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
