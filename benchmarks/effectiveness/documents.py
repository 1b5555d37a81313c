"""Prints what each signal of task 2 on documents costs or brings, on the evidence at hand.

    python -m benchmarks.effectiveness.documents [--crossvalidate]

Two kinds of evidence, both weak:

- Topic 1 of 2020, whose hits ChatNoir gave were recorded with PageRank, spam rank and address, but
  without texts: snippets stand in for them. One topic proves nothing; it can only warn.
- 35 odd topics of 2020 and 2021 over 227 web documents, put together from the passages of 2022,
  with texts but neither address nor ranks. Relevant are 102 pairs; what is not marked counts as not
  relevant. Scores are nDCG@5, strict, and differences to BM25 come with their standard error.

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import DATA, Bench
from benchmarks.recorded import QRELS, TOPIC, recorded_pages
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.evaluation import load_qrels
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.formats.corpora import KINDS, Corpus, read_passages
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.operating_system import cache_folder
from sicetnon.ranking.stages import Blend
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic, WebPage
from sicetnon.retrieval.searcher import ObjectsRetriever
from sicetnon.services.page_sources import from_index
from sicetnon.tasks import touche_2020_task_2 as task
from sicetnon.text.analysis import named_analysis

STEPS = (0.02, 0.05, 0.1, 0.2)
GRIDS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "comparatives": {"comparatives": (0, 0.05, 0.1, 0.15, 0.2, 0.3)},
    "all cues together": {"arguing": (0, 0.05, 0.1, 0.15, 0.2, 0.3)},
    "each kind of cue": {
        "comparatives": (0, 0.1, 0.2), "reasons": (0, 0.05, 0.1), "claims": (0, 0.05, 0.1),
        "weighing": (0, 0.05, 0.1),
    },
    "advertising": {"advertising": (0, 0.01, 0.02, 0.05, 0.1)},
    "objects": {"objects": (0, 0.25, 0.5, 1, 2)},
    "comparatives, objects": {"comparatives": (0, 0.1, 0.15, 0.2), "objects": (0, 0.25, 0.5, 1)},
}  # fmt: skip
# of the documents no address and no rank is known
TEXTUAL = ("claims", "reasons", "weighing", "comparatives", "arguing", "length", "advertising")

Values = Mapping[str, float]


def grouped() -> list[WebPage]:
    """The passages of 2022, put together to the documents that they are from."""
    texts: dict[str, list[str]] = {}
    for passage in read_passages(DATA / "touche-2022-task-2" / "input" / "passages.jsonl.gz"):
        texts.setdefault(passage.id.partition("___")[0], []).append(passage.contents)
    return [WebPage(name, "", "\n".join(parts)) for name, parts in texts.items()]


class Documents:
    """Documents put together from passages, with what is known to be relevant."""

    def __init__(self, index: IndexReader):
        self.index, self.pages = index, from_index(index)
        self.qrels = load_qrels(DATA / "touche-2022-task-2" / "relevant-documents.qrels")
        files = ("touche-2020-task-2.xml", "touche-2021-task-2.xml")
        topics = [topic for name in files for topic in read_topics(DATA / "topics" / name)]
        self.topics = [topic for topic in topics if topic.number in self.qrels.topics]
        every = index.records_at(range(index.document_count))
        self._measured: dict[str, NDArray[np.float64]] = {
            name: task.MEASURES[name]([page for page in every if isinstance(page, WebPage)])
            for name in TEXTUAL
        }

    def system(self, point: Values, depth: int = task.DEPTH) -> System:
        """As `task.weighed`, with precomputed measures."""
        measures = [(self._kept(n), w) for n, w in point.items() if n != "objects"]
        assert self.pages.local is not None
        found = ObjectsRetriever(self.pages.local, objects_of, point.get("objects", 0.0))
        return System(found, [Blend(measures, depth)], depth)

    def score(self, system: System) -> Values:
        """NDCG@5 by topic."""
        bench = Bench(self.topics, [self.qrels], ["nDCG(rule='trec')@5"], self.index.document_count)
        return bench.scores(system)[0].values

    def _kept(self, name: str) -> Callable[[Topic, Ranking], list[float]]:
        return lambda _, ranking: self._measured[name][self.index.numbers(ranking.ids)].tolist()


@contextmanager
def opened() -> Iterator[Documents]:
    """The documents in an index of their own."""
    folder = cache_folder() / "benchmark-documents"
    corpus = Corpus(*KINDS[WebPage], (folder,), lambda *_: iter(grouped()))
    build_index(corpus, folder, BuildOptions(named_analysis(task.TASK.analysis)))
    with IndexReader.open(folder) as index:
        yield Documents(index)


def difference(values: Values, base: Values) -> str:
    """The mean difference, its standard error, and the topics won and lost."""
    parts = np.array([values[topic] - base[topic] for topic in sorted(base)])
    error = parts.std(ddof=1) / np.sqrt(len(parts))
    won, lost = int((parts > 1e-9).sum()), int((parts < -1e-9).sum())
    return f"{parts.mean():+.3f} ± {error:.3f}, {won} won, {lost} lost"


def show_documents(documents: Documents) -> None:
    """Every signal alone, then the systems."""
    base = documents.score(task.bm25(documents.pages))
    print(f"\n{len(base)} topics, {documents.index.document_count} documents, nDCG@5 strict")
    print(f"{'bm25':<24} {statistics.mean(base.values()):.3f}")
    points: list[dict[str, float]] = [{name: w} for name in TEXTUAL for w in STEPS]
    points += [{"objects": weight} for weight in (0.25, 0.5, 1.0, 2.0)]
    for point in points:
        values, name = documents.score(documents.system(point)), " ".join(map(str, *point.items()))
        print(f"{name:<24} {statistics.mean(values.values()):.3f} {difference(values, base)}")
    for name in ("default", "every-signal"):
        values = documents.score(task.SYSTEMS[name](documents.pages))
        print(f"{name:<24} {statistics.mean(values.values()):.3f} {difference(values, base)}")


def crossvalidate(documents: Documents) -> None:
    """Choose weights on all topics but one, test on that one."""
    base = documents.score(task.bm25(documents.pages))
    print("\nweights chosen on all topics but one, tested on that one")
    for name, grid in GRIDS.items():
        points = [dict(zip(grid, v, strict=True)) for v in itertools.product(*grid.values())]
        results = [documents.score(documents.system(point)) for point in points]
        chosen = {
            left_out: max(
                range(len(points)),
                key=lambda at: sum(v for t, v in results[at].items() if t != left_out),
            )
            for left_out in base
        }
        tested = {topic: results[at][topic] for topic, at in chosen.items()}
        (at, count), *_ = Counter(chosen.values()).most_common(1)
        print(f"{name:<24} {statistics.mean(tested.values()):.3f} {difference(tested, base)}; "
              f"{count} times {points[at]}", flush=True)  # fmt: skip


def show_recorded() -> None:
    """Every signal alone, then the systems, on topic 1."""
    pages, qrels = recorded_pages(), load_qrels(DATA / "qrels" / QRELS)
    bench = Bench([TOPIC], [qrels], ["nDCG(rule='trec')@5", "nDCG(rule='trec')@10"])
    print("\ntopic 1 of 2020 alone, recorded hits, snippets in place of texts: nDCG@5, nDCG@10, "
          "strict; weights " + " ".join(map(str, STEPS)))  # fmt: skip

    def cell(system: System) -> str:
        return " ".join(f"{score.values[TOPIC.number]:.3f}" for score in bench.scores(system))

    for name in task.MEASURES:
        cells = [cell(task.weighed(pages, {name: weight})) for weight in STEPS]
        print(f"{name:<24} {'   '.join(cells)}")
    for name in ("bm25", "default", "every-signal"):
        print(f"{name:<24} {cell(task.SYSTEMS[name](pages))}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--crossvalidate", action="store_true")
    given = parser.parse_args()
    if not (DATA / "touche-2022-task-2").is_dir():
        print(f"{DATA} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    with warnings.catch_warnings(), opened() as documents:
        warnings.simplefilter("ignore", EvaluationWarning)  # one topic of 25, as said there
        show_recorded()
        show_documents(documents)
        if given.crossvalidate:
            crossvalidate(documents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
