"""Train the ranker: its labels, its two models, and the files of a trained one.

Logistic regression for the topic, ridge regression for strength. Parameters are JSON, and a card
describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import Qrels, Score, experiment, load_qrels
from sicetnon.formats.files import read_lines, write_atomic
from sicetnon.formats.tables import check_header, read_table
from sicetnon.index.reader import IndexReader
from sicetnon.operating_system import make_folder
from sicetnon.ranker.features import DEPTH, FEATURES, NAMES, FeatureReader, Table
from sicetnon.ranker.model import FILE, Judged, Linear, RankerModel, Weight
from sicetnon.records import Ranking, Retriever, Topic

SQUARELY = 2
"""The relevance of an argument that is squarely about the question."""
_COLUMNS = ("id", "relevance", "strength")
_MOST = {"relevance": 2, "strength": 3}
_STRENGTHS = (0, 2, 3)
"""The strength for a label of quality, or of relevance."""

Labels = Mapping[str, Mapping[str, tuple[int, int]]]
"""Relevance (0 to 2) and strength (0 to 3) of arguments, by question and id."""


class Examples:
    """The candidates of questions, with features, and labels where they were read.

    Attributes:
        table: The features of all candidates, question by question.
        groups: The place of each candidate's question, shape (candidates,).
        relevance: The labels, -1 where an argument was not read, shape (candidates,).
        strength: Likewise.
    """

    def __init__(self, index: IndexReader, retriever: Retriever, labels: Labels):
        self.questions = tuple(labels)
        topics = [Topic(str(place), title) for place, title in enumerate(self.questions, start=1)]
        self.rankings: list[Ranking] = retriever.retrieve(topics, DEPTH)
        reader = FeatureReader(index)
        tables = [reader.read(r.topic, r, index.records_of(r)) for r in self.rankings]
        self.table: Table = np.concatenate([*tables, np.empty((0, len(NAMES)))])
        self.groups = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        read = [
            labels[question].get(identifier, (-1, -1))
            for question, ranking in zip(self.questions, self.rankings, strict=True)
            for identifier in ranking.ids
        ]
        columns = np.array(read, dtype=np.int64).reshape(-1, 2)
        self.relevance: NDArray[np.int64] = columns[:, 0]
        self.strength: NDArray[np.int64] = columns[:, 1]

    def gains(self) -> dict[str, dict[str, int]]:
        """Strength where an argument is squarely about its question, else 0, by topic and id.

        Topics without any gain are left out: all orders of their arguments are alike.
        """
        gains = np.where(self.relevance == SQUARELY, self.strength, 0)
        found: dict[str, dict[str, int]] = {}
        for place, ranking in enumerate(self.rankings):
            rows = np.flatnonzero(self.groups == place).tolist()
            found[ranking.topic.number] = {
                identifier: int(gains[row])
                for identifier, row in zip(ranking.ids, rows, strict=True)
                if self.relevance[row] >= 0
            }
        return {topic: row for topic, row in found.items() if any(row.values())}


def labels_of(files: Iterable[Path | str], titles: Mapping[str, str]) -> Labels:
    """The labels of tables, or of judgments of relevance and quality.

    Args:
        files: Tables as `read_labels` takes them, or judgments (qrels), of one kind.
        titles: The question of each topic.
    """
    files = list(files)
    judged = [path for path in files if not _is_table(path)]
    if not judged:
        return joined(read_labels(file, titles) for file in files)
    if len(judged) < len(files):
        raise UsageError(f"found tables beside judgments, such as {judged[0]}; train on one kind")
    if not titles:
        raise UsageError(f"{judged[0]} names topics; give their questions with --topics")
    return _judged_labels([load_qrels(path) for path in judged], titles)


def _is_table(path: Path | str) -> bool:
    """Whether a file begins with the names of columns, and not with a judgment."""
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    return "id" in first.split("\t") or len(first.split()) != 4


def _judged_labels(several: Iterable[Qrels], titles: Mapping[str, str]) -> Labels:
    """Relevance and strength of judged arguments; strength is quality, or relevance without it.

    Labels above 2 are of the scale from 1 to 5 of 2020.
    """
    scaled: dict[str, dict[str, dict[str, int]]] = {}
    for each in several:
        if each.dimension not in ("relevance", "quality") or each.dimension in scaled:
            raise DataError(f"found a second file of relevance, or judgments of {each.dimension}; "
                            "expected one of relevance, and one of quality at most",
                            each.name)  # fmt: skip
        if unknown := [topic for topic in each.grades if topic not in titles]:
            raise DataError(f"found the topic {unknown[0]!r}, which no topic has", each.name)
        highest = max(max(labels.values()) for labels in each.grades.values())
        scaled[each.dimension] = {
            topic: {name: _of_two(label, highest) for name, label in labels.items()}
            for topic, labels in each.grades.items()
        }
    if "relevance" not in scaled:
        raise UsageError("found no judgments of relevance; expected a file of them")
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for topic, labels in scaled["relevance"].items():
        strengths = scaled.get("quality", {}).get(topic, {} if "quality" in scaled else labels)
        found[titles[topic]] = {
            name: (label, _STRENGTHS[strengths.get(name, 0)]) for name, label in labels.items()
        }
    return found


def _of_two(label: int, highest: int) -> int:
    """A label on the scale from 0 to 2."""
    if highest > SQUARELY:
        return 2 if label >= 4 else int(label == 3)
    return max(label, 0)


def read_labels(path: Path | str, titles: Mapping[str, str]) -> Labels:
    """The labels of a table with tabs: `topic` or `question`, `id`, `relevance`, `strength`.

    Args:
        path: The table; its first row names the columns, and more of them are passed over.
        titles: The question of each topic, for tables with a column `topic`.
    """
    rows = read_table(path, delimiter="\t")
    line, head = next(rows, (1, []))
    check_header(head, path, line, "\t", ("topic", "question", *_COLUMNS))
    key = "topic" if "topic" in head else "question"
    if missing := [name for name in (key, *_COLUMNS) if name not in head]:
        raise DataError(f"found no column {missing[0]!r}; expected a row of names", path, line)
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for line, row in rows:
        if len(row) != len(head):
            raise DataError(f"found {len(row)} columns; expected {len(head)}", path, line)
        cells = dict(zip(head, row, strict=True))
        asked = titles.get(cells[key]) if key == "topic" else cells[key]
        if asked is None:
            raise DataError(f"found the topic {cells[key]!r}, which no topic has", path, line)
        relevance, strength = (_label(name, cells[name], path, line) for name in _MOST)
        label = found.setdefault(asked, {}).setdefault(cells["id"], (relevance, strength))
        if label != (relevance, strength):
            raise DataError(
                f"found relevance and strength {(relevance, strength)} of {cells['id']!r}; a line "
                f"before has {label}: leave one of the two out",
                path,
                line,
            )
    return found


def joined(tables: Iterable[Labels]) -> Labels:
    """The labels of several tables as one."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for table in tables:
        for question, labels in table.items():
            known = found.setdefault(question, {})
            for name, label in labels.items():
                if known.setdefault(name, label) != label:
                    raise DataError(
                        f"found relevance and strength {label} of {name!r} for {question!r:.80} in "
                        f"one table, {known[name]} in another; leave one of the two out"
                    )
    return found


def _label(name: str, text: str, path: Path | str, line: int) -> int:
    if not text.isdecimal() or int(text) > _MOST[name]:
        raise DataError(f"found the {name} {text!r}; expected 0 to {_MOST[name]}", path, line)
    return int(text)


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


_CARD = """# The ranker of the system `answers`
Two linear models over features of an argument that was found for a question. *On topic* gives the
probability that the argument is squarely about the question (logistic regression). *Strength* gives
its strength from 0 to 3 (ridge regression). `{file}` has the parameters, and the code is in
`sicetnon/ranker`.

score = min(p, {enough:g}) / {enough:g} · (strength + {lexical:g} · lexical score), divided by its
greatest value

- **Trained by:**
  `{command}`
- **Trained on:** {read} arguments that were read for {questions} questions.
- **Features chosen** on the labels that the project trains on, by the loss of models that learn
  from all questions but one. The two numbers in the score were chosen on them too. A large language
  model gave these labels, not a person.

## What it scores
nDCG@5 with the strength as gain where an argument is squarely about the question, else 0. What was
not read is left out, and so are questions without any gain ({counted} count). Each question is
ranked by models that learnt from all others.

| system | nDCG@5 |
|---|---|
| `default` | {default:.3f} |
| `answers` | {answers:.3f} |

## Features
Weights are per standard deviation: of the log odds of being on topic, and of strength. Importance
is what nDCG@5 loses when the feature is shuffled over all candidates (mean of ten).

| feature | meaning | range | on topic | strength | importance |
|---|---|---|---|---|---|
{rows}
"""


def train_ranker(examples: Examples, folder: Path, command: str) -> dict[str, float]:
    """Fit the ranker, and write parameters and card.

    Returns:
        NDCG@5 of the default system and, leaving one question out, of `answers`.
    """
    model, folds = fit(examples), Folds(examples)
    gains = examples.gains()
    before = experiment([examples.rankings], None, gains, MEASURE).scores[0]
    after = folds.score()
    text = _CARD.format(
        file=FILE,
        command=command,
        read=int((examples.relevance >= 0).sum()),
        questions=len(examples.questions),
        counted=len(gains),
        enough=model.enough,
        lexical=model.lexical,
        default=before.mean,
        answers=after.mean,
        rows="\n".join(_card_rows(model, folds.importance())),
    )
    make_folder(folder)
    parameters = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
    write_atomic({folder / FILE: parameters, folder / "CARD.md": text})
    return {"nDCG@5 of default": before.mean, "nDCG@5 of answers": after.mean}


def _card_rows(model: RankerModel, importance: Mapping[str, float]) -> list[str]:
    """The rows of the table of features, the most important ones first."""
    rows = []
    for feature in sorted(FEATURES, key=lambda each: -importance.get(each.name, 0.0)):
        weights = [
            f"{found.weight:+.3f}" if (found := linear.weights.get(feature.name)) else ""
            for linear in (model.on_topic, model.strength)
        ]
        low_high = f"{feature.low:g} to {feature.high:g}"
        cells = [f"`{feature.name}`", feature.meaning, low_high, *weights]
        rows.append(f"| {' | '.join(cells)} | {importance.get(feature.name, 0.0):+.4f} |")
    return rows
