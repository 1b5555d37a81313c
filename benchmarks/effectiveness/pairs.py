"""Prints how good pairs of sentences are (2022 task 1), on the judgments whose texts are at hand.

    python -m benchmarks.effectiveness.pairs [--crossvalidate] [--learned]

Reads SICETNON_DATA (default: ../shared/data). Two tables of condensed nDCG@5 with linear gain:

- *runs*: what is written, 1,000 pairs per topic. A run holds few judged pairs, since there are
  millions of pairs and other systems chose those that were judged; this table favours what picks
  pairs as they did.
- *order*: all judged pairs whose text is at hand, put in order by what a pair is worth.

With --learned, what the model of `sicetnon annotate quality` adds to the default order; with
--crossvalidate, weights chosen on all topics but one and tested on that one.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.bench import DATA, Bench, opened
from sicetnon.arrays import Reals
from sicetnon.evaluation import Qrels, Score, load_qrels
from sicetnon.formats.identifiers import SEPARATOR, one_order
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import CandidateReader, Candidates
from sicetnon.pairs.pairing import Pairs, Worth, contradicts
from sicetnon.records import ProcessedArgument, Ranking
from sicetnon.tasks import touche_2020_task_1
from sicetnon.tasks.touche_2022_task_1 import DEPTH, TASK, default

DIMENSIONS = ("relevance", "quality", "coherence")
SEEDS = range(10)
RESULTS = 1000
LAST = 10.0  # what a fault costs that keeps a pair out of a run
QUALITIES = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
GRID = {
    "weakest": (1.0, 1.5, 2.0, 3.0),
    "strongest": (0.0, 0.4, 0.8),
    "argument": (0.0, 0.03, 0.06),
    "strength": (0.5, 0.75, 1.0),
    "coherence": (0.1, 0.2, 0.4),
    "summary": (0.0, 0.1, 0.3),
}

Names = dict[str, list[str]]


def arguments(index: IndexReader, ranking: Ranking) -> list[ProcessedArgument]:
    """The arguments of a ranking."""
    return [each for each in index.records(ranking.ids) if isinstance(each, ProcessedArgument)]


def random_pairs(index: IndexReader, found: Sequence[Ranking], seed: int) -> Names:
    """Any two sentences of an argument, a pair of each argument in turn, best argument first."""
    chosen = random.Random(seed)
    names: Names = {}
    for ranking in found:
        queues = []
        for argument in arguments(index, ranking.best(DEPTH)):
            ids = [sentence.id for sentence in argument.sentences]
            pairs = list(itertools.combinations(ids[:60], 2))
            chosen.shuffle(pairs)
            queues.append(pairs)
        turns = itertools.zip_longest(*queues)
        flat = (pair for turn in turns for pair in turn if pair)
        names[ranking.topic.number] = [
            SEPARATOR.join(pair) for pair in itertools.islice(flat, RESULTS)
        ]
    return names


def first_pairs(index: IndexReader, found: Sequence[Ranking]) -> Names:
    """The first two sentences of each argument, best argument first."""
    return {
        ranking.topic.number: [
            SEPARATOR.join(sentence.id for sentence in record.sentences[:2])
            for record in arguments(index, ranking)
            if len(record.sentences) > 1
        ]
        for ranking in found
    }


class Judged:
    """The judged pairs of a topic that are at hand, as the default system sees them."""

    def __init__(self, index: IndexReader, qrels: Qrels, ranking: Ranking, reader: CandidateReader):
        self.topic = ranking.topic.number
        judged = sorted(qrels.grades[self.topic])
        sentences = reader.read(ranking.topic, _with_judged(index, ranking, judged))
        place = {name: number for number, name in enumerate(sentences.ids)}
        halves = [pair.split(SEPARATOR) for pair in judged]
        known = [both for both in halves if all(half in place for half in both)]
        self.names = [SEPARATOR.join(both) for both in known]
        wanted = np.array(sorted({place[half] for both in known for half in both}))
        taken = sentences.taken(wanted)
        place = {name: number for number, name in enumerate(taken.ids)}
        first, second = np.array([[place[half] for half in both] for both in known]).T
        similar = taken.cosines()[first, second].astype(np.float64)
        self.pairs = Pairs(taken, first, second, similar)
        self.faults: Reals = LAST * contradicts(taken, first, second, similar).astype(float)
        self.faults += LAST * (~taken.fit[first] | ~taken.fit[second])

    def order(self, worth: Callable[[Pairs], Reals], faults: bool = True) -> list[str]:
        """The pairs by worth, those with faults last."""
        scores = worth(self.pairs) - (self.faults if faults else 0)
        return [self.names[place] for place in np.argsort(-scores, kind="stable")]


def _with_judged(index: IndexReader, ranking: Ranking, judged: Sequence[str]) -> Ranking:
    """The best arguments, and those that judged pairs are of, with their scores."""
    names = {half.rsplit("__", 2)[0] for pair in judged for half in pair.split(SEPARATOR)}
    held = {name: number for name in names if (number := index.number(name)) is not None}
    top = np.isin(ranking.ids, list(held)) | (np.arange(len(ranking)) < DEPTH)
    taken = ranking.taken(np.flatnonzero(top), ranking.scores[top])
    # in the order in which they stand in the index
    missing = sorted(held.keys() - set(ranking.ids), key=held.__getitem__)
    return Ranking(
        ranking.topic,
        (*taken.ids, *missing),
        np.concatenate([taken.scores, np.full(len(missing), ranking.scores[-1])]),
    )


def show(name: str, scores: Sequence[Score]) -> None:
    """Print a row: means with their 95% intervals, their mean, and how many topics count."""
    cells = [f"{s.mean:.3f} [{s.low:.3f}, {s.high:.3f}]" for s in scores]
    mean = statistics.mean(s.mean for s in scores)
    print(f"{name:<30} {'   '.join(cells)}   {mean:.3f}", flush=True)


def show_random(name: str, results: Sequence[Sequence[Score]]) -> None:
    """Print a row: means over seeds, with the lowest and highest."""
    cells = []
    for scores in zip(*results, strict=True):
        means = [score.mean for score in scores]
        cells.append(f"{statistics.mean(means):.3f} ({min(means):.3f}, {max(means):.3f})")
    print(f"{name:<30} {'   '.join(cells)}", flush=True)


def runs(bench: Bench, index: IndexReader, found: Sequence[Ranking]) -> None:
    """Print what runs score."""
    print(
        "\nruns of 1,000 pairs            relevance              quality                coherence"
    )
    chance = [bench.order_scores(random_pairs(index, found, seed)) for seed in SEEDS]
    show_random("random pairs of an argument", chance)
    show("first two sentences", bench.order_scores(first_pairs(index, found)))
    rankings = default(index).retrieve(bench.topics, RESULTS)
    show("default", bench.run_scores(rankings))
    judged = [
        sum(one_order(name) in bench.qrels[0].grades[ranking.topic.number] for name in ranking.ids)
        for ranking in rankings
    ]
    print(f"judged pairs in the default: {statistics.mean(judged):.1f} per topic")


def shuffled(topics: Sequence[Judged], seed: int) -> Names:
    """The judged pairs in any order."""
    chosen = random.Random(seed)
    return {topic.topic: chosen.sample(topic.names, len(topic.names)) for topic in topics}


def orders(bench: Bench, topics: Sequence[Judged]) -> None:
    """Print what orders of the judged pairs score, part by part."""
    print(
        "\norder of all judged pairs      relevance              quality                coherence"
    )
    show_random("any", [bench.order_scores(shuffled(topics, seed)) for seed in SEEDS])
    zero = Worth(**dict.fromkeys(Worth.__dataclass_fields__, 0.0))
    alone: dict[str, Callable[[Pairs], Reals]] = {
        "first two sentences first": _earliest,
        "score of the arguments": replace(zero, argument=1.0),
    }
    for name, worth in alone.items():
        show(name, bench.order_scores({t.topic: t.order(worth, faults=False) for t in topics}))
    show("default", bench.order_scores({t.topic: t.order(Worth()) for t in topics}))
    show(
        "without the faults", bench.order_scores({t.topic: t.order(Worth(), False) for t in topics})
    )
    for part in Worth.__dataclass_fields__:
        worth = replace(Worth(), **{part: 0.0})
        show(f"without {part}", bench.order_scores({t.topic: t.order(worth) for t in topics}))


def _earliest(pairs: Pairs) -> Reals:
    sentences: Candidates = pairs.sentences
    same = sentences.arguments[pairs.first] == sentences.arguments[pairs.second]
    late = sentences.positions[pairs.first] + sentences.positions[pairs.second]
    worth: Reals = same * 1e4 - late + 0.01 * sentences.relevance[pairs.first]
    return worth


def learned(bench: Bench, topics: Sequence[Judged]) -> None:
    """Print what orders score when the model's quality of both sentences counts as well."""
    from sicetnon.arguments.models.classifiers import Quality

    print(
        "\nthe model's quality counts      relevance              quality                coherence"
    )
    qualities = []
    for topic in topics:
        texts = topic.pairs.sentences.texts
        pairs = zip(topic.pairs.first, topic.pairs.second, strict=True)
        said = Quality().score([f"{texts[one]} {texts[other]}" for one, other in pairs])
        raised = np.log(said / (1 - said))
        qualities.append((raised - raised.mean()) / raised.std())
    for weight in QUALITIES:
        names = {
            topic.topic: topic.order(_worth_and(weight * own))
            for topic, own in zip(topics, qualities, strict=True)
        }
        show(f"default and {weight} times it", bench.order_scores(names))


def _worth_and(more: Reals) -> Callable[[Pairs], Reals]:
    return lambda pairs: Worth()(pairs) + more


def crossvalidate(bench: Bench, topics: Sequence[Judged]) -> None:
    """Choose weights on all topics but one, test on that one; print the means."""
    points = [Worth(**dict(zip(GRID, values, strict=True)))
              for values in itertools.product(*GRID.values())]  # fmt: skip
    values = []  # shape (points, topics, dimensions)
    for worth in points:
        scores = bench.order_scores({topic.topic: topic.order(worth) for topic in topics})
        values.append([[s.values.get(topic.topic, 0.0) for s in scores] for topic in topics])
    table = np.array(values)
    total = table.mean(axis=2)
    tested = []
    chosen = []
    for left_out in range(len(topics)):
        best = int(np.argmax(np.delete(total, left_out, axis=1).mean(axis=1)))
        chosen.append(best)
        tested.append(table[best, left_out])
    means = np.mean(tested, axis=0)
    print(f"\nleaving one topic out, {len(points)} settings: "
          + ", ".join(f"{d} {m:.3f}" for d, m in zip(DIMENSIONS, means, strict=True)))  # fmt: skip
    print("chosen most often:", points[max(set(chosen), key=chosen.count)])
    print("best on all:", points[int(np.argmax(total.mean(axis=1)))], total.mean(axis=1).max())
    for place, (name, options) in enumerate(GRID.items()):
        grid = total.mean(axis=1).reshape([len(o) for o in GRID.values()])
        line = grid.max(axis=tuple(a for a in range(len(GRID)) if a != place))
        print(f"{name:<12}", "  ".join(f"{o}: {v:.3f}" for o, v in zip(options, line, strict=True)))


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--crossvalidate", action="store_true")
    parser.add_argument("--learned", action="store_true")
    given = parser.parse_args()
    qrels = [
        load_qrels(DATA / "qrels" / f"{TASK.id}-{dimension}.held-text.odd-topics.qrels")
        for dimension in DIMENSIONS
    ]
    with opened(TASK) as index:
        # one judged topic is not in the topics file at hand
        every = read_topics(DATA / TASK.id / "input" / "topics.xml")
        topics = [topic for topic in every if topic.number in qrels[0].grades]
        kept = [replace(q, grades={t.number: q.grades[t.number] for t in topics}) for q in qrels]
        found = touche_2020_task_1.default(index).retrieve(topics, 1000)
        bench = Bench(topics, kept, ["nDCG(rule='condensed')@5"])
        reader = CandidateReader(index)
        judged = [Judged(index, kept[0], ranking, reader) for ranking in found]
        print(f"{len(topics)} topics, {sum(len(t.names) for t in judged):,} judged pairs at hand")
        orders(bench, judged)
        runs(bench, index, found)
        if given.learned:
            learned(bench, judged)
        if given.crossvalidate:
            crossvalidate(bench, judged)
    return 0


if __name__ == "__main__":
    sys.exit(main())
