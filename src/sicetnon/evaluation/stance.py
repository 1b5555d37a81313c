"""Stance (2022 task 2): whether the second column says which object a passage favours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sicetnon.evaluation.inputs import Qrels
from sicetnon.evaluation.significance import (
    SAMPLES,
    SEED,
    Interval,
    PairedComparison,
    bootstrap,
    percentiles,
    randomised,
    wins_ties_losses,
)
from sicetnon.formats.qrels import STANCES
from sicetnon.records import Ranking, Run

OTHER = "other"
"""The column of the confusion matrix for `Q0` and anything else that is no stance."""
FOUND = (*STANCES, OTHER)
MEASURE = "MacroF1"

_ROWS = {stance: row for row, stance in enumerate(STANCES)}


@dataclass(frozen=True)
class StanceScore:
    """The agreement of a run's stances with the judged ones.

    Attributes:
        f1: Macro-averaged F1 over FIRST, SECOND, NEUTRAL and NO.
        lines: The lines of the run whose document has a stance label (N).
        share: Those lines as a share of all lines of the judged topics.
        topics: For each topic with such a line its confusion matrix, int64, shape (4, 5): one
            row a judged stance (as `STANCES`), one column a stance of the run (as `FOUND`).
    """

    f1: float
    lines: int
    share: float
    topics: dict[str, NDArray[np.int64]]

    @property
    def confusion(self) -> NDArray[np.int64]:
        """The confusion matrix over all topics, shape (4, 5)."""
        total: NDArray[np.int64] = stack(self.topics).sum(axis=0)
        return total

    def interval(self, samples: int = SAMPLES, seed: int = SEED) -> Interval:
        """The 95% interval of the F1: percentile bootstrap over topics."""
        if not self.topics:
            return Interval(math.nan, math.nan)
        matrices = stack(self.topics).reshape(len(self.topics), -1)

        def f1(drawn: NDArray[np.int64]) -> NDArray[np.float64]:
            # how often each topic was drawn, so that a draw's matrix is a product, not a sum of
            # picks
            times = np.stack([np.bincount(draw, minlength=len(self.topics)) for draw in drawn])
            return macro_f1((times @ matrices).reshape(-1, len(STANCES), len(FOUND)))

        return percentiles(bootstrap(f1, len(self.topics), samples, seed))

    def correct(self) -> dict[str, float]:
        """For each topic the share of its labelled lines that have the judged stance."""
        return {
            topic: float(np.trace(matrix)) / float(matrix.sum())
            for topic, matrix in self.topics.items()
        }


def score_stances(run: Run, qrels: Qrels) -> StanceScore:
    """Compare the second column of a run with judged stances.

    All lines count whose document has a label, at any depth; a `Q0` is wrong.
    """
    topics: dict[str, NDArray[np.int64]] = {}
    total = 0
    for topic, labels in qrels.stances.items():
        ranking = run.rankings.get(topic)
        if ranking is None:
            continue
        total += len(ranking)
        matrix = _confusion(ranking, labels)
        if matrix.any():
            topics[topic] = matrix
    matrices = stack(topics)
    lines_labelled = int(matrices.sum())
    f1 = float(macro_f1(matrices.sum(axis=0))) if topics else math.nan
    return StanceScore(f1, lines_labelled, lines_labelled / total if total else math.nan, topics)


def stack(topics: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Confusion matrices as one array, shape (topics, 4, 5)."""
    if not topics:
        return np.zeros((0, len(STANCES), len(FOUND)), dtype=np.int64)
    return np.stack(list(topics.values()))


def macro_f1(confusions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of the F1 of the four stances; a stance neither judged nor found has an F1 of 0.

    Args:
        confusions: Shape (…, 4, 5), judged stance by found stance.

    Returns:
        Shape (…).
    """
    hits = np.diagonal(confusions, axis1=-2, axis2=-1)
    judged = confusions.sum(axis=-1)
    found = confusions.sum(axis=-2)[..., : len(STANCES)]
    # F1 = 2 TP / (2 TP + FP + FN), and TP + FN are the judged, TP + FP the found
    scores: NDArray[np.float64] = (2 * hits / np.maximum(judged + found, 1)).mean(axis=-1)
    return scores


def compare_stances(
    run: Mapping[str, NDArray[np.int64]],
    baseline: Mapping[str, NDArray[np.int64]],
    name: str,
    seed: int = SEED,
) -> PairedComparison:
    """Compare macro-F1, which is no mean over topics: only the randomisation test applies.

    Wins, ties and losses go by the share of a topic's labelled lines with the judged stance.

    Topics have confusion matrices of shape (4, 5).
    """
    common = sorted(run.keys() & baseline.keys())
    if not common:
        return PairedComparison(name, math.nan, 0, 0, 0, 0, math.nan, math.nan)
    ours, theirs = (
        np.stack([matrices[topic] for topic in common]).astype(np.float64)
        for matrices in (run, baseline)
    )
    middle, half = (ours + theirs).sum(axis=0) / 2, (ours - theirs) / 2

    def difference(signs: NDArray[np.float64]) -> NDArray[np.float64]:
        # a sign of -1 gives the lines of that topic in either run to the other run
        moved = (signs @ half.reshape(len(common), -1)).reshape(-1, len(STANCES), len(FOUND))
        return macro_f1(middle + moved) - macro_f1(middle - moved)

    differ = (half != 0).any(axis=(1, 2))
    ours_right, theirs_right = (
        np.trace(matrices, axis1=1, axis2=2) / matrices.sum(axis=(1, 2))
        for matrices in (ours, theirs)
    )
    return PairedComparison(
        name,
        float(difference(np.ones((1, len(common))))[0]),
        len(common),
        *wins_ties_losses(ours_right - theirs_right),
        randomised(difference, differ, seed),
        math.nan,
    )


def _confusion(ranking: Ranking, labels: Mapping[str, str]) -> NDArray[np.int64]:
    matrix = np.zeros((len(STANCES), len(FOUND)), dtype=np.int64)
    for document, stance in zip(ranking.ids, ranking.second_column, strict=True):
        label = labels.get(document)
        if label is not None:
            matrix[_ROWS[label], _ROWS.get(stance, len(STANCES))] += 1
    return matrix
