"""Prints how good the system `answers` of 2020 task 1 is, and what each part of it is worth.

    python -m benchmarks.effectiveness.answers [--cost]

Labels of relevance and strength (`sides` of the data, read by a large language model) and official
judgments of the odd topics. The ranker of each question learnt from all other questions. Tables:
the systems on every measure, one family of features or one stage taken away, with paired tests;
with --cost, seconds and memory per question. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.bench import DATA, opened
from sicetnon.app.search import Selection
from sicetnon.evaluation import Qrels, experiment, load_qrels
from sicetnon.evaluation.significance import randomisation_test
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.model import LearnedRanker, Linear, RankerModel
from sicetnon.ranker.training import (
    MEASURE,
    ON_TOPIC,
    SQUARELY,
    STRENGTH,
    Examples,
    Folds,
    joined,
    read_labels,
)
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic
from sicetnon.tasks.touche_2020_task_1 import TASK, default

QRELS = f"{TASK.id}-relevance.held-text.odd-topics.qrels"
OFFICIAL = ("nDCG(rule='condensed')@5", "nDCG(rule='trec')@5")
FAIR = 2
FAMILIES: Mapping[str, Sequence[str]] = {
    "scores of BM25": ("bm25", "bm25_premise"),
    "similarity of headings": ("similarity",),
    "proximity and coverage": ("proximity", "close_proximity", "closing_coverage", "density"),
    "agreement within the debate": ("debate",),
    "length and form": ("length", "word_length", "numbers", "links", "quotation", "questions"),
    "housekeeping": ("debate_talk", "housekeeping"),
    "persons and claims": ("first_person", "second_person", "claims"),
}
STAGES: Mapping[str, Callable[[RankerModel], RankerModel]] = {
    "the model for the topic": lambda model: msgspec.structs.replace(model, enough=1e-9),
    "the model for strength": lambda model: msgspec.structs.replace(
        model, strength=Linear(2.0, {})
    ),
    "the lexical score": lambda model: msgspec.structs.replace(model, lexical=0.0),
}


class Values(NamedTuple):
    """The scores of a run: nDCG@5 by topic, and shares."""

    odd: Mapping[str, float]
    more: Mapping[str, float]
    good: tuple[int, int]
    condensed: float
    strict: float

    def row(self, name: str) -> str:
        """A row of the table."""
        means = [float(np.mean(list(each.values()))) for each in (self.odd, self.more)]
        good, read = self.good
        cells = [*means, self.condensed, self.strict]
        shown = "  ".join(f"{cell:9.3f}" for cell in cells)
        return f"{name:<32} {shown}   {good:>3} of {read} ({good / max(read, 1):.3f})"


class Answers:
    """Labels, official judgments, and runs scored on both.

    Args:
        index: The index of the corpus.
    """

    def __init__(self, index: IndexReader):
        topics = read_topics(DATA / TASK.id / "input" / "topics.xml")
        titles = {topic.number: topic.title for topic in topics}
        tables = ("odd-topics.tsv", "more-questions.tsv")
        labels = [read_labels(DATA / "sides" / name, titles) for name in tables]
        self.examples = Examples(index, default(index), joined(labels))
        numbers = {title: number for number, title in titles.items()}
        self.odd = {
            ranking.topic.number: numbers[question]
            for ranking, question in zip(
                self.examples.rankings, self.examples.questions, strict=True
            )
            if question in labels[0]
        }
        official = load_qrels(DATA / "qrels" / QRELS).grades
        self.official: Qrels = load_qrels(
            {number: official[topic] for number, topic in self.odd.items()}
        )
        self.gains = self.examples.gains()
        rows = iter(range(len(self.examples.table)))
        self.rows = [{name: next(rows) for name in r.ids} for r in self.examples.rankings]

    def values(self, run: Sequence[Ranking], shown: Sequence[Ranking] | None = None) -> Values:
        """The scores of a run, and of what a person is shown of it."""
        score = experiment([run], None, self.gains, MEASURE).scores[0].values
        judged = [ranking for ranking in run if ranking.topic.number in self.odd]
        official = [
            experiment([judged], None, self.official, rule).scores[0].mean for rule in OFFICIAL
        ]
        return Values(
            {topic: value for topic, value in score.items() if topic in self.odd},
            {topic: value for topic, value in score.items() if topic not in self.odd},
            self._good(shown or run),
            *official,
        )

    def _good(self, run: Sequence[Ranking]) -> tuple[int, int]:
        """On the further questions: the strong ones among the first five, and those read there."""
        examples, good, read = self.examples, 0, 0
        for ranking, rows in zip(run, self.rows, strict=True):
            if ranking.topic.number in self.odd:
                continue
            for row in (rows[name] for name in ranking.ids[:5] if name in rows):
                read += int(examples.relevance[row] >= 0)
                is_on_topic = examples.relevance[row] == SQUARELY
                good += int(is_on_topic and examples.strength[row] >= FAIR)
        return good, read


def shown(folds: Folds) -> list[Ranking]:
    """The rankings that `search` shows: without arguments off the question."""
    found = []
    rankings = folds.examples.rankings
    for ranking, judged in zip(rankings, folds.judged(), strict=True):
        order = np.argsort(-judged.scores, kind="stable")
        reasons = tuple({"on_topic": float(judged.on_topic[place])} for place in order)
        whole = replace(ranking.taken(order, judged.scores[order]), reasons=reasons)
        nothing = [()] * len(whole)
        found.append(Selection(whole, list(nothing), nothing).on_topic().ranking)  # type: ignore[arg-type]
    return found


def print_ablation(bench: Answers, base: Values) -> None:
    """Print what is lost without a family of features, and without a stage."""

    def show(name: str, folds: Folds) -> None:
        values = bench.values(folds.run(), shown(folds))
        every = {**base.odd, **base.more}
        lost = {**values.odd, **values.more}
        differences = np.array([lost[topic] - every[topic] for topic in sorted(every)])
        tested = f"{differences.mean():+.3f}, p = {randomisation_test(differences):.3f}"
        print(f"{values.row(name)}   {tested}", flush=True)

    for name, left_out in FAMILIES.items():
        kept = [[each for each in names if each not in left_out] for names in (ON_TOPIC, STRENGTH)]
        show(f"without {name}", Folds(bench.examples, *kept))
    for name, change in STAGES.items():
        folds = Folds(bench.examples)
        folds.models = [change(model) for model in folds.models]
        show(f"without {name}", folds)


def print_cost(index: IndexReader, topics: Sequence[Topic]) -> None:
    """Print seconds and memory per question; each is new to the process."""
    print("\ncandidates   seconds per question   of processors   peak memory, MB")
    half = len(topics) // 2
    for depth, asked in ((100, topics[:half]), (1000, topics[half:])):
        found = default(index)
        ranker = LearnedRanker(index, depth=depth)
        system = System(found.retriever, [*found.stages, ranker], depth=depth)
        system.retrieve(asked[:1], 10)
        wall, used = time.perf_counter(), time.process_time()
        for topic in asked[1:]:
            system.retrieve([topic], 10)
        count = len(asked) - 1
        wall, used = time.perf_counter() - wall, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{depth:>10}   {wall / count:>20.3f}   {used / count:>13.3f}   {peak:>15.0f}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cost", action="store_true", help="time the ranker as well")
    given = parser.parse_args()
    with opened(TASK) as index:
        bench = Answers(index)
        head = ("odd", "further", "condensed", "strict")
        print(" " * 33 + "  ".join(f"{each:>9}" for each in head) + "   strong of first five")
        asked = [ranking.topic for ranking in bench.examples.rankings]
        for name in ("default", "bm25", "dirichlet"):
            run = TASK.system(name, index).retrieve(asked, 100)
            print(bench.values(run).row(name), flush=True)
        folds = Folds(bench.examples)
        base = bench.values(folds.run(), shown(folds))
        print(bench.values(folds.run()).row("answers, by folds"), flush=True)
        print(bench.values(shown(folds)).row("answers, as search shows them"), flush=True)
        print_ablation(bench, base)
        if given.cost:
            topics = read_topics(DATA / TASK.id / "input" / "topics.xml")
            print_cost(index, list(topics))
    return 0


if __name__ == "__main__":
    sys.exit(main())
