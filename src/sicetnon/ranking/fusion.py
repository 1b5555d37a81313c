"""Fusion: combine runs by ranks or by scores, and vote on the stances.

    fused = fuse([load_run("a.txt"), load_run("b.txt.gz")], Fusion("sum", weights=(2, 1)))

Sources: reciprocal rank fusion is Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms
Condorcet and individual rank learning methods, SIGIR 2009; CombSUM and CombMNZ are Fox and Shaw,
Combination of multiple searches, TREC-2, 1994; the normalisations are as in Montague and Aslam,
Relevance score normalization for metasearch, CIKM 2001, and Lee, Analyses of multiple evidence
combination, SIGIR 1997 (by rank).

ranx has these methods and more, but reads neither ranks, by which the organisers order a run, nor
stances nor tags with spaces; it orders ties by the order of the runs, and needs another 380 MB of
libraries. On the official runs of 2022 task 2 its fused scores equal these to 12 digits, where both
read the same order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_number, check_real
from sicetnon.arrays import Reals
from sicetnon.contracts import has_pairs
from sicetnon.errors import UsageError, counted
from sicetnon.formats.identifiers import all_pairs
from sicetnon.formats.runs import unordered
from sicetnon.records import UNSTANCED, Ranking, Retriever, Run, Topic

Method = Literal["rrf", "sum", "mnz"]
Normalisation = Literal["min-max", "sum", "z-score", "rank"]
METHODS: tuple[Method, ...] = get_args(Method)
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)
CONSTANT = 60.0
DEPTH = 1000


@dataclass(frozen=True)
class Fusion:
    """A method of fusion, with its parameters.

    The fused score of a document is the weighted sum of a value per run, 0 where the run lacks the
    document. For `rrf` the value is 1 / (constant + rank), with ranks from 1; for `sum` (CombSUM)
    the normalised score; for `mnz` (CombMNZ) as well, and the sum is multiplied by the number of
    runs with the document.

    Attributes:
        method: `rrf`, `sum` or `mnz`.
        normalise: How the scores of a topic become comparable, for `sum` and `mnz`: `min-max` (from
            0 to 1), `sum` (lowest 0, sum 1), `z-score` (in standard deviations above the lowest: a
            mean of 0 would put a document that a run lacks above half of those that it has), or
            `rank` (1 for the first of n, 1/n for the last).
        weights: A number from 0 for each run; only their ratios matter. A run with weight 0 is left
            out. All are 1 when left out.
        constant: The constant of `rrf`: the higher, the less weight the first ranks have.

    Raises:
        UsageError: There is no such method or normalisation, or a number is out of range.
    """

    method: Method = "rrf"
    normalise: Normalisation = "min-max"
    weights: tuple[float, ...] | None = None
    constant: float = CONSTANT

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"found the method {self.method!r}; expected {', '.join(METHODS)}")
        if self.normalise not in NORMALISATIONS:
            expected = ", ".join(NORMALISATIONS)
            raise UsageError(f"found the normalisation {self.normalise!r}; expected {expected}")
        check_real(self.constant, "the constant")
        weights: object = self.weights
        if isinstance(weights, np.ndarray):
            weights = tuple(weights.tolist())
            object.__setattr__(self, "weights", weights)
        if weights is not None and not isinstance(weights, Sequence):
            found = type(weights).__name__
            raise UsageError(f"found {found} as the weights; expected a number for each run")
        if not (math.isfinite(self.constant) and self.constant >= 0):
            raise UsageError(f"found the constant {self.constant}; expected a number from 0")
        for weight in self.weights or ():
            check_real(weight, "a weight")
            if not (math.isfinite(weight) and weight >= 0):
                raise UsageError(f"found the weight {weight}; expected a number from 0")
        if self.weights is not None and not any(self.weights):
            raise UsageError("found no weight above 0; expected one at least")

    def values(self, ranking: Ranking) -> Reals:
        """The value of each document in a run's ranking, shape (n,), never rising, from 0."""
        count = len(ranking)
        if self.method == "rrf":
            return 1 / (float(self.constant) + np.arange(1, count + 1))
        if self.normalise == "rank":
            return 1 - np.arange(count) / max(count, 1)
        return _normalised(ranking.scores, self.normalise)

    def shares(self, runs: int) -> Reals:
        """The weights of the runs, scaled so that the highest is 1.

        Args:
            runs: Number of runs.

        Raises:
            UsageError: The number of weights is another one.
        """
        weights = np.ones(runs) if self.weights is None else np.array(self.weights, np.float64)
        if len(weights) != runs:
            found = f"{counted(len(weights), 'weight')} for {counted(runs, 'run')}"
            raise UsageError(f"found {found}; expected one per run")
        return weights / weights.max(initial=0) if runs else weights


def checked_fusion(fusion: Fusion | None) -> Fusion:
    """A method of fusion; the usual one for None."""
    if fusion is not None and not isinstance(fusion, Fusion):
        raise UsageError(
            f"found {type(fusion).__name__} as the fusion; expected one, such as Fusion('rrf')"
        )
    return fusion or Fusion()


def fuse(
    runs: Sequence[Run],
    fusion: Fusion | None = None,
    depth: int = DEPTH,
    name: str = "fused",
    *,
    task: str | None = None,
) -> Run:
    """Fuse runs, topic by topic. The order of the runs makes no difference, to the last digit.

    Documents with equal scores are ordered by their best rank in a run, then by their ids. A topic
    is fused from the runs that have it. The two orders of a pair of sentences are the same pair,
    if all documents are pairs; the result writes it in alphabetical order.

    A document's stance is the one with the highest sum of weights among the runs that have the
    document; `Q0` is no vote. Of stances with equal sums, the one of the run that ranks the
    document higher wins.

    Args:
        runs: The runs, at least one.
        fusion: The method; reciprocal rank fusion without weights when left out.
        depth: Largest number of documents per topic.
        name: Name and tag of the result.
        task: The id of the task-year, which tells whether documents are pairs. If left out, the
            form of the ids tells, as in `load_qrels`.

    Raises:
        UsageError: There is no run, one is no `Run`, the weights are not one for each run, or there
            is no such task.
    """
    if not isinstance(runs, Sequence):
        raise UsageError(f"found {type(runs).__name__}; expected a list of runs")
    if not runs:
        raise UsageError("found no run to fuse; expected at least one")
    others = [type(run).__name__ for run in runs if not isinstance(run, Run)]
    if others:
        raise UsageError(
            f"found {others[0]}; expected a Run: sicetnon.load_run takes a path or rankings"
        )
    check_number(depth, "depth", 1)
    fusion = checked_fusion(fusion)
    shares = fusion.shares(len(runs)).tolist()
    voices = [(run, share) for run, share in zip(runs, shares, strict=True) if share]
    if all_pairs(_documents(run for run, _ in voices), has_pairs(task)):
        voices = [(unordered(run), share) for run, share in voices]
    topics = sorted({topic for run, _ in voices for topic in run.rankings}, key=_natural)
    fused = {
        topic: fuse_rankings(
            [(run.rankings[topic], share) for run, share in voices if topic in run.rankings],
            fusion,
            depth,
        )
        for topic in topics
    }
    return Run(name, name, fused)


def are_usable(scores: Reals) -> bool:
    """Whether scores agree with the ranks and add to them.

    They do not if they rise somewhere down the ranks, are all equal, or infinite. Fusion then uses
    evenly spaced scores instead.

    Args:
        scores: The scores of a topic in the order of the ranks, shape (n,).
    """
    return bool(
        len(scores) > 1
        and np.isfinite(scores).all()
        and (scores[1:] <= scores[:-1]).all()
        and scores[0] > scores[-1]
    )


def _normalised(scores: Reals, how: Normalisation) -> Reals:
    if len(scores) < 2:
        return np.ones(len(scores))
    if not are_usable(scores):
        scores = -np.arange(len(scores), dtype=np.float64)
    scores = scores / np.abs(scores).max()  # avoids infinite differences
    above: Reals = scores - scores[-1]
    unit = {"min-max": above[0], "sum": above.sum(), "z-score": above.std()}[how]
    return above / float(unit)


def fuse_rankings(rankings: Sequence[tuple[Ranking, float]], fusion: Fusion, depth: int) -> Ranking:
    """The fused ranking of a topic, from the ranking of each run and its weight."""
    # in the order of ids, which the stable sort below keeps among equals
    names = sorted({document for ranking, _ in rankings for document in ranking.ids})
    numbers = {document: number for number, document in enumerate(names)}
    values = np.zeros((len(names), len(rankings)))
    best = np.full(len(names), np.iinfo(np.int64).max)
    for column, (ranking, share) in enumerate(rankings):
        places = np.array([numbers[document] for document in ranking.ids], dtype=np.int64)
        values[places, column] = share * fusion.values(ranking)
        best[places] = np.minimum(best[places], np.arange(len(ranking)))
    # a sum of floats depends on the order of its terms; sorting removes the order of the runs
    values.sort(axis=1)
    scores = values.sum(axis=1)
    if fusion.method == "mnz":
        scores = scores * _holders(rankings, numbers)
    order = np.lexsort((best, -scores))[:depth]
    ids = tuple([names[number] for number in order.tolist()])
    return Ranking(rankings[0][0].topic, ids, scores[order], _elected(rankings, ids))


def _holders(
    rankings: Sequence[tuple[Ranking, float]], numbers: dict[str, int]
) -> NDArray[np.int64]:
    """The number of runs that hold each document."""
    held = np.zeros(len(numbers), dtype=np.int64)
    for ranking, _ in rankings:
        held[[numbers[document] for document in ranking.ids]] += 1
    return held


def _elected(
    rankings: Sequence[tuple[Ranking, float]], documents: Sequence[str]
) -> tuple[str, ...] | None:
    """The stance of each document by weighted vote, or None if no ranking has stances."""
    if all(ranking.stances is None for ranking, _ in rankings):
        return None
    wanted = set(documents)
    ballots: defaultdict[str, defaultdict[str, list[tuple[float, int]]]]
    ballots = defaultdict(lambda: defaultdict(list))
    for ranking, share in rankings:
        for rank, (document, stance) in enumerate(
            zip(ranking.ids, ranking.stances or (), strict=False)
        ):
            if stance != UNSTANCED and document in wanted:
                ballots[document][stance].append((share, rank))
    return tuple(
        min(ballots[document].items(), key=_standing)[0] if document in ballots else UNSTANCED
        for document in documents
    )


def _standing(votes: tuple[str, list[tuple[float, int]]]) -> tuple[float, int, str]:
    """The sort key of a stance: its weight, the best rank among its runs, its name."""
    stance, cast = votes
    return -math.fsum(share for share, _ in cast), min(rank for _, rank in cast), stance


def _documents(runs: Iterable[Run]) -> Iterable[str]:
    return (name for run in runs for ranking in run.rankings.values() for name in ranking.ids)


def _natural(topic: str) -> tuple[bool, int, str, str]:
    """The sort key of a topic: numbers by size, then anything else by its letters."""
    if topic.isascii() and topic.isdecimal():
        digits = topic.lstrip("0")
        return False, len(digits), digits, topic
    return True, 0, topic, topic


class Joint:
    """A retriever that fuses the rankings of others, as runs are fused.

    Args:
        retrievers: The other retrievers.
        fusion: The method; reciprocal rank fusion without weights when left out.
        depth: Number of documents that each of them finds at least.

    Raises:
        UsageError: There is something else than retrievers, or the weights are not one for each.
    """

    def __init__(
        self, retrievers: Sequence[Retriever], fusion: Fusion | None = None, depth: int = 1000
    ):
        if not isinstance(retrievers, Sequence) or not all(
            isinstance(each, Retriever) for each in retrievers
        ):
            raise UsageError(
                "found something else than a list of retrievers; expected one, such as "
                "[index.retriever(BM25()), index.retriever(DPH())]"
            )
        check_number(depth, "depth", 1)
        self._retrievers, self._fusion = tuple(retrievers), checked_fusion(fusion)
        self._shares = self._fusion.shares(len(self._retrievers)).tolist()
        self._depth = depth

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic."""
        depth = max(k, self._depth)
        found = [retriever.retrieve(topics, depth) for retriever in self._retrievers]
        return [
            fuse_rankings(list(zip(rankings, self._shares, strict=True)), self._fusion, k)
            for rankings in zip(*found, strict=True)
        ]
