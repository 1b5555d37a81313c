"""The side of reasons whose words compose: "prevents crime", "does not prevent crime", "a ban on".

    python -m benchmarks.effectiveness.composed [--threads N]

Prints how many of 102 sentences of our own (`composed-sentences.tsv`) stand on the right side of
their question by each network and by all evidence. The kinds: an *effect* is on something good or
bad, a *negation* denies one, and a *measure* ends or changes what is asked about. Nothing is fitted
to these sentences.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.models.classifiers import ConclusionStance, Stance
from sicetnon.arguments.side.classifier import Side

SENTENCES = Path(__file__).with_name("composed-sentences.tsv")
KINDS = ("effect", "negation", "measure")


def sentences() -> list[dict[str, str]]:
    """The sentences: `question`, `claim`, `side` and `kind`."""
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def cell(right: NDArray[np.bool_]) -> str:
    """The number of right ones, and of all."""
    return f"{right.sum()} of {len(right)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int)
    threads = parser.parse_args().threads
    rows = sentences()
    claims, questions = [row["claim"] for row in rows], [row["question"] for row in rows]
    kinds = np.array([row["kind"] for row in rows])
    wanted = np.array([row["side"] == "FOR" for row in rows])
    found = {
        "`Stance`": Stance(threads=threads).probabilities(claims, questions),
        "`ConclusionStance`": ConclusionStance(threads=threads).probabilities(claims, questions),
        "`Side`": Side(threads=threads).probabilities(claims, questions),
    }
    right = {name: (each[:, 0] > each[:, 1]) == wanted for name, each in found.items()}
    print(f"| sentences | {' | '.join(found)} |")
    print(f"|{'---|' * (len(found) + 1)}")
    for kind in (*KINDS, "all"):
        own = (kinds == kind) | (kind == "all")
        cells = [cell(each[own]) for each in right.values()]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
