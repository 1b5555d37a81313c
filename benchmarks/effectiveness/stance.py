"""Which of two objects a text favours: the rules against the model, and what each costs.

    taskset -c 1 python -m benchmarks.effectiveness.stance \
        [--models out/training/model-{fold}] [--texts N]

Prints macro-F1 with 95% intervals by bootstrap over texts, the difference, and texts per second of
processor time, on the sentences of CompSent-19 (first, second, neither), on Stack Exchange answers
and on passages of web pages (four stances). Each text is answered by the model that never saw its
fold, made by `python -m recipe export --fold N`. A folder without `{fold}` in its name is asked of
all texts: that says something of models alone that have learnt from none of them, as the shipped
one has of the passages (a large language model labelled those). "Model in runs" is what
`run --stance learned` makes of the answers (arguments/comparative/comparer.py).
The rules were written looking at half of each set (see benchmarks/effectiveness/comparison.py).

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]

from recipe import more_sources, sources  # noqa: E402
from recipe.configuration import FOLDER, configuration  # noqa: E402
from recipe.corpus import fold_of  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.measures import interval, macro_f1  # noqa: E402
from sicetnon.arguments.comparative.comparer import Comparer, stances_by_model  # noqa: E402
from sicetnon.arguments.models.classifiers import COMPARISONS, Comparison  # noqa: E402

NEITHER = 2
"""From this class on a text takes no side; data with three classes does not say in which way."""

Labels = NDArray[np.float64]


@dataclass(frozen=True)
class Set:
    """A data set: its name, what reads it, and how many classes its labels are."""

    name: str
    read: Callable[[], Iterator[Example]]
    classes: int


SETS = (
    Set("CompSent-19", sources.comparative_sentences, 3),
    Set("Stack Exchange", sources.comparative_answers, 4),
    Set("passages", more_sources.comparative_passages, 4),
)


def texts_of(data: Set, most: int) -> list[Example]:
    """The texts of a set, each once, or as many drawn from them."""
    found = {(each.text, each.first, each.second): each for each in data.read() if each.text}
    texts = list(found.values())
    chosen = random.Random(1).sample(texts, most) if 0 < most < len(texts) else texts
    if data.classes == len(COMPARISONS):
        return chosen
    return [replace(each, label=min(each.label, NEITHER)) for each in chosen]


def by_rules(texts: Sequence[Example], classes: int) -> Labels:
    """The classes by the rules, as numbers."""
    found = [
        COMPARISONS.index(Comparer(each.first, each.second).stance(each.text)) for each in texts
    ]
    labels: Labels = np.minimum(np.array(found, dtype=float), classes - 1)
    return labels


def by_model(texts: Sequence[Example], classes: int, model: Comparison) -> Labels:
    """The classes by a model, as numbers."""
    chances = model.probabilities(
        [each.text for each in texts],
        [each.first for each in texts],
        [each.second for each in texts],
    )
    if classes < len(COMPARISONS):
        chances = np.column_stack([chances[:, :NEITHER], chances[:, NEITHER:].sum(1)])
    labels: Labels = chances.argmax(1).astype(float)
    return labels


def as_in_runs(texts: Sequence[Example], classes: int, model: Comparison) -> Labels:
    """The classes by `run --stance learned`, as numbers."""
    found = [stances_by_model([each.text], each.first, each.second, model)[0] for each in texts]
    places = np.array([COMPARISONS.index(each) for each in found], float)
    labels: Labels = np.minimum(places, classes - 1)
    return labels


def by_folds(
    texts: Sequence[Example],
    classes: int,
    models: Sequence[Comparison],
    answer: Callable[[Sequence[Example], int, Comparison], Labels],
) -> Labels:
    """The classes by the models, each for the texts that it was not trained on."""
    folds = np.array([fold_of(each.group, len(models)) for each in texts])
    found = np.zeros(len(texts))
    for fold, model in enumerate(models):
        places = np.flatnonzero(folds == fold)
        found[places] = answer([texts[place] for place in places.tolist()], classes, model)
    return found


def opened(pattern: str, threads: int) -> list[Comparison] | None:
    """The models of all folds, ready to read; None where one is not there."""
    folders = [Path(pattern.replace("{fold}", str(n))) for n in range(configuration().folds)]
    missing = [fold for fold, folder in enumerate(folders) if not folder.is_dir()]
    if missing:
        found = f"{folders[missing[0]]} is not there, so the model is left out"
        print(f"{found}; make it: python -m recipe export --fold {missing[0]}", file=sys.stderr)
        return None
    models = [Comparison(folder, threads=threads) for folder in folders]
    for model in models:
        model.classify(["ready"], "one", "other")
    return models


def timed(work: Callable[[], Labels]) -> tuple[Labels, float]:
    """The result of a function, and its seconds of processor time."""
    start = time.process_time()
    return work(), time.process_time() - start


def show(data: Set, texts: Sequence[Example], models: Sequence[Comparison] | None) -> None:
    """Print the rows of a set."""
    wanted = [each.label for each in texts]
    systems: dict[str, Callable[[], Labels]] = {"rules": lambda: by_rules(texts, data.classes)}
    if models is not None:
        systems["model"] = lambda: by_folds(texts, data.classes, models, by_model)
        systems["model in runs"] = lambda: by_folds(texts, data.classes, models, as_in_runs)
    answers = {}
    for name, work in systems.items():
        answers[name], seconds = timed(work)
        value, low, high = interval(macro_f1, answers[name], wanted)
        speed = f"{len(texts) / seconds:,.0f}"
        row = f"{value:.3f} [{low:.3f}, {high:.3f}] | {speed} | {len(texts)} |"
        print(f"| {data.name} | {name} | {row}", flush=True)
    for name in list(systems)[1:]:
        both = np.column_stack([answers[name], answers["rules"]])
        value, low, high = interval(_gain, both, wanted)
        bounds = f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
        print(f"| {data.name} | {name} less rules | {bounds} | | {len(texts)} |", flush=True)


def _gain(both: Labels, wanted: Labels) -> float:
    return macro_f1(both[:, 0], wanted) - macro_f1(both[:, 1], wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", default=str(FOLDER / "model-{fold}"), help="their folders")
    parser.add_argument("--texts", type=int, default=0, help="texts of a set (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="cores for the model (default: 1)")
    given = parser.parse_args(arguments)
    folder = sources.data_folder() / "train" / "stance"
    if not folder.is_dir():
        print(f"{folder} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    models = opened(given.models, given.threads)
    print("| on | stance by | macro-F1, 95% interval | texts/s | texts |\n|---|---|---|---|---|")
    for data in SETS:
        show(data, texts_of(data, given.texts), models)
    return 0


if __name__ == "__main__":
    sys.exit(main())
