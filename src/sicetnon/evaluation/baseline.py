"""Runs compared with a baseline, topic by topic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sicetnon.evaluation.intervals import SEED
from sicetnon.evaluation.significance import (
    ROUNDING,
    holm,
    paired_t_test,
    randomisation_test,
    randomised,
)
from sicetnon.evaluation.stance import FOUND, macro_f1
from sicetnon.formats.qrels import STANCES


@dataclass(frozen=True)
class PairedComparison:
    """A run compared with a baseline, over the topics that count for both.

    Attributes:
        baseline: The name of the baseline.
        difference: The run's score less the baseline's; NaN without a common topic.
        common: Number of topics that count for both.
        wins: Topics on which the run is better.
        ties: Topics on which both are the same.
        losses: Topics on which the baseline is better.
        p_randomisation: Fisher's randomisation test.
        p_t: Student's t test of paired values; NaN where it does not apply (stances, one topic).
        p_randomisation_corrected: The first, corrected for the number of runs compared (Holm).
        p_t_corrected: The second, likewise.
    """

    baseline: str
    difference: float
    common: int
    wins: int
    ties: int
    losses: int
    p_randomisation: float
    p_t: float
    p_randomisation_corrected: float = math.nan
    p_t_corrected: float = math.nan


def compare(
    run: Mapping[str, float], baseline: Mapping[str, float], name: str, seed: int = SEED
) -> PairedComparison:
    """Compare the means of a measure, by its values for each topic that counts."""
    common = sorted(run.keys() & baseline.keys())
    differences = np.array([run[topic] - baseline[topic] for topic in common], dtype=np.float64)
    return PairedComparison(
        name,
        float(differences.mean()) if common else math.nan,
        len(common),
        *_balance(differences),
        randomisation_test(differences, seed),
        paired_t_test(differences),
    )


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
        *_balance(ours_right - theirs_right),
        randomised(difference, differ, seed),
        math.nan,
    )


def correct(comparisons: Sequence[PairedComparison]) -> list[PairedComparison]:
    """The comparisons of several runs with one baseline, corrected for their number (Holm)."""
    randomisation = holm([comparison.p_randomisation for comparison in comparisons])
    student = holm([comparison.p_t for comparison in comparisons])
    return [
        replace(comparison, p_randomisation_corrected=p_randomisation, p_t_corrected=p_t)
        for comparison, p_randomisation, p_t in zip(
            comparisons, randomisation, student, strict=True
        )
    ]


def _balance(differences: NDArray[np.float64]) -> tuple[int, int, int]:
    """Wins, ties and losses."""
    wins, losses = int((differences > ROUNDING).sum()), int((differences < -ROUNDING).sum())
    return wins, len(differences) - wins - losses, losses
