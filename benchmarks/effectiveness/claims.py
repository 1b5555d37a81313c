"""Stance towards claims that the debate model never saw, set by set.

    python -m benchmarks.effectiveness.claims [--models out/training/model-conclusions-{fold}]

Prints, for the held-out part of each stance set, the number of texts, the accuracy and macro-F1 of
`Stance` and of `ConclusionStance`, and what the share of the most frequent label is. Where a
published figure is known, it stands beside them with its source; it was measured on the whole test
part of its set and after training on its training part, so it is no comparison of equals. Sets with
two labels are judged among PRO and CON alone. The labelled conclusions are judged by the model that
left out half of their domains, with `--models`.

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recipe.configuration import configuration
from recipe.corpus import BY_FOLDS, examples, fold_of
from recipe.examples import Example
from recipe.measures import accuracy, macro_f1
from sicetnon.arguments.models.classifiers import ConclusionStance, Stance
from sicetnon.arrays import Reals

_FEWEST = 50
PUBLISHED = {
    "perspectrum": "F1 0.708, BERT; people 0.909 (Chen et al. 2019)",
    "vast-dev-test": "macro-F1 0.665, TGA-Net (Allaway and McKeown 2020)",
    "fever-symmetric": "accuracy 0.583, BERT; 0.616 after reweighting (Schuster et al. 2019)",
}
"""The best figures that we could verify, as published."""


def tests(found: Sequence[Example]) -> dict[str, list[Example]]:
    """The held-out texts of each stance set that has enough of them."""
    sets: dict[str, list[Example]] = defaultdict(list)
    for each in found:
        is_held = each.split == "held-out" or each.dataset in ("conclusions", "more-conclusions")
        if each.head == "stance" and is_held:
            sets[each.dataset].append(each)
    return {name: own for name, own in sorted(sets.items()) if len(own) >= _FEWEST}


def read(own: Sequence[Example], model: type[Stance], pattern: str | None) -> Reals:
    """Probabilities of PRO, CON and NONE, shape (texts, 3)."""
    found = np.zeros((len(own), 3))
    folds = np.array([_fold(each, pattern) for each in own])
    for fold in sorted(set(folds.tolist())):
        at = np.flatnonzero(folds == fold).tolist()
        folder = Path(pattern.replace("{fold}", str(fold))) if pattern and fold >= 0 else None
        texts, contexts = [own[i].text for i in at], [own[i].context for i in at]
        found[at] = model(folder).probabilities(texts, contexts)
    return found


def _fold(example: Example, pattern: str | None) -> int:
    """The fold of a text that is learnt by folds; -1 for what no training saw."""
    if pattern is None or example.dataset not in BY_FOLDS:
        return -1
    return fold_of(example.group, configuration().folds)


def line(name: str, own: Sequence[Example], pattern: str | None) -> str:
    """The line of a set."""
    wanted = np.array([int(each.label) for each in own])
    classes = 2 if wanted.max() < 2 else 3
    cells = [name, str(len(own)), f"{np.bincount(wanted).max() / len(own):.3f}"]
    for model in (Stance, ConclusionStance):
        said = read(own, model, pattern)[:, :classes].argmax(axis=1)
        cells.append(f"{accuracy(said, wanted):.3f} / {macro_f1(said, wanted):.3f}")
    return f"| {' | '.join([*cells, PUBLISHED.get(name, '–')])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", help="folders of the models of all folds, with {fold}")
    pattern = parser.parse_args().models
    print("| set | texts | largest class | `Stance` | `ConclusionStance` | published |")
    print("|---|---|---|---|---|---|")
    for name, own in tests(examples(0)).items():
        print(line(name, own, pattern), flush=True)


if __name__ == "__main__":
    main()
