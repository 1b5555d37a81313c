"""Fit the weights of `sicetnon.arguments.side`, and judge them on what they were not fitted to.

`python -m recipe sides` writes `src/sicetnon/models/sides/sides.json`. Two logistic regressions
each: whether there is a side, and whether it is FOR. Weights of the conclusions are fitted to the
labelled conclusions; those of arguments to the labelled arguments, with the sides of their
conclusions from weights that did not see the domain of the question.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from recipe.configuration import configuration
from recipe.corpus import fold_of
from recipe.side_labels import (
    LabelledArgument,
    LabelledConclusion,
    labelled_arguments,
    labelled_conclusions,
)
from sicetnon.arguments.side.classifier import (
    SIDES,
    Logistic,
    SideWeights,
    Weights,
    sides_of,
)
from sicetnon.arguments.side.debates import read_debates
from sicetnon.arguments.side.evidence import (
    ArgumentEvidence,
    Columns,
    Evidence,
    EvidenceReader,
    read_arguments,
)
from sicetnon.arrays import Reals

Bools = NDArray[np.bool_]
KINDS = ("tagged", "untagged", "alone")
"""Arguments by their known parts: conclusion and stance, conclusion alone, or text alone."""
_REGULARISATION = 0.1
_DIGITS = 4
_ARRAYS = (
    "stance", "no_stance", "leaning", "sideless", "similarity", "tags", "titled", "points",
    "own_words", "weighing",
)  # fmt: skip


class Readers:
    """The model for each labelled question: one that was not trained on it, if there is one.

    Args:
        pattern: The folder of the model without a fold, with `{fold}` in its name; the shipped
            model reads everything when left out. Folds are those of `recipe.corpus.fold_of` over
            the domains.
        threads: Processor cores to use at most; all when left out.
    """

    def __init__(self, pattern: str | None = None, threads: int | None = None):
        self._pattern, self._threads = pattern, threads

    def of(self, domain: str) -> EvidenceReader:
        """The reader of a domain's questions; the shipped model for those without one."""
        if self._pattern is None or not domain:
            return self._opened(None)
        fold = fold_of(domain, configuration().folds)
        return self._opened(Path(self._pattern.replace("{fold}", str(fold))))

    @functools.cache  # noqa: B019  # it lives as long as the program
    def _opened(self, folder: Path | None) -> EvidenceReader:
        return EvidenceReader(folder, self._threads)


@dataclass(frozen=True)
class ReadConclusions:
    """The labelled conclusions with their evidence."""

    rows: list[LabelledConclusion]
    evidence: Evidence
    sides: Reals


@dataclass(frozen=True)
class ReadArguments:
    """The labelled arguments with their evidence, and what `read_debates` finds, by what is known.

    Arguments with one conclusion and one question are taken for one debate.
    """

    rows: list[LabelledArgument]
    evidence: Mapping[str, ArgumentEvidence]
    debates: Mapping[str, Reals]
    sides: Reals


def read_conclusions(readers: Readers) -> ReadConclusions:
    """Read the labelled conclusions."""
    rows = labelled_conclusions()
    parts = []
    for places in _by_domain([row.domain for row in rows]):
        own = [rows[place] for place in places]
        reader = readers.of(own[0].domain)
        found = reader.conclusions([r.conclusion for r in own], [r.question for r in own])
        parts.append((places, found))
    return ReadConclusions(rows, _gathered(parts), _labels([row.side for row in rows]))


def read_labelled_arguments(readers: Readers) -> ReadArguments:
    """Read the labelled arguments three times: with all that is known of them, or less."""
    rows = labelled_arguments()
    order = _by_domain([row.domain for row in rows])
    rows = [rows[place] for places in order for place in places]
    evidence, debates = {}, {}
    for kind in KINDS:
        parts = []
        for places in _by_domain([row.domain for row in rows]):
            own = [rows[place] for place in places]
            parts.append(_read(readers.of(own[0].domain), own, kind))
        evidence[kind] = _joined([each for each, _ in parts])
        debates[kind] = np.concatenate([each for _, each in parts])
    return ReadArguments(rows, evidence, debates, _labels([row.side for row in rows]))


def _read(
    reader: EvidenceReader, rows: Sequence[LabelledArgument], kind: str
) -> tuple[ArgumentEvidence, Reals]:
    known = kind != "alone"
    tags = np.array([{"PRO": 1.0, "CON": -1.0, None: 0.0}[row.stance] for row in rows])
    tags *= kind == "tagged"
    texts, questions = [row.text for row in rows], [row.question for row in rows]
    conclusions = [row.conclusion if known else "" for row in rows]
    evidence = read_arguments(
        reader,
        texts,
        questions,
        conclusions,
        [row.title if known else "" for row in rows],
        [row.resolution if known else "" for row in rows],
        tags,
    )
    everything = np.ones(len(rows), dtype=bool)
    towards = tags * (1 - evidence.points)
    return evidence, read_debates(reader, texts, questions, conclusions, towards, everything)


def fitted(evidence: Evidence, sides: Reals, rows: Bools) -> Weights:
    """Weights that are fitted to some rows.

    Args:
        evidence: Features.
        sides: The place of each row's label in `SIDES`.
        rows: A mask of the rows to use.
    """
    sided = sides < SIDES.index("BOTH")
    return Weights(
        sided=_regression(evidence.sided, sided, rows, centred=True),
        favours=_regression(evidence.favours, sides == 0, rows & sided, centred=False),
    )


def _regression(columns: Columns, wanted: Bools, rows: Bools, centred: bool) -> Logistic:
    from sklearn.linear_model import LogisticRegression

    names = list(columns)
    table = np.stack([columns[name][rows] for name in names], axis=1)
    means = table.mean(axis=0) if centred else np.zeros(len(names))
    scales = table.std(axis=0)
    used = np.flatnonzero(scales > 0)
    scaled = (table[:, used] - means[used]) / scales[used]
    model = LogisticRegression(C=_REGULARISATION, max_iter=2000).fit(scaled, wanted[rows])
    weights = model.coef_[0] / scales[used]
    intercept = float(model.intercept_[0] - (weights * means[used]).sum())
    named = {names[place]: round(float(w), _DIGITS) for place, w in zip(used, weights, strict=True)}
    return Logistic(round(intercept, _DIGITS), named)


def conclusion_sides(read: ReadConclusions, evidence: Evidence, domains: Sequence[str]) -> Reals:
    """Sides of conclusions by weights that were not fitted to their domain, shape (rows, 4).

    Args:
        read: The labelled conclusions.
        evidence: The evidence of the conclusions to judge.
        domains: The domain of each.
    """
    own = np.array([row.domain for row in read.rows])
    asked = np.array(domains)
    found = np.zeros((len(asked), len(SIDES)))
    for domain in sorted(set(domains)):
        weights = fitted(read.evidence, read.sides, own != domain)
        rows = asked == domain
        found[rows] = sides_of(evidence, weights, np.zeros(len(asked), dtype=bool))[rows]
    return found


def argument_features(
    conclusions: ReadConclusions, arguments: ReadArguments
) -> dict[str, Evidence]:
    """The features of the labelled arguments, by what is known of them."""
    domains = [row.domain for row in arguments.rows]
    found = {}
    for kind, evidence in arguments.evidence.items():
        found[kind] = evidence.combined(
            conclusion_sides(conclusions, evidence.conclusion, domains),
            conclusion_sides(conclusions, evidence.title, domains),
            arguments.debates[kind],
        )
    return found


def argument_sides(evidence: Evidence, weighing: Bools, arguments: ReadArguments) -> Reals:
    """Sides of the labelled arguments, leaving out one question at a time, shape (rows, 4)."""
    questions = np.array([row.question for row in arguments.rows])
    found = np.zeros((len(questions), len(SIDES)))
    for question in sorted(set(questions.tolist())):
        rows = questions == question
        weights = fitted(evidence, arguments.sides, ~rows)
        found[rows] = sides_of(evidence, weights, weighing)[rows]
    return found


def fit(target: Path, readers: Readers) -> Path:
    """Fit all weights, and write them.

    Args:
        target: The folder of the file.
        readers: The models.
    """
    conclusions, arguments = read_conclusions(readers), read_labelled_arguments(readers)
    features = argument_features(conclusions, arguments)
    everything = np.ones(len(arguments.rows), dtype=bool)
    parts = {kind: fitted(features[kind], arguments.sides, everything) for kind in KINDS}
    found = SideWeights(
        model=readers.of("").identity(),
        conclusion=fitted(
            conclusions.evidence, conclusions.sides, np.ones(len(conclusions.rows), dtype=bool)
        ),
        **parts,
    )
    path = target / "sides.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    return path


def _labels(sides: Sequence[str]) -> Reals:
    return np.array([SIDES.index(side) for side in sides], dtype=np.float64)


def _by_domain(domains: Sequence[str]) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for place, domain in enumerate(domains):
        found.setdefault(domain, []).append(place)
    return list(found.values())


def _gathered(parts: Sequence[tuple[list[int], Evidence]]) -> Evidence:
    """Parts in the order of their places."""
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    joined = _joined_evidence([evidence for _, evidence in parts])
    return joined.rows(order)


def _joined_evidence(parts: Sequence[Evidence]) -> Evidence:
    return Evidence(
        _stacked([part.favours for part in parts]), _stacked([part.sided for part in parts])
    )


def _stacked(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _joined(parts: Sequence[ArgumentEvidence]) -> ArgumentEvidence:
    first = parts[0]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
    return replace(
        first,
        conclusion=_joined_evidence([part.conclusion for part in parts]),
        title=_joined_evidence([part.title for part in parts]),
        overlaps=dict(_stacked([part.overlaps for part in parts])),
        **arrays,
    )
