"""Train the ranker: logistic regression for the topic, ridge regression for strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.evaluation import Score, experiment
from sicetnon.ranker.features import NAMES, Table
from sicetnon.ranker.labels import SQUARELY, Examples
from sicetnon.ranker.model import Judged, Linear, RankerModel, Weight
from sicetnon.records import Ranking

Reals = NDArray[np.float64]
ON_TOPIC = ("similarity", "proximity", "debate", "bm25_premise", "bm25")
STRENGTH = (
    "length", "word_length", "debate_talk", "second_person", "numbers", "claims", "questions",
    "links", "housekeeping", "first_person", "quotation", "similarity", "close_proximity",
    "bm25_premise", "debate", "closing_coverage", "density",
)  # fmt: skip
LEXICAL, ENOUGH = 2.2, 0.5
MEASURE = "nDCG(rule='condensed')@5"
_TOPIC_PENALTY, _STRENGTH_PENALTY = 3.3, 0.15
_MOST_STEPS, _CONVERGED = 50, 1e-9
_SHUFFLES = 10


def fit(
    examples: Examples,
    rows: NDArray[np.bool_] | None = None,
    on_topic: Sequence[str] = ON_TOPIC,
    strength: Sequence[str] = STRENGTH,
) -> RankerModel:
    """The ranker that labels give.

    The topic is learnt from all arguments that were read, strength from those that are at least
    near the topic.

    Args:
        examples: The labels.
        rows: The candidates to learn from; all when left out.
        on_topic: The features of the model for the topic.
        strength: The features of the model for strength.

    Raises:
        UsageError: Too few arguments were read, or all are alike.
    """
    read = examples.relevance >= 0
    read = read if rows is None else read & rows
    squarely, near = examples.relevance == SQUARELY, read & (examples.relevance >= 1)
    if len(set(squarely[read].tolist())) < 2 or near.sum() < 2:
        raise UsageError(
            "found too few labels; expected, for two questions or more, arguments that are "
            "squarely about them (relevance 2) and others, among the first 100 of the system "
            "default"
        )
    return RankerModel(
        _logistic(examples.table[read], squarely[read], on_topic),
        _ridge(examples.table[near], examples.strength[near].astype(np.float64), strength),
        LEXICAL,
        ENOUGH,
    )


class Folds:
    """Rankers that each learnt from all questions but one, and their scores for that one."""

    def __init__(
        self,
        examples: Examples,
        on_topic: Sequence[str] = ON_TOPIC,
        strength: Sequence[str] = STRENGTH,
    ):
        self.examples = examples
        groups = [examples.groups == place for place in range(len(examples.questions))]
        self.models = [fit(examples, ~left_out, on_topic, strength) for left_out in groups]
        self._rows = groups

    def judged(self, table: Table | None = None) -> list[Judged]:
        """The outputs for each question's candidates.

        Another table stands for other features of the same candidates.
        """
        table = self.examples.table if table is None else table
        folds = zip(self.models, self._rows, strict=True)
        return [model.judge(table[rows]) for model, rows in folds]

    def run(self, table: Table | None = None) -> list[Ranking]:
        """The candidates of each question, in the order of the ranker that has not seen it."""
        found = []
        for ranking, judged in zip(self.examples.rankings, self.judged(table), strict=True):
            order = np.argsort(-judged.scores, kind="stable")
            found.append(ranking.taken(order, judged.scores[order]))
        return found

    def score(self, table: Table | None = None) -> Score:
        """NDCG@5 of the run; what was not read is left out."""
        return experiment([self.run(table)], None, self.examples.gains(), MEASURE).scores[0]

    def importance(self, seed: int = 1) -> dict[str, float]:
        """The loss of nDCG@5 when a feature is shuffled over all candidates, mean of ten."""
        chance, base = np.random.default_rng(seed), self.score().mean
        read = {*self.models[0].on_topic.weights, *self.models[0].strength.weights, "lexical"}
        losses = {}
        for name in (each for each in NAMES if each in read):
            means = []
            for _ in range(_SHUFFLES):
                table, column = self.examples.table.copy(), NAMES.index(name)
                table[:, column] = chance.permutation(table[:, column])
                means.append(self.score(table).mean)
            losses[name] = base - float(np.mean(means))
        return losses


class _Standard(NamedTuple):
    """Features in standard deviations above their mean, and both of each feature."""

    table: Table
    mean: Reals
    deviation: Reals

    def linear(self, intercept: float, weights: Reals, names: Sequence[str]) -> Linear:
        rows = zip(names, self.mean.tolist(), self.deviation.tolist(), weights, strict=True)
        return Linear(
            round(intercept, 6),
            {name: Weight(*(round(float(each), 6) for each in row)) for name, *row in rows},
        )


def _standard(table: Table, names: Sequence[str]) -> _Standard:
    chosen = table[:, [NAMES.index(name) for name in names]]
    mean, deviation = chosen.mean(axis=0), chosen.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return _Standard((chosen - mean) / deviation, mean, deviation)


def _ridge(table: Table, target: Reals, names: Sequence[str]) -> Linear:
    given = _standard(table, names)
    penalty = _STRENGTH_PENALTY * len(target) * np.eye(len(names))
    products = given.table.T @ given.table + penalty
    weights = np.linalg.solve(products, given.table.T @ (target - target.mean()))
    return given.linear(float(target.mean()), weights, names)


def _logistic(table: Table, target: NDArray[np.bool_], names: Sequence[str]) -> Linear:
    """Logistic regression with a quadratic penalty on the weights, by Newton's method."""
    given = _standard(table, names)
    rows = np.column_stack((np.ones(len(target)), given.table))
    penalty = np.diag([0.0] + [_TOPIC_PENALTY] * len(names))
    weights = np.zeros(len(names) + 1)
    for _ in range(_MOST_STEPS):
        found = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (found - target) + penalty @ weights
        curve = (rows * (found * (1 - found))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < _CONVERGED:
            break
    return given.linear(float(weights[0]), weights[1:], names)
