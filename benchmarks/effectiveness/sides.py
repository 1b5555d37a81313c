"""The sides of arguments and of conclusions towards questions.

    python -m benchmarks.effectiveness.sides [--models out/training/model-{fold}] [--threads N]

Prints, for the labelled odd topics of 2020 and 48 further questions, how often the side of the
arguments with FOR or AGAINST is right, macro-F1 of FOR, AGAINST and NONE, and its confusion: with
all that is known, with the stances withheld, and with nothing but the text. Weights are fitted to
all other questions. Also prints how often sides are right that are given with some probability.
Conclusions are judged by weights from other domains. With `--models`, each question is read by the
debate model that was not trained on its domain.

The labels were read by a large language model. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import re

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from recipe.side_fit import (
    KINDS,
    ReadArguments,
    ReadConclusions,
    Readers,
    argument_features,
    argument_sides,
    conclusion_sides,
    read_conclusions,
    read_labelled_arguments,
)
from recipe.side_labels import FIRST, MORE, ODD
from sicetnon.arguments.side.classifier import SIDES
from sicetnon.arguments.side.evidence import Evidence
from sicetnon.arrays import Reals

Bools = NDArray[np.bool_]
NAMES = {"tagged": "all that is known", "untagged": "stances withheld", "alone": "text alone"}
BANDS = (
    (0.9, 2.0, "0.9 and more"),
    (0.8, 0.9, "0.8 to 0.9"),
    (0.6, 0.8, "0.6 to 0.8"),
    (0.0, 0.6, "less"),
)
"""The lowest probability of each row of a table, the highest, and the name of the row."""
_NEGATIVE = re.compile(
    r"\b(?:ban|banned|abolish\w*|scrap\w*|illegal|harm\w*|bad|too|not|lift\w*|detriment\w*|less)\b",
    re.IGNORECASE,
)


def row(name: str, found: Reals, wanted: Reals, rows: Bools) -> str:
    """A line of a table: right side, macro-F1, and what the labels FOR, AGAINST, NONE became."""
    sided = rows & (wanted < 2)
    right = (found[sided, :2].argmax(axis=1) == wanted[sided]).mean()
    labels, given = np.minimum(wanted[rows], 2), np.minimum(found[rows].argmax(axis=1), 2)
    table = np.array([[((labels == a) & (given == b)).sum() for b in range(3)] for a in range(3)])
    scores = 2 * table.diagonal() / np.maximum(table.sum(axis=0) + table.sum(axis=1), 1)
    confusion = "; ".join("/".join(map(str, each)) for each in table.tolist())
    f1 = " / ".join(f"{score:.2f}" for score in scores)
    return f"| {name} | {sided.sum()} | {right:.3f} | {scores.mean():.3f} | {f1} | {confusion} |"


def plain(arguments: ReadArguments) -> dict[str, Reals]:
    """The side by the tag alone, and by the tag and the stance of the conclusion."""
    evidence = arguments.evidence["tagged"]
    signs = {"stance alone": evidence.tags}
    signs["stance × model"] = evidence.tags * evidence.conclusion.favours["stance"]
    return {
        name: np.stack([sign, -sign, 0 * sign, 0 * sign - 99], axis=1)
        for name, sign in signs.items()
    }


def show_probabilities(found: Reals, arguments: ReadArguments) -> None:
    """Print how often sides that are given with some probability are right."""
    given, sure = found.argmax(axis=1), found.max(axis=1)
    print("\n| FOR or AGAINST, with all that is known | " + " | ".join((ODD, MORE)) + " |")
    print("|---|---|---|")
    for low, high, name in BANDS:
        cells = []
        for labelled in (ODD, MORE):
            rows = np.array([each.set == labelled for each in arguments.rows])
            rows &= (given < 2) & (low <= sure) & (sure < high)
            right = int((given == arguments.sides)[rows].sum())
            cells.append(f"{right} of {int(rows.sum())}")
        print(f"| {name} | {' | '.join(cells)} |")


def show_arguments(conclusions: ReadConclusions, arguments: ReadArguments) -> None:
    """Print the tables of arguments."""
    features = argument_features(conclusions, arguments)
    systems = plain(arguments) | {
        NAMES[kind]: argument_sides(features[kind], arguments.evidence[kind].weighing, arguments)
        for kind in KINDS
    }
    print("| arguments | with a side | right side | macro-F1 | F1 | confusion |")
    print("|---|---|---|---|---|---|")
    for name in (ODD, MORE):
        rows = np.array([each.set == name for each in arguments.rows])
        for system, found in systems.items():
            print(row(f"{name}: {system}", found, arguments.sides, rows), flush=True)
    show_probabilities(systems[NAMES["tagged"]], arguments)


def network_alone(evidence: Evidence) -> Reals:
    """Probabilities [rows, sides] of the conclusion network, without the weights of sides."""
    none = expit(evidence.sided["no stance of conclusion"])
    favours = expit(evidence.favours["stance of conclusion"])
    sides = {"FOR": favours * (1 - none), "AGAINST": (1 - favours) * (1 - none), "NONE": none}
    return np.stack([sides.get(side, 0 * none) for side in SIDES], axis=1)


def show_conclusions(read: ReadConclusions, arguments: ReadArguments) -> None:
    """Print the table of conclusions."""
    found = conclusion_sides(read, read.evidence, [each.domain for each in read.rows])
    alone = network_alone(read.evidence)
    choice = read.evidence.sided["choice"] > 0
    negative = np.array([bool(_NEGATIVE.search(each.question)) for each in read.rows])
    print("\n| conclusions | with a side | right side | macro-F1 | F1 | confusion |")
    print("|---|---|---|---|---|---|")
    first = np.array([each.set == FIRST for each in read.rows])
    for name, rows in (
        ("2,148 of the data", first),
        ("of questions that name two objects", first & choice),
        ("of negatively posed questions", first & negative),
        ("further ones", ~first),
        ("of questions that name two objects", ~first & choice),
        ("of negatively posed questions", ~first & negative),
    ):
        print(row(name, found, read.sides, rows), flush=True)
    for name, rows in (("2,148 of the data", first), ("further ones", ~first)):
        print(row(f"{name}: network alone", alone, read.sides, rows), flush=True)
    show_odd_conclusions(read, arguments)


def show_odd_conclusions(read: ReadConclusions, arguments: ReadArguments) -> None:
    """Print the rows of the conclusions of the odd topics' arguments: the network, the weights."""
    odd = np.array([each.set == ODD and bool(each.conclusion_side) for each in arguments.rows])
    labels = [each.conclusion_side or "NONE" for each in arguments.rows]
    wanted = np.array([SIDES.index(side) for side in labels], dtype=np.float64)
    evidence = arguments.evidence["tagged"].conclusion
    weighted = conclusion_sides(read, evidence, [each.domain for each in arguments.rows])
    for name, found in (("network alone", network_alone(evidence)), ("weights", weighted)):
        print(row(f"of the odd topics: {name}", found, wanted, odd), flush=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", help="folders of the models of all folds, with {fold}")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    readers = Readers(options.models, options.threads)
    conclusions = read_conclusions(readers)
    arguments = read_labelled_arguments(readers)
    show_arguments(conclusions, arguments)
    show_conclusions(conclusions, arguments)


if __name__ == "__main__":
    main()
