"""Votes of a judging file: progress, agreement, disagreements, and one label of several."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError
from sicetnon.judging.scales import Scale
from sicetnon.judging.store import JudgingFile

Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa: how far two assessors agree beyond chance, (p_o - p_e) / (1 - p_e).

    p_o is the share of equal labels, p_e the share that is expected of two assessors who draw
    labels with their own frequencies.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20 (1960).

    Args:
        first: The labels of an assessor, shape (n,).
        second: Those of the other for the same documents, shape (n,).

    Returns:
        At most 1; 0 is chance. NaN where there is no label, or both give one label throughout.

    Raises:
        UsageError: The numbers of labels differ, or one is no list of labels.
    """
    own, others = _label_counts(first), _label_counts(second)
    if len(first) != len(second):
        raise UsageError(f"found {len(first)} and {len(second)} labels; expected as many of both")
    count = len(first)
    if not count:
        return math.nan
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / count
    chance = sum((own[label] / count) * (others[label] / count) for label in own | others)
    return math.nan if chance == 1 else (observed - chance) / (1 - chance)


def krippendorff_alpha(units: Sequence[Sequence[float]], level: Level = "nominal") -> float:
    """Krippendorff's alpha: 1 - D_o / D_e, the observed by the expected disagreement.

    Source: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011): the coincidence
    matrix, and the metrics of nominal, ordinal and interval data.

    Args:
        units: For each document the labels that it got, in any order; documents with fewer than
            two do not count. Words are given as numbers, whose order matters to no nominal value.
        level: How labels differ: `nominal`: equal or not; `ordinal`: by the number of labels
            between them; `interval`: by the square of their difference.

    Returns:
        At most 1; 0 is chance. NaN where no document has two labels, or all labels are equal.

    Raises:
        UsageError: A label is no number, or there is no such level.
    """
    if level not in get_args(Level):
        raise UsageError(f"found the level {level!r}; expected of {', '.join(get_args(Level))}")
    paired = [unit for unit in map(_numbers, _label_list(units)) if len(unit) > 1]
    values = sorted({value for unit in paired for value in unit})
    if len(values) < 2:
        return math.nan
    place = {value: at for at, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for unit in paired:
        counts = np.bincount([place[value] for value in unit], minlength=len(values))
        pairs = np.outer(counts, counts) - np.diag(counts)
        coincidences += pairs / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    differences = _differences(np.array(values, dtype=np.float64), totals, level)
    size = totals.sum()
    expected = (np.outer(totals, totals) * differences).sum() / (size - 1)
    return float(1 - (coincidences * differences).sum() / expected)


def _label_counts(labels: object) -> Counter[Hashable]:
    try:
        return Counter(_label_list(labels))
    except TypeError:  # one is a list
        raise UsageError("found a list among the labels; expected words or numbers") from None


def _numbers(unit: object) -> list[float]:
    values = [float(value) if isinstance(value, Real) else math.nan for value in _label_list(unit)]
    if not all(map(math.isfinite, values)):
        raise UsageError(f"found {unit!r:.80} as labels of a document; expected numbers")
    return values


def _label_list(values: Any) -> Sequence[Any]:
    """A list, refused if it is something else."""
    if isinstance(values, str | Mapping) or not isinstance(values, Collection):
        raise UsageError(f"found {type(values).__name__}; expected a list of labels")
    return list(values)


def _differences(
    values: NDArray[np.float64], totals: NDArray[np.float64], level: Level
) -> NDArray[np.float64]:
    """The squared difference of each two labels, shape (labels, labels)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        squared: NDArray[np.float64] = np.subtract.outer(values, values) ** 2
        return squared
    # the labels from one to the other, the two ends by half
    middles = np.cumsum(totals) - totals / 2
    steps: NDArray[np.float64] = np.subtract.outer(middles, middles) ** 2
    return steps


Combination = Literal["majority", "median", "lowest"]
COMBINATIONS: tuple[Combination, ...] = ("majority", "median", "lowest")


def combine(labels: Sequence[str], by: Combination, is_graded: bool) -> str | None:
    """The label of a document.

    Args:
        labels: The labels that it got, at least one.
        by: `majority`: the label that most gave; of grades that as many gave, the lowest.
            `median`: the middle grade, the lower one of two. `lowest`: the lowest grade.
        is_graded: Whether labels are numbers.

    Returns:
        The label, or None if two words have equally many votes.

    Raises:
        UsageError: Words have no median and no lowest.
    """
    if not is_graded and by != "majority":
        raise UsageError(f"found --by {by} for labels that are words; expected majority")
    if by == "majority":
        counts = Counter(labels)
        most = max(counts.values())
        first = [label for label, count in counts.items() if count == most]
        if len(first) > 1 and not is_graded:
            return None
        return min(first, key=int) if is_graded else first[0]
    ordered = sorted(labels, key=int)
    return ordered[0] if by == "lowest" else ordered[(len(ordered) - 1) // 2]


class Vote(msgspec.Struct, frozen=True):
    """A vote that was not undone or replaced."""

    assessor: str
    topic: str
    document: str
    dimension: str
    label: str


class AssessorProgress(msgspec.Struct, frozen=True):
    """The progress of an assessor.

    Attributes:
        judged: Documents with a vote in every dimension.
        quota: Documents that the assessor judges at most; None for no limit.
    """

    name: str
    judged: int
    skipped: int
    notes: int
    quota: int | None


class PoolProgress(msgspec.Struct, frozen=True):
    """The progress of a pool.

    Attributes:
        documents: Documents in the pool, over all topics.
        judged: Documents that have all their votes.
        votes_wanted: Votes on documents that are wanted in all.
        votes: Votes on documents that are there; one for all dimensions.
    """

    documents: int
    topics: int
    judged: int
    votes_wanted: int
    votes: int
    assessors: list[AssessorProgress]


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two assessors.

    Attributes:
        documents: Documents that both judged.
        equal: The share of equal labels.
        kappa: Cohen's kappa; NaN where it is not defined.
    """

    first: str
    second: str
    documents: int
    equal: float
    kappa: float


@dataclass(frozen=True)
class DimensionAgreement:
    """The agreement of all assessors on a dimension.

    Attributes:
        documents: Documents with two votes or more.
        alpha: Krippendorff's alpha, of ordinal data for grades and of nominal data for words; NaN
            where it is not defined.
        pairs: Each two assessors who have a document in common.
    """

    dimension: str
    documents: int
    alpha: float
    pairs: tuple[PairAgreement, ...]

    def as_json(self) -> dict[str, Any]:
        """The agreement for JSON: None stands for what is not defined."""
        return {
            "dimension": self.dimension,
            "documents": self.documents,
            "alpha": _or_none(self.alpha),
            "pairs": [asdict(pair) | {"kappa": _or_none(pair.kappa)} for pair in self.pairs],
        }


@dataclass(frozen=True)
class Disagreement:
    """A document on which assessors differ."""

    topic: str
    document: str
    dimension: str
    votes: dict[str, str]
    notes: dict[str, str]


def standing_votes(file: JudgingFile) -> list[Vote]:
    """The votes that were not undone or replaced, by topic, document, dimension and assessor."""
    with file.reading() as database:
        rows = database.execute(
            "SELECT assessors.name, items.topic, items.document, dimension, label FROM standing "
            "JOIN items ON items.id = item JOIN assessors ON assessors.id = assessor "
            "JOIN topics ON topics.number = items.topic WHERE kind = 'vote' "
            "ORDER BY topics.place, items.document, dimension, assessors.name"
        )
        votes = [Vote(*row) for row in rows]
    known = {(scale.dimension, value) for scale in file.plan.scales for value in scale.values}
    if any((vote.dimension, vote.label) not in known for vote in votes):
        raise DataError("is damaged: a label is on no scale; take it from a copy", file.path)
    return votes


def events(file: JudgingFile) -> Iterator[dict[str, Any]]:
    """All events in their order, those that were undone included, as flat rows for JSON."""
    with file.reading() as database:
        rows = database.execute(
            "SELECT event.number, event.time, assessors.name, event.kind, items.topic, "
            "items.document, event.dimension, event.label, event.note, event.undoes "
            "FROM events AS event JOIN items ON items.id = event.item "
            "JOIN assessors ON assessors.id = event.assessor ORDER BY event.number"
        ).fetchall()
    names = ("number", "time", "assessor", "kind", "topic", "document", "dimension", "label")
    for row in rows:
        yield dict(zip((*names, "note", "undoes"), row, strict=True))


def progress(file: JudgingFile) -> PoolProgress:
    """The progress of a pool and of its assessors."""
    plan = file.plan
    with file.reading() as database:
        documents, topics = database.execute(
            "SELECT COUNT(*), COUNT(DISTINCT topic) FROM items"
        ).fetchone()
        whole = database.execute(
            "SELECT item, assessors.name FROM standing "
            "JOIN assessors ON assessors.id = assessor WHERE kind = 'vote' "
            "GROUP BY item, assessor HAVING COUNT(*) = ?",
            (len(plan.dimensions),),
        ).fetchall()
        others = {
            (name, kind): count
            for name, kind, count in database.execute(
                "SELECT name, kind, COUNT(DISTINCT item) FROM standing "
                "JOIN assessors ON assessors.id = assessor "
                "WHERE kind = 'skip' OR note <> '' GROUP BY name, kind"
            )
        }
        names = [name for (name,) in database.execute("SELECT name FROM assessors ORDER BY name")]
    of_items = Counter(item for item, _ in whole)
    of_names = Counter(name for _, name in whole)
    assessors = [
        AssessorProgress(
            name,
            of_names[name],
            others.get((name, "skip"), 0),
            others.get((name, "note"), 0),
            plan.quota,
        )
        for name in names
    ]
    full = sum(count >= plan.votes for count in of_items.values())
    wanted = documents * plan.votes
    return PoolProgress(documents, topics, full, wanted, len(whole), assessors)


def progress_of(file: JudgingFile, name: str) -> AssessorProgress:
    """The progress of one assessor."""
    of_assessor = "standing WHERE assessor = (SELECT id FROM assessors WHERE name = ?)"
    with file.reading() as database:
        (judged,) = database.execute(
            f"SELECT COUNT(*) FROM (SELECT item FROM {of_assessor} AND kind = 'vote' "
            "GROUP BY item HAVING COUNT(*) = ?)",
            (name, len(file.plan.dimensions)),
        ).fetchone()
        skipped, notes = database.execute(
            "SELECT COUNT(CASE WHEN kind = 'skip' THEN 1 END), "
            f"COUNT(CASE WHEN note <> '' THEN 1 END) FROM {of_assessor}",
            (name,),
        ).fetchone()
    return AssessorProgress(name, judged, skipped, notes, file.plan.quota)


def agreement(file: JudgingFile) -> list[DimensionAgreement]:
    """The agreement of assessors, dimension by dimension."""
    votes = standing_votes(file)
    return [
        _agreement_on(scale, [vote for vote in votes if vote.dimension == scale.dimension])
        for scale in file.plan.scales
    ]


def disagreements(file: JudgingFile, dimension: str | None = None) -> list[Disagreement]:
    """The documents on which assessors differ, for them to discuss; the furthest apart first."""
    if dimension is not None and dimension not in file.plan.dimensions:
        expected = ", ".join(file.plan.dimensions)
        raise UsageError(f"found the dimension {dimension!r}; expected of {expected}")
    notes = _notes(file)
    places = {str(scale.dimension): scale.values.index for scale in file.plan.scales}
    found = []
    for (topic, document, judged), labels in _by_document(standing_votes(file)).items():
        if len(set(labels.values())) > 1 and dimension in (None, judged):
            said = notes.get((topic, document), {})
            found.append(Disagreement(topic, document, judged, labels, said))

    def distance(each: Disagreement) -> int:
        at = [places[each.dimension](label) for label in each.votes.values()]
        return max(at) - min(at)

    graded = {scale.dimension for scale in file.plan.scales if scale.is_graded}
    return sorted(found, key=lambda each: -distance(each) if each.dimension in graded else -1)


def _agreement_on(scale: Scale, votes: Sequence[Vote]) -> DimensionAgreement:
    units = _by_document(votes)
    by_assessor: dict[str, dict[tuple[str, str, str], str]] = defaultdict(dict)
    for unit, labels in units.items():
        for name, label in labels.items():
            by_assessor[name][unit] = label
    pairs = []
    for first, second in itertools.combinations(sorted(by_assessor), 2):
        shared = sorted(by_assessor[first].keys() & by_assessor[second].keys())
        if shared:
            one = [by_assessor[first][unit] for unit in shared]
            other = [by_assessor[second][unit] for unit in shared]
            equal = sum(a == b for a, b in zip(one, other, strict=True)) / len(shared)
            kappa = cohen_kappa(one, other)
            pairs.append(PairAgreement(first, second, len(shared), equal, kappa))
    # the labels of a graded scale are in their order
    places = [[scale.values.index(label) for label in labels.values()] for labels in units.values()]
    alpha = krippendorff_alpha(places, "ordinal" if scale.is_graded else "nominal")
    several = sum(len(labels) > 1 for labels in units.values())
    return DimensionAgreement(scale.dimension, several, alpha, tuple(pairs))


def _by_document(votes: Sequence[Vote]) -> dict[tuple[str, str, str], dict[str, str]]:
    """The label of each assessor by topic, document and dimension."""
    found: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for vote in votes:
        found[vote.topic, vote.document, vote.dimension][vote.assessor] = vote.label
    return found


def _notes(file: JudgingFile) -> dict[tuple[str, str], dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with file.reading() as database:
        rows = database.execute(
            "SELECT items.topic, items.document, assessors.name, note FROM standing "
            "JOIN items ON items.id = item JOIN assessors ON assessors.id = assessor "
            "WHERE kind = 'note' AND note <> ''"
        )
        for topic, document, name, note in rows:
            found[topic, document][name] = note
    return found


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
