"""The published results of the six task-years, and a user's runs among them.

A run is put into a table only where its score means what the table's scores mean: the official
judgments, the official rule, the same measure. Judgments are known by a checksum, whatever the
name of their file and the order of its lines.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import msgspec

from sicetnon.contracts import Dimension, contract_of
from sicetnon.evaluation import stance
from sicetnon.evaluation.inputs import Qrels, Source, load_qrels
from sicetnon.evaluation.scores import Score

MEASURE = "nDCG@5"
Part = Literal["whole", "odd"]
MIN_TOPICS, MIN_JUDGED = 0.85, 0.5
"""The least share of topics with a score, and of judged results at depth 5, of a run with a place.

Of the 31 published runs at hand, the lowest are 0.88 and 0.52.
"""
_CORRECTED = "corrected"
_UNKNOWN_SCORER = (
    "It is not known how the scores of 2020 were computed; those of other runs follow the rule of "
    "2021 and 2022."
)


@dataclass(frozen=True)
class Row:
    """A published score.

    Attributes:
        corpus: The version of the corpus, where the task has a table for each; else empty.
        team: Who made the run.
        tag: The run.
        measure: `nDCG@5`, or `MacroF1` for stances.
        low: The lower bound of its 95% interval, or None if none was published.
        high: The upper bound, likewise.
        lines: For stances: on how many lines of the run the score stands (N).
        team_mean: For stances: the score of all the team's runs together.
        team_lines: For stances: on how many lines that stands.
        topics: For a user's run: on how many topics the score stands.
        judged: For a user's run: the share of judged results, as in `Score`.
    """

    task: str
    dimension: Dimension
    corpus: str
    team: str
    tag: str
    measure: str
    mean: float
    low: float | None = None
    high: float | None = None
    lines: int | None = None
    team_mean: float | None = None
    team_lines: int | None = None
    topics: int | None = None
    judged: float | None = None


@dataclass(frozen=True)
class RankedRow:
    """A row of a leaderboard that includes a user's runs.

    Attributes:
        place: From 1; rows that agree to three decimals, as published, share a place.
        row: The row; its team is empty for a run of the user.
        run: The name of the user's run; None for a published one.
    """

    place: int
    row: Row
    run: str | None = None


@dataclass(frozen=True)
class Table:
    """One table of a task: best first."""

    dimension: Dimension
    corpus: str
    places: tuple[RankedRow, ...]


@dataclass(frozen=True)
class Leaderboard:
    """All tables of a task.

    Its notes say why a run is in no table, and what else to bear in mind.
    """

    task: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The tables for programs."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class OfficialQrels:
    """Official judgments, known by their checksum.

    The corpus is `corrected` for the later judgments of 2020 task 1.
    """

    task: str
    dimension: Dimension
    corpus: str
    part: Part
    sha256: str


def published(task: str) -> list[Row]:
    """The published scores of a task, table by table, best first.

    Raises:
        UsageError: There is no task of that id.
    """
    contract_of(task)
    return [row for row in _rows() if row.task == task]


def leaderboard_of(
    task: str, scores: Sequence[Score] = (), qrels: Mapping[str, Source | Qrels] | None = None
) -> Leaderboard:
    """The published tables of a task with a user's runs in them.

    Args:
        task: The task-year.
        scores: The scores of the user's runs, as `evaluate` returns them.
        qrels: The judgments that the scores stand on, by the name that the scores give them.
            Left out, that name is taken for the path of a file.

    Raises:
        UsageError: There is no task of that id.
        DataError: A file of judgments cannot be read.
    """
    contract_of(task)
    given = dict(qrels or {})
    notes, own = [], []
    official: dict[str, OfficialQrels | str] = {}
    for score in scores:
        if score.qrels not in official:
            official[score.qrels] = _identify(task, given.get(score.qrels, score.qrels))
        found = official[score.qrels]
        reason = found if isinstance(found, str) else _incomparable(score, task)
        if isinstance(found, str) or reason:
            notes.append(
                f"{score.run} is not placed by its {score.measure} of {_decimals(score.mean)} on "
                f"{score.qrels}: {reason}."
            )
        else:
            own.append((score.run, _own_row(score, found)))
    if task.startswith("touche-2020") and own:
        notes.append(_UNKNOWN_SCORER)
    return Leaderboard(task, tuple(_tables(published(task), own)), tuple(notes))


def official_of(qrels: Qrels) -> OfficialQrels | None:
    """Name the official judgments that these are; None for any other.

    Of some official files only the odd topics were at hand when this package was made. Those are
    known by their odd topics, if they judge all other topics of the task too.
    """
    found: dict[Part, str] = {}
    topics = set(qrels.topics)
    for official in _official():
        if official.part not in found:
            found[official.part] = judgments_checksum(qrels, official.part)
        if found[official.part] == official.sha256:
            complete = topics.issuperset(contract_of(official.task).topics)
            return official if complete else None
    return None


def judgments_checksum(qrels: Qrels, part: Part) -> str:
    """SHA-256 over the judgments of all topics, or of those with odd numbers.

    A sorted line is `topic document label`.
    """
    judged: Mapping[str, Mapping[str, int | str]] = qrels.grades or qrels.stances
    lines = sorted(
        f"{topic} {document} {label}\n"
        for topic, labels in judged.items()
        if part == "whole" or topic[-1:] in "13579"
        for document, label in labels.items()
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _identify(task: str, source: Source | Qrels) -> OfficialQrels | str:
    """Which official judgments of a task these are, or why they are none."""
    qrels = source if isinstance(source, Qrels) else load_qrels(source)
    found = official_of(qrels)
    if found is None:
        expected, judged = contract_of(task).topics, set(qrels.topics)
        missing = sum(topic not in judged for topic in expected)
        if missing:
            return (
                "these are not the official judgments, since they leave out "
                f"{missing} of the task's {len(expected)} topics"
            )
        return "these are not the official judgments"
    if found.task != task:
        return f"these are the official judgments of {found.task}"
    if found.corpus == _CORRECTED:
        return (
            "these judgments were corrected after the task; the published scores belong, as far "
            "as is known, to those before"
        )
    return found


def _incomparable(score: Score, task: str) -> str:
    """Why a score on official judgments means another thing than the published ones."""
    wanted = stance.MEASURE if score.dimension == "stance" else MEASURE
    if score.measure != wanted:
        return f"the published scores are {wanted}"
    if score.rule != "official":
        return f"the published scores follow the official rule, this one the rule {score.rule!r}"
    if math.isnan(score.mean):
        return "it has no judged result"
    if score.dimension == "stance":
        # the number of lines that a score of stances stands on is shown beside it
        return ""
    expected = len(contract_of(task).topics)
    if score.topics < MIN_TOPICS * expected:
        return f"it stands on {score.topics} of the task's {expected} topics"
    if score.judged < MIN_JUDGED:
        return (
            f"{score.judged:.1%} of its first results are judged, expected at least "
            f"{MIN_JUDGED:.0%}"
        )
    return ""


def _own_row(score: Score, official: OfficialQrels) -> Row:
    return Row(
        official.task,
        official.dimension,
        official.corpus,
        team="",
        tag=score.tag,
        measure=score.measure,
        mean=score.mean,
        low=score.low,
        high=score.high,
        lines=score.lines,
        topics=score.topics,
        judged=score.judged,
    )


def _tables(rows: Sequence[Row], own: Sequence[tuple[str, Row]]) -> Iterator[Table]:
    for dimension, corpus in dict.fromkeys((row.dimension, row.corpus) for row in rows):
        together = [(None, row) for row in rows] + list(own)
        here = [
            pair for pair in together if (pair[1].dimension, pair[1].corpus) == (dimension, corpus)
        ]
        here.sort(key=lambda pair: -float(_decimals(pair[1].mean)))
        means = [_decimals(row.mean) for _, row in here]
        places = (RankedRow(means.index(_decimals(row.mean)) + 1, row, run) for run, row in here)
        yield Table(dimension, corpus, tuple(places))


def _decimals(mean: float) -> str:
    """A mean as the task pages print it."""
    return f"{mean:.3f}"


@functools.cache
def _rows() -> tuple[Row, ...]:
    rows = []
    for cells in _read("leaderboards.tsv"):
        known = {name: cell for name, cell in cells.items() if cell or name == "corpus"}
        measure = stance.MEASURE if cells["dimension"] == "stance" else MEASURE
        rows.append(msgspec.convert(known | {"measure": measure}, Row, strict=False))
    return tuple(rows)


@functools.cache
def _official() -> tuple[OfficialQrels, ...]:
    return tuple(msgspec.convert(cells, OfficialQrels) for cells in _read("qrels.tsv"))


def _read(name: str) -> list[dict[str, str]]:
    """A table of the package; its first line says where it comes from."""
    text = (resources.files("sicetnon.evaluation") / "data" / name).read_text("utf-8")
    lines = text.splitlines()[1:]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
