"""Prints what fusion of the 21 official runs of 2022 task 2 reaches against the best single run.

    python -m benchmarks.effectiveness.fusion

Reads SICETNON_DATA (default: ../shared/data). Whatever is chosen (runs, weights, methods) is
chosen for each topic on the other 49, so no row has seen its own judgments, except the last three,
which are marked.

nDCG@5 of relevance by the organisers' rule; the difference to the best single run at hand; both
with 95% intervals over topics; topics won and lost; Fisher's randomisation test, and the same
corrected (Holm) for the number of rows. Then judged@5, nDCG@5 by trec_eval's rule, and, by the
organisers' rule, quality and stance, for which nothing was chosen.

The run with the highest published figure, 0.758, is not among the files.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import DATA
from sicetnon.arrays import Reals
from sicetnon.evaluation import OFFICIAL_NDCG, Score, experiment, load_qrels, load_run
from sicetnon.evaluation.inputs import Qrels
from sicetnon.evaluation.significance import mean_interval
from sicetnon.ranking.fusion import Fusion, fuse
from sicetnon.records import Run

TASK = "touche-2022-task-2"
PUBLISHED_BEST = 0.758
DEPTH = 5
POOL = 50  # of each run's documents, when weights are chosen
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 21)
POWERS = (0, 1, 2, 4, 8)
STEPS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
PASSES = 5
METHODS = {
    "RRF": Fusion("rrf"),
    "CombSUM": Fusion("sum", "min-max"),
    "CombSUM z-score": Fusion("sum", "z-score"),
    "CombMNZ": Fusion("mnz", "min-max"),
}
BASELINE = "best single run at hand"

Weights = tuple[float, ...]


@dataclass(frozen=True)
class Choice:
    """A method for a topic, and a weight for each run."""

    method: str
    weights: Weights


Chooser = Callable[[NDArray[np.int64]], Choice]
"""From the places of the topics that may be looked at."""


class WeighedRuns:
    """Runs and judgments, and what weights score on every topic, quickly."""

    def __init__(self, runs: Sequence[Run], qrels: Qrels):
        self.runs, self.topics = list(runs), sorted(qrels.grades, key=int)
        self.singles = np.array([_per_topic(run, qrels, self.topics) for run in self.runs])
        pools = [self._pool(topic) for topic in self.topics]
        shape = (len(self.topics), max(map(len, pools)), len(self.runs))
        self._values = {name: np.zeros(shape) for name in METHODS}
        self._held = np.zeros(shape, dtype=np.bool_)
        self._gains = np.full(shape[:2], -1.0)  # -1: not judged
        self._ideal = np.ones(len(self.topics))
        for at, (topic, pool) in enumerate(zip(self.topics, pools, strict=True)):
            self._fill(at, topic, pool)
            labels = qrels.grades[topic]
            self._gains[at, : len(pool)] = [max(labels.get(name, -1), -1) for name in pool]
            best = sorted((max(each, 0) for each in labels.values()), reverse=True)[:DEPTH]
            self._ideal[at] = _dcg(np.array(best, dtype=np.float64)[None])[0]
        self.score = functools.lru_cache(maxsize=None)(self._score)

    def _pool(self, topic: str) -> list[str]:
        tops = (run.rankings[topic].ids[:POOL] for run in self.runs)
        return sorted(set(itertools.chain.from_iterable(tops)))

    def _fill(self, at: int, topic: str, pool: list[str]) -> None:
        place = {name: number for number, name in enumerate(pool)}
        for column, run in enumerate(self.runs):
            ranking = run.rankings[topic]
            known = [n for n, name in enumerate(ranking.ids) if name in place]
            rows = [place[ranking.ids[n]] for n in known]
            self._held[at, rows, column] = True
            for name, fusion in METHODS.items():
                self._values[name][at, rows, column] = fusion.values(ranking)[known]

    def _score(self, choice: Choice) -> Reals:
        """nDCG@5 of every topic by the organisers' rule; ties as they come."""
        weights = np.array(choice.weights)
        scores = self._values[choice.method] @ weights
        if METHODS[choice.method].method == "mnz":
            scores *= self._held @ (weights > 0).astype(np.float64)
        top = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
        gains = np.take_along_axis(self._gains, top, axis=1)
        # the unjudged behind the judged, which stay in their order
        order = np.argsort(gains < 0, axis=1, kind="stable")
        result: Reals = _dcg(np.maximum(np.take_along_axis(gains, order, axis=1), 0)) / self._ideal
        return result

    def means(self, seen: NDArray[np.int64]) -> Reals:
        """The mean of each run over some topics."""
        means: Reals = self.singles[:, seen].mean(axis=1)
        return means


def _dcg(gains: Reals) -> Reals:
    sums: Reals = (gains / np.log2(np.arange(2, gains.shape[1] + 2))).sum(axis=1)
    return sums


def _per_topic(run: Run, qrels: Qrels, topics: Sequence[str]) -> list[float]:
    values = OFFICIAL_NDCG(run, qrels).topics
    return [values.get(topic, 0.0) for topic in topics]


def best_runs(weighed: WeighedRuns, method: str, count: int, power: float) -> Chooser:
    """Chooses the runs that are best on the topics seen, weighted by a power of their nDCG."""

    def choose(seen: NDArray[np.int64]) -> Choice:
        means = weighed.means(seen)
        weights = np.zeros(len(means))
        best = np.argsort(-means, kind="stable")[:count]
        weights[best] = (means[best] / means.max()) ** power
        return Choice(method, tuple(weights.tolist()))

    return choose


def best_of(weighed: WeighedRuns, choosers: Sequence[Chooser]) -> Chooser:
    """Chooses as the chooser does that is best on the topics seen."""

    def choose(seen: NDArray[np.int64]) -> Choice:
        choices = [chooser(seen) for chooser in choosers]
        return max(choices, key=lambda choice: weighed.score(choice)[seen].mean())

    return choose


def ascent(weighed: WeighedRuns, method: str) -> Chooser:
    """Chooses weights one at a time, the best run's first, until none helps the topics seen.

    Source: Metzler and Croft, Linear feature-based models for information retrieval, 2007.
    """

    def choose(seen: NDArray[np.int64]) -> Choice:
        order = np.argsort(-weighed.means(seen), kind="stable").tolist()
        choice = best_runs(weighed, method, len(weighed.runs), 1)(seen)
        for _ in range(PASSES):
            before = choice
            for place in order:
                tries = [_with(choice, place, step) for step in STEPS]
                best = max(tries, key=lambda each: weighed.score(each)[seen].mean())
                if weighed.score(best)[seen].mean() > weighed.score(choice)[seen].mean() + 1e-9:
                    choice = best
            if choice == before:
                break
        return choice

    return choose


def _with(choice: Choice, place: int, weight: float) -> Choice:
    weights = (*choice.weights[:place], weight, *choice.weights[place + 1 :])
    return Choice(choice.method, weights) if any(weights) else choice


def left_out(weighed: WeighedRuns, choose: Chooser) -> Run:
    """Every topic fused as was chosen without it."""
    everything = np.arange(len(weighed.topics))
    topics = {
        topic: _fused(weighed, choose(np.delete(everything, place)), [topic]).rankings[topic]
        for place, topic in enumerate(weighed.topics)
    }
    return Run("", "fused", topics)


def seen_all(weighed: WeighedRuns, choose: Chooser) -> Run:
    """Every topic fused as was chosen with it: what cannot be had."""
    return _fused(weighed, choose(np.arange(len(weighed.topics))), weighed.topics)


def _fused(weighed: WeighedRuns, choice: Choice, topics: Sequence[str]) -> Run:
    fusion = METHODS[choice.method]
    runs = [
        Run(run.name, run.tag, {topic: run.rankings[topic] for topic in topics})
        for run in weighed.runs
    ]
    return fuse(runs, Fusion(fusion.method, fusion.normalise, choice.weights))


def candidates(weighed: WeighedRuns) -> list[Chooser]:
    """Every method with every number of best runs and every power of their nDCG."""
    return [best_runs(weighed, *each) for each in itertools.product(METHODS, COUNTS, POWERS)]


def honest(weighed: WeighedRuns) -> dict[str, Run]:
    """The runs of the table by name, each topic fused as was chosen without it."""
    every = len(weighed.runs)
    choosers: dict[str, Chooser] = {"single run chosen": best_runs(weighed, "RRF", 1, 0)}
    choosers |= {f"{name} of all": best_runs(weighed, name, every, 0) for name in METHODS}
    choosers |= {f"RRF of the best {n}": best_runs(weighed, "RRF", n, 0) for n in (2, 3, 5, 8)}
    choosers |= {
        f"{name} of the best n": best_of(weighed, [best_runs(weighed, name, n, 0) for n in COUNTS])
        for name in ("RRF", "CombSUM")
    }
    choosers |= {f"CombSUM by nDCG^{p}": best_runs(weighed, "CombSUM", every, p) for p in (1, 4, 8)}
    choosers["method, n, power chosen"] = best_of(weighed, candidates(weighed))
    choosers |= {f"{name}, ascent": ascent(weighed, name) for name in ("RRF", "CombSUM")}
    return {name: left_out(weighed, choose) for name, choose in choosers.items()}


def seen(weighed: WeighedRuns) -> dict[str, Run]:
    """The same for three of them, each topic fused as was chosen with it."""
    choosers = {
        "seen: method, n, power": best_of(weighed, candidates(weighed)),
        "seen: RRF, ascent": ascent(weighed, "RRF"),
        "seen: CombSUM, ascent": ascent(weighed, "CombSUM"),
    }
    return {name: seen_all(weighed, choose) for name, choose in choosers.items()}


def show(results: dict[str, Run], best: Run, qrels: Sequence[Qrels], header: bool) -> None:
    """Print rows of the table, those of the best single run first where there is a header."""
    named = {BASELINE: best} | results
    relevance, quality, stance = (
        {score.run: score for score in experiment(named, None, each, baseline=BASELINE).scores}
        for each in qrels
    )
    trec = {score.run: score for score in experiment(named, None, qrels[0], rule="trec").scores}
    if header:
        print(
            f"{'':<24} nDCG@5                difference              won/lost  p      corrected  "
            "judged  trec   quality  stance"
        )
    for name in named if header else results:
        print(
            f"{name:<24} {_cells(relevance[name], relevance[BASELINE])}  "
            f"{relevance[name].judged:.3f}   {trec[name].mean:.3f}  {quality[name].mean:.3f}"
            f"    {stance[name].mean:.3f}"
        )


def _cells(score: Score, baseline: Score) -> str:
    found = f"{score.mean:.3f} [{score.low:.3f}, {score.high:.3f}]"
    than = score.comparison
    if than is None:
        return f"{found}  {'':51}"
    low, high = mean_interval([score.values[t] - baseline.values[t] for t in baseline.values])
    chances = f"{than.p_randomisation:.3f}  {than.p_randomisation_corrected:.3f}"
    return (
        f"{found}  {than.difference:+.3f} [{low:+.3f}, {high:+.3f}]  "
        f"{than.wins:>2}/{than.losses:<2}     {chances}    "
    )


def main() -> int:
    """Print the table."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    files = sorted((DATA / "runs" / TASK).glob("*/*.txt.gz"))
    if not files:
        print(f"no runs in {DATA / 'runs' / TASK}; set SICETNON_DATA", file=sys.stderr)
        return 1
    runs = [load_run(file) for file in files]
    dimensions = ("relevance", "quality", "stance")
    qrels = [load_qrels(DATA / "qrels" / f"{TASK}-{each}.qrels") for each in dimensions]
    weighed = WeighedRuns(runs, qrels[0])
    means = weighed.means(np.arange(len(weighed.topics)))
    best = runs[int(np.argmax(means))]
    print(
        f"{len(runs)} runs, {len(weighed.topics)} topics; "
        f"best at hand {best.tag} {means.max():.3f}; "
        f"best published {PUBLISHED_BEST:.3f}, not at hand"
    )
    show(honest(weighed), best, qrels, header=True)
    show(seen(weighed), best, qrels, header=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
