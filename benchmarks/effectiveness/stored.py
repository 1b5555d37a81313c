"""Prints what storing embeddings costs and loses, and how good the systems on them are.

    python -m benchmarks.effectiveness.stored [--model DIR]

Reads SICETNON_DATA (default: ../shared/data) and annotates an index of its arguments, kept in the
cache; interrupted, it goes on where it was. Tables: size, time of a search, nearest documents
that come out otherwise than in full precision, and the systems of task 1 on embeddings.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import DATA, Bench
from benchmarks.effectiveness.arguments import MEASURES, QRELS, show
from sicetnon.arguments.models.index_annotators import EMBEDDING, annotators
from sicetnon.evaluation import load_qrels
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.annotations import AnnotationProgress, Annotator, packed, unpacked
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, annotate_index, build_index
from sicetnon.operating_system import cache_folder
from sicetnon.ranking.fusion import Fusion, Joint
from sicetnon.ranking.system import System
from sicetnon.records import Retriever, Topic
from sicetnon.retrieval.dense import Dense
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis

SAMPLED = 500
FUSIONS = {
    "reciprocal ranks": Fusion(),
    **{
        f"{how}, default {weight} : dense 1": Fusion("sum", how, weights=(weight, 1))
        for how in ("min-max", "z-score")
        for weight in (1, 2, 4)
    },
}


def fused(index: IndexReader, annotator: Annotator, fusion: Fusion) -> System:
    """The default system and embeddings."""
    finders: list[Retriever] = [TASK.system("default", index), Dense(index, annotator)]
    return System(Joint(finders, fusion))


def overlap(one: NDArray[np.float32], other: NDArray[np.float32], k: int) -> float:
    """The share of the k best columns of each row that two matrices have in common."""
    best = [np.argsort(-scores, axis=1, kind="stable")[:, :k].tolist() for scores in (one, other)]
    return float(np.mean([len({*a} & {*b}) / k for a, b in zip(*best, strict=True)]))


def print_losses(index: IndexReader, annotator: Annotator) -> None:
    """Print what is lost by fewer bits, on embeddings made anew of some documents."""
    chance = np.random.default_rng(0)
    numbers = np.sort(chance.choice(index.size, min(2 * SAMPLED, index.size), replace=False))
    whole = annotator.numbers([annotator.text(record) for record in index.records_at(numbers)])
    asked = whole[:SAMPLED]
    exact = asked @ whole.T
    print(f"\n{SAMPLED} documents compared with {len(whole)}, against 32 bits")
    print(f"{'':<10} {'bytes each':>10} {'error (rms)':>12} {'top 10 same':>12} {'top 100':>9}")
    for name, size, stored in (
        ("16 bits", 2, whole.astype(np.float16).astype(np.float32)),
        ("8 bits", 1, unpacked(packed(whole))),
    ):
        found = asked @ stored.T
        error = float(np.sqrt(np.mean((found - exact) ** 2)))
        shares = [overlap(found, exact, k) for k in (10, 100)]
        print(
            f"{name:<10} {size * whole.shape[1]:>10} {error:>12.6f} "
            f"{shares[0]:>12.4f} {shares[1]:>9.4f}"
        )


def print_times(index: IndexReader, annotator: Annotator, topics: list[Topic]) -> None:
    """Print how long exact search takes."""
    dense = Dense(index, annotator)
    for asked in (topics[:1], topics):
        start, used = time.perf_counter(), time.process_time()
        dense.retrieve(asked, 1000)
        wall, cpu = time.perf_counter() - start, time.process_time() - used
        print(
            f"{len(asked)} questions: {wall:.3f} s, of processors {cpu:.3f} s, embedding included"
        )


def main() -> int:
    """Print all tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", type=Path, metavar="DIR", help="instead of the shipped one")
    options = arguments.parse_args()
    source = DATA / TASK.id / "input"
    if not source.is_dir():
        print(f"{source} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    (annotator,) = annotators([EMBEDDING], options.model)
    folder = cache_folder() / "benchmark-stored"
    if not folder.exists():
        build_index(open_corpus([source]), folder, BuildOptions(named_analysis(TASK.analysis)))
    start = time.monotonic()
    done: list[int] = []
    annotate_index(folder, [annotator], lambda told: _tell(told, start, done))
    with IndexReader.open(folder) as index:
        topics = list(read_topics(source / "topics.xml"))
        print(f"{index.size:,} documents, {annotator.model}")
        print_times(index, annotator, topics)
        print_losses(index, annotator)
        bench = Bench(topics, [load_qrels(DATA / "qrels" / QRELS)], MEASURES, 100)
        print(f"\n{'nDCG@5':<34} condensed [95%]           strict [95%]")
        show("default", bench.scores(TASK.system("default", index)))
        show("dense", bench.scores(System(Dense(index, annotator))))
        for name, fusion in FUSIONS.items():
            show(name, bench.scores(fused(index, annotator, fusion)))
    return 0


def _tell(told: AnnotationProgress, start: float, done: list[int]) -> None:
    done[:] = done or [told.documents]
    speed = (told.documents - done[0]) / max(time.monotonic() - start, 1e-3)
    print(f"{told.documents:,} of {told.total:,}, {speed:.1f}/s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
