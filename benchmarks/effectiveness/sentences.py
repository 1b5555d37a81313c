"""Accuracy of the choice of the sentence that carries an argument's reason.

    python -m benchmarks.effectiveness.sentences

401 sentences of 54 arguments for 16 questions were read for this (by a large language model):
2 carries a reason on the side of its argument when it is read alone, 1 needs the text around it or
only repeats the answer, 0 says nothing for it. The table shows how often each way of choosing one
sentence of an argument finds each label. "Fitted" leaves the question out on which it is tested.

`sentence-labels.tsv` beside this file holds question, side, the argument's id, sentence and label;
of question and sentence the begin of the SHA-256. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.bench import DATA, opened
from sicetnon.app.reasons import WEIGHTS, worths
from sicetnon.arguments.attribution import doubts
from sicetnon.arguments.models.classifiers import read_all
from sicetnon.arguments.side.classifier import Side
from sicetnon.arrays import Reals
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.pairs.sentence_strength import strength
from sicetnon.records import claimed, said
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.sentences import sentences

LABELS = Path(__file__).with_name("sentence-labels.tsv")
NAMES = tuple(WEIGHTS)
RIDGE = 5.0

Row = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """The sentences of an argument that were read.

    Attributes:
        question: The question.
        measures: The measures of each, shape (sentences, measures).
        doubts: How doubtful it is that each is its author's own, shape (sentences,).
        labels: 0 to 2, shape (sentences,).
    """

    question: str
    measures: Reals
    doubts: Reals
    labels: Reals


def case(question: str, rows: Sequence[Row], index: IndexReader, side: Side) -> Case:
    """An argument's sentences with their measures."""
    record = index.records([rows[0]["id"]])[0]
    every = sentences(said(record))
    by_hash = {digest(sentence): sentence for sentence in every}
    doubted = dict(zip(every, doubts(every), strict=True))
    known = [row for row in rows if row["sentence"] in by_hash]
    texts = [by_hash[row["sentence"]] for row in known]
    read = read_all([*texts, question, claimed(record)[0]], ["quality", "embedding"])
    vectors = read["embedding"]
    likeness = vectors[:-2] @ vectors[-2:].T
    sides = side.probabilities(texts, question)
    sided = (sides[:, 0] - sides[:, 1]) * (1 if rows[0]["side"] == "FOR" else -1)
    columns = [list(map(strength, texts)), read["quality"][:-2], *likeness.T, sided]
    measures = np.column_stack(columns).astype(np.float64)
    labels = np.array([float(row["label"]) for row in known])
    return Case(question, measures, np.array([doubted[text] for text in texts]), labels)


def digest(sentence: str) -> str:
    """The begin of the SHA-256 of a sentence."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:12]


def fitted(cases: Sequence[Case]) -> Reals:
    """Weights of the measures by ridge regression on standardised measures."""
    measures = np.concatenate([each.measures for each in cases])
    labels = np.concatenate([each.labels for each in cases])
    spread = measures.std(0)
    standard = (measures - measures.mean(0)) / spread
    normal = standard.T @ standard + RIDGE * np.eye(len(NAMES))
    weights: Reals = np.linalg.solve(normal, standard.T @ (labels - labels.mean())) / spread
    return weights


def row(name: str, cases: Sequence[Case], choose: Callable[[Case], int]) -> str:
    """A line of the table."""
    found = np.array([each.labels[choose(each)] for each in cases])
    shares = " | ".join(f"{np.mean(found == label):.2f}" for label in (2, 1, 0))
    return f"| {name} | {found.mean():.2f} | {shares} |"


def best_by(place: int) -> Callable[[Case], int]:
    """Chooses the sentence that is best by one measure."""
    return lambda each: int(each.measures[:, place].argmax())


def questions() -> dict[str, str]:
    """The questions of the labels in the data folder, by their digest."""
    path = DATA / "sides" / "more-questions.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        found = {row["question"] for row in csv.DictReader(file, delimiter="\t")}
    found |= {topic.title for topic in read_topics(DATA / "topics" / f"{TASK.id}.xml")}
    return {digest(question): question for question in found}


def main() -> int:
    """Print the table."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    with LABELS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    side = Side()
    with opened(TASK) as index:
        asked = questions()
        groups = groupby(rows, lambda row: (row["question"], row["id"]))
        cases = [case(asked[key[0]], list(group), index, side) for key, group in groups]
    print("| sentence | mean label | 2 | 1 | 0 |\n|---|---|---|---|---|")
    print(row("first of those that can be read alone", cases, lambda _: 0))
    for place, name in enumerate(NAMES):
        print(row(name, cases, best_by(place)))
    weights = np.array([WEIGHTS[name] for name in NAMES])
    print(row("weighted", cases, lambda each: int((each.measures @ weights).argmax())))
    print(row("less repeated", cases, lambda each: int(worths(each.measures).argmax())))
    shipped = row("shipped", cases, lambda each: int(worths(each.measures, each.doubts).argmax()))
    print(shipped)
    others = {
        each.question: fitted([other for other in cases if other.question != each.question])
        for each in cases
    }
    print(row("fitted", cases, lambda each: int((each.measures @ others[each.question]).argmax())))
    print(row("best", cases, lambda each: int(each.labels.argmax())))
    print("\nfitted on all:", dict(zip(NAMES, fitted(cases).round(2).tolist(), strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
