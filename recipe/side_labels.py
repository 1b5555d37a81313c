"""The labelled sides: of conclusions, and of whole arguments (read by a large language model)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recipe.sources import data_folder
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.files import Reading
from sicetnon.formats.topics import read_topics
from sicetnon.records import Argument, PremiseStance

ODD, MORE = "odd topics", "48 questions"
SETS = (ODD, MORE)
FIRST, FURTHER = "first", "further"
CONCLUSION_SETS = (FIRST, FURTHER)
"""Those of the data, and those of `conclusion-labels.tsv`."""


@dataclass(frozen=True)
class LabelledConclusion:
    """A conclusion with its side of a question; the domains are the folds.

    `set` is one of `CONCLUSION_SETS`.
    """

    set: str
    question: str
    conclusion: str
    side: str
    domain: str


@dataclass(frozen=True)
class LabelledArgument:
    """An argument with its side of a question.

    Attributes:
        set: One of `SETS`.
        question: The question.
        side: Its side.
        conclusion_side: That of its conclusion; empty where it was not labelled.
        domain: That of the question among the labelled conclusions; empty if they lack it.
        text: Its premise.
        conclusion: Its conclusion.
        stance: Its stance towards its conclusion, as the corpus has it.
        title: The title of its debate.
        resolution: The statement that its stance is towards; empty if that is the conclusion.
    """

    set: str
    question: str
    side: str
    conclusion_side: str
    domain: str
    text: str
    conclusion: str
    stance: PremiseStance | None
    title: str
    resolution: str


def labelled_conclusions() -> list[LabelledConclusion]:
    """All labelled conclusions."""
    folder = data_folder()
    first = [
        (FIRST, row, row["conclusion"]) for row in _rows(folder / "train/sides/conclusions.tsv")
    ]
    stated = {
        record.id: record.conclusion for record in arguments_of(folder / "touche-2020-task-1/input")
    }
    rows = _rows(Path(__file__).with_name("conclusion-labels.tsv"))
    further = [(FURTHER, row, stated[row["id"]]) for row in rows]
    return [
        LabelledConclusion(name, row["question"], conclusion, row["side"], row["domain"])
        for name, row, conclusion in first + further
    ]


def labelled_arguments() -> list[LabelledArgument]:
    """All labelled arguments."""
    folder = data_folder()
    topics = read_topics(folder / "touche-2020-task-1/input/topics.xml")
    titles = {topic.number: topic.title for topic in topics}
    rows = [(ODD, titles[row["topic"]], row) for row in _rows(folder / "sides/odd-topics.tsv")] + [
        (MORE, row["question"], row) for row in _rows(folder / "sides/more-questions.tsv")
    ]
    wanted = {row["id"] for _, _, row in rows}
    records = {
        each.id: each
        for each in arguments_of(folder / "touche-2020-task-1/input")
        if each.id in wanted
    }
    found = []
    for name, question, row in rows:
        record = records[row["id"]]
        found.append(
            LabelledArgument(
                name,
                question,
                row["side"],
                row.get("conclusion_side", ""),
                row.get("domain", ""),
                record.premise,
                record.conclusion,
                record.stance,
                record.title,
                record.resolution,
            )
        )
    return found


def arguments_of(folder: Path) -> Iterator[Argument]:
    """The arguments of an input folder."""
    corpus = open_corpus([folder])
    for file in corpus.files:
        for record in corpus.read(file, Reading()):
            if isinstance(record, Argument):
                yield record


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
