"""Prints how often the second column of a run of pairs is right (2022 task 1).

    python -m benchmarks.effectiveness.pair_stances [--models out/training/model-{fold}]

On the labelled arguments of `benchmarks.effectiveness.sides`: by rules, and by `sicetnon.Side` with
weights fitted to all other questions. With `--models`, each question is read by the debate model
that was not trained on its domain; without, figures of the 48 questions flatter.

The labels were read by a large language model. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import opened
from recipe.side_fit import (
    ReadArguments,
    Readers,
    argument_features,
    argument_sides,
    read_conclusions,
    read_labelled_arguments,
)
from recipe.side_labels import SETS
from sicetnon.arguments.side.lexicon import SIDES as SIGNS
from sicetnon.arguments.side.lexicon import agreement
from sicetnon.pairs.candidates import CandidateReader
from sicetnon.tasks.touche_2022_task_1 import TASK

Numbers = NDArray[np.int64]
FOR, AGAINST, NEITHER = range(3)
COLUMN = {1: FOR, -1: AGAINST, 0: NEITHER}


def by_rules(arguments: ReadArguments) -> Numbers:
    """The side of each labelled argument by rules."""
    with opened(TASK) as index:
        weight = CandidateReader(index).weight
        signs = [
            agreement(row.question, row.conclusion, weight) * SIGNS[row.stance]
            for row in arguments.rows
        ]
    return np.array([COLUMN[sign] for sign in signs])


def learned(arguments: ReadArguments, readers: Readers) -> Numbers:
    """The side of each labelled argument, left out of what its weights were fitted to."""
    features = argument_features(read_conclusions(readers), arguments)["tagged"]
    found = argument_sides(features, arguments.evidence["tagged"].weighing, arguments)
    sides: Numbers = np.minimum(found.argmax(axis=1), NEITHER)
    return sides


def main() -> int:
    """Print a row for each set of labels and classifier."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--models", help="folders of the models of all folds, with {fold}")
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    readers = Readers(given.models, given.threads)
    arguments = read_labelled_arguments(readers)
    wanted = np.minimum(arguments.sides, NEITHER)
    systems = {"rules": by_rules(arguments), "learned": learned(arguments, readers)}
    print("| second column, labelled arguments | of FOR and AGAINST: right "
          "| of NONE and BOTH: `Q0` | `Q0` in all |")  # fmt: skip
    print("|---|---|---|---|")
    for name in SETS:
        rows = np.array([row.set == name for row in arguments.rows])
        for system, found in systems.items():
            is_right, is_sided = found == wanted, wanted != NEITHER
            shares = [is_right[rows & is_sided], is_right[rows & ~is_sided]]
            cells = [f"{part.mean():.2f}" for part in (*shares, found[rows] == NEITHER)]
            print(f"| {system}, {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
