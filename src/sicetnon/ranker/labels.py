"""Labels that the ranker learns from: tables of arguments that were read for a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import Qrels, load_qrels
from sicetnon.formats.files import read_lines
from sicetnon.formats.tables import check_header, read_table
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.features import DEPTH, NAMES, FeatureReader, Table
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

    Raises:
        DataError: A file cannot be used, or two tables have other labels for an argument.
        UsageError: Judgments are given without topics, or beside tables.
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

    Raises:
        DataError: A column is missing, a label is no number of its range, or a topic is unknown.
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
