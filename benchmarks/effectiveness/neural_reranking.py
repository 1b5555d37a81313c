"""Prints what a neural re-ranker makes of the best results (2020 task 1).

    python -m benchmarks.effectiveness.neural_reranking MODEL [--kind BiEncoder] [--depth 20 100]

nDCG@5 on the odd topics whose arguments are at hand, condensed and official: BM25, the default
system, and both with their best results put in order by the model, with paired tests against BM25,
and processor seconds per question. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import sicetnon
from benchmarks.bench import DATA, opened
from sicetnon.evaluation import experiment, load_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.ranking.rerankers import BiEncoder, CrossEncoder
from sicetnon.records import Ranking, Topic
from sicetnon.tasks.touche_2020_task_1 import TASK

KINDS: dict[str, type[CrossEncoder | BiEncoder]] = {
    "CrossEncoder": CrossEncoder,
    "BiEncoder": BiEncoder,
}
RESULTS = 1000


def reranked(
    stage: CrossEncoder | BiEncoder, topics: Sequence[Topic], rankings: Sequence[Ranking]
) -> tuple[list[Ranking], float]:
    """The rankings after the stage, and processor seconds per question."""
    before = time.process_time()
    found = [stage.apply(topic, each) for topic, each in zip(topics, rankings, strict=True)]
    return found, (time.process_time() - before) / len(topics)


def main() -> int:
    """Print a row for each system, depth and rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model", help="a folder, or a name in the cache of Hugging Face")
    parser.add_argument("--kind", choices=list(KINDS), default="CrossEncoder")
    parser.add_argument("--depth", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--device")
    given = parser.parse_args()
    qrels = load_qrels(DATA / "qrels" / f"{TASK.id}-relevance.held-text.odd-topics.qrels")
    every = read_topics(DATA / TASK.id / "input" / "topics.xml")
    topics = [topic for topic in every if topic.number in qrels.grades]
    with opened(TASK) as index:
        runs, costs = [], {}
        for system in ("bm25", "default"):
            found = TASK.system(system, index).retrieve(topics, RESULTS)
            runs.append(_run(system, found))
            for depth in given.depth:
                stage = KINDS[given.kind](index, given.model, depth=depth, device=given.device)
                name = f"{system}, best {depth} by {stage.name}"
                placed, costs[name] = reranked(stage, topics, found)
                runs.append(_run(name, placed))
    for rule in ("condensed", "official"):
        result = experiment(runs, None, qrels, rule=rule, baseline=0)
        print(rule, result, sep="\n", flush=True)
    for name, seconds in costs.items():
        print(f"{name}: {seconds:.2f} processor seconds per question")
    return 0


def _run(name: str, rankings: Sequence[Ranking]) -> sicetnon.Run:
    return sicetnon.Run(name, name.replace(" ", "-"), {r.topic.number: r for r in rankings})


if __name__ == "__main__":
    sys.exit(main())
