"""Labels that the ranker learns from: tables of arguments that were read for a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.formats.tables import check_header, read_table
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.features import DEPTH, NAMES, FeatureReader, Table
from sicetnon.records import Ranking, Retriever, Topic

SQUARELY = 2
"""The relevance of an argument that is squarely about the question."""
_COLUMNS = ("id", "relevance", "strength")
_MOST = {"relevance": 2, "strength": 3}

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
        found.setdefault(asked, {})[cells["id"]] = relevance, strength
    return found


def joined(tables: Iterable[Labels]) -> Labels:
    """The labels of several tables as one."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for table in tables:
        for question, labels in table.items():
            found.setdefault(question, {}).update(labels)
    return found


def _label(name: str, text: str, path: Path | str, line: int) -> int:
    if not text.isdecimal() or int(text) > _MOST[name]:
        raise DataError(f"found the {name} {text!r}; expected 0 to {_MOST[name]}", path, line)
    return int(text)
