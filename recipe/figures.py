"""The figures of a model on held-out texts, beside baselines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from recipe import baselines, sources
from recipe.corpus import fold_of
from recipe.examples import EITHER_NEUTRAL_OR_NO, Example
from recipe.lengthening import Floats, fitted, lengths_of, logits, plain_quality
from recipe.measures import (
    Measure,
    accuracy,
    area_under_curve,
    f1,
    interval,
    macro_f1,
    pearson,
    spearman,
)
from sicetnon.arguments.models.classifiers import Argumentativeness, Comparison, Quality, Stance
from sicetnon.arguments.models.onnx_model import DebateEncoder


@dataclass(frozen=True)
class Line:
    """One figure: the system, the data, the value and its interval."""

    what: str
    system: str
    measure: str
    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        bounds = f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"| {self.what} | {self.system} | {self.measure} | {bounds} | {self.count} |"


HEADER = "| on | system | measure | figure, 95% interval | texts |\n|---|---|---|---|---|"


def _line(
    what: str, system: str, named: tuple[str, Measure], found: ArrayLike, test: Sequence[Example]
) -> Line:
    wanted = [each.label for each in test]
    value = interval(named[1], found, wanted)
    return Line(what, system, named[0], *value, len(test))


def quality_lines(
    found: Sequence[Example], model: Path | None, rivals: bool = True
) -> Iterator[Line]:
    """Quality on the held-out topics of ArgQ-Rank-30k."""
    train = [e for e in found if (e.dataset, e.head, e.split) == ("ibm", "quality", "train")]
    test = [e for e in found if (e.dataset, e.head, e.split) == ("ibm", "quality", "held-out")]
    own = Quality(model=model).score([each.text for each in test])
    others = baselines.regressions(train, test) if rivals else {}
    predicted = {**others, "this model": own}
    for system, values in predicted.items():
        for named in (("Pearson", pearson), ("Spearman", spearman)):
            yield _line("ArgQ-Rank-30k, topics held out", system, named, values, test)


def stance_lines(
    found: Sequence[Example], model: Path | None, rivals: bool = True
) -> Iterator[Line]:
    """Stance on held-out topics of ArgKP and on Perspectrum's test claims."""
    arguments = [e for e in sources.key_points() if e.dataset == "argkp" and e.split == "held-out"]
    claims = [e for e in found if e.dataset == "perspectrum" and e.split == "held-out"]
    train = [e for e in found if e.head == "stance" and e.split == "train"]
    # what most judges found not valid is UNDERMINE in the data set
    valid = [each for each in claims if each.votes[2] < 0.5]
    for what, test, sets in (
        ("ArgKP-2021, topics held out", arguments, ("ibm", "argkp")),
        ("Perspectrum, test", claims, ("perspectrum",)),
        ("Perspectrum, test, what its judges found valid", valid, ("perspectrum",)),
    ):
        own = Stance(model=model).probabilities([e.text for e in test], [e.context for e in test])
        learnt = [each for each in train if each.dataset in sets and each.label in (0, 1)]
        predicted = {
            **(baselines.classifications(learnt, test) if rivals else {}),
            "this model": own.argmax(1),
            "this model, PRO or CON": own[:, :2].argmax(1),
        }
        for system, values in predicted.items():
            yield _line(what, system, ("accuracy", accuracy), values, test)
            yield _line(what, system, ("macro-F1", macro_f1), values, test)


def argumentativeness_lines(
    found: Sequence[Example], model: Path | None, rivals: bool = True
) -> Iterator[Line]:
    """Argumentative sentences of held-out essays and web discourse."""
    of_head = [each for each in found if each.head == "argumentativeness"]
    train = [each for each in of_head if each.split == "train"]
    for what, dataset in (
        ("essays, test", "essays"),
        ("web discourse, last fifth", "web"),
        ("both", ""),
    ):
        test = [
            e for e in of_head if e.split == "held-out" and (not dataset or e.dataset == dataset)
        ]
        own = Argumentativeness(model=model).score([each.text for each in test])
        others = baselines.classifications(train, test) if rivals else {}
        predicted = {**others, "this model": own > 0.5}
        for system, values in predicted.items():
            yield _line(what, system, ("F1", f1), values, test)
            yield _line(what, system, ("macro-F1", macro_f1), values, test)
        yield _line(what, "this model", ("AUC", area_under_curve), own, test)


def folded(
    found: Sequence[Example],
    dataset: str,
    folds: int,
    predict: Callable[[Sequence[Example], Sequence[Example], int], Floats],
    rivals: Callable[[Sequence[Example], Sequence[Example]], Mapping[str, ArrayLike]],
) -> tuple[list[Example], dict[str, Floats]]:
    """Predictions for all texts of a data set, each by a system that left out its fold."""
    own = [each for each in found if each.dataset == dataset]
    tests: list[Example] = []
    predicted: dict[str, list[float]] = {}
    for fold in range(folds):
        test = [each for each in own if fold_of(each.group, folds) == fold]
        train = [each for each in own if fold_of(each.group, folds) != fold]
        tests += test
        systems = {**rivals(train, test), "this model": predict(train, test, fold)}
        for system, values in systems.items():
            predicted.setdefault(system, []).extend(np.asarray(values, dtype=float).tolist())
    return tests, {system: np.array(values) for system, values in predicted.items()}


def webis_lines(found: Sequence[Example], folds: int, model: Path | None) -> Iterator[Line]:
    """Quality on Webis-ArgQuality-20, with the gain by length fitted on the other topics.

    Nothing else of the model has learnt from these judgments.
    """
    own = [each for each in found if each.dataset == "webis"]
    longer = DebateEncoder(model).description.longer
    plain = dict(zip(own, plain_quality(own, model, longer), strict=True))
    lengths = dict(zip(own, lengths_of(own), strict=True))

    def predict(train: Sequence[Example], test: Sequence[Example], fold: int) -> Floats:
        quality, counts = (np.array([part[e] for e in train]) for part in (plain, lengths))
        fit = fitted(quality, counts, np.array([each.label for each in train]))
        raised = [logits(np.array(plain[each]), 1e-6) + fit * lengths[each] for each in test]
        return 1 / (1 + np.exp(-np.array(raised)))

    test, predicted = folded(own, "webis", folds, predict, baselines.regressions)
    predicted["this model, no length"] = np.array([plain[each] for each in test])
    for system, values in predicted.items():
        for named in (("Spearman", spearman), ("Pearson", pearson)):
            yield _line("Webis-ArgQuality-20, topics left out", system, named, values, test)


def comparison_lines(
    found: Sequence[Example], folds: int, models: Sequence[Path]
) -> Iterator[Line]:
    """Comparison on CompSent-19 (three classes) and the Stack Exchange answers (four)."""
    for dataset, what in (
        ("compsent", "CompSent-19, pairs of objects left out"),
        ("stackexchange", "Stack Exchange, questions left out"),
    ):

        def predict(_: object, test: Sequence[Example], fold: int) -> Floats:
            return _compared(test, models[fold])

        test, predicted = folded(found, dataset, folds, predict, baselines.classifications)
        if dataset == "compsent":
            test = [replace(each, label=min(each.label, 2)) for each in test]
            predicted = {name: np.minimum(values, 2) for name, values in predicted.items()}
        for system, values in predicted.items():
            yield _line(what, system, ("macro-F1", macro_f1), values, test)
            yield _line(what, system, ("accuracy", accuracy), values, test)
        print(confusion(what, test, predicted["this model"]))


def _compared(part: Sequence[Example], model: Path) -> Floats:
    chances = Comparison(model=model).probabilities(
        [e.text for e in part], [e.first for e in part], [e.second for e in part]
    )
    if any(each.label == EITHER_NEUTRAL_OR_NO for each in part):
        chances = np.column_stack([chances[:, :2], chances[:, 2:].sum(1)])
    return chances.argmax(1).astype(float)


def confusion(what: str, test: Sequence[Example], found: Floats) -> str:
    """The confusion matrix."""
    wanted = np.array([each.label for each in test])
    classes = np.union1d(wanted, found)
    rows = [
        " ".join(f"{int(((wanted == row) & (found == column)).sum()):5}" for column in classes)
        for row in classes
    ]
    return f"\n{what}: rows are the truth\n" + "\n".join(rows) + "\n"


def non_arguments(model: Path | None) -> Iterator[Line]:
    """AUC of arguments judged 1 and 2 against those judged -2, on the odd topics of 2020."""
    folder = sources.data_folder()
    texts = {}
    for path in (folder / "touche-2020-task-1/input").glob("*.json"):
        for argument in json.loads(path.read_text(encoding="utf-8"))["arguments"]:
            texts[argument["id"]] = " ".join(p["text"] for p in argument["premises"])
    test = []
    for path in sorted((folder / "qrels").glob("*2020-task-1*held-text*")):
        for line in path.read_text(encoding="utf-8").splitlines():
            topic, _, name, label = line.split()
            if name in texts and int(topic) % 2 and label in ("-2", "1", "2"):
                test.append(
                    Example("argumentativeness", "judged", texts[name], int(label) > 0, topic)
                )
    own = Argumentativeness(model=model).score([each.text for each in test])
    lengths = baselines.lengths(test)[:, 0]
    for system, values in (("length", lengths), ("this model", own)):
        yield _line("label -2 against 1 and 2", system, ("AUC", area_under_curve), values, test)
