"""Judgments out of a judging file, and known ones into it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sicetnon.contracts import has_pairs
from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation.inputs import dimension_of, unordered_labels
from sicetnon.formats.files import write_atomic
from sicetnon.formats.identifiers import all_pairs, one_order
from sicetnon.formats.qrels import SIDES, STANCES, qrels_text, read_qrels
from sicetnon.judging.store import JudgingFile
from sicetnon.judging.votes import Combination, combine, events, standing_votes
from sicetnon.operating_system import make_folder
from sicetnon.records import Judgment

VOTES_FILE = "votes.jsonl"


@dataclass(frozen=True)
class Exported:
    """A file of judgments that was written.

    Attributes:
        ties: Documents that were left out, since as many votes were for one word as for another.
    """

    path: Path
    judgments: int
    ties: int


@dataclass(frozen=True)
class Imported:
    """The outcome of an import of judgments.

    Attributes:
        saved: Judgments that are votes now.
        known: Judgments that were votes already.
        outside: Judgments of documents that are not in the pool.
        full: Judgments of documents that have all their votes.
        differing: Pairs with another label in each order; the later became the vote.
    """

    dimension: str
    saved: int
    known: int
    outside: int
    full: int
    differing: int = 0


def export_judgments(
    file: JudgingFile, folder: Path | str, by: Combination = "majority"
) -> list[Exported]:
    """Write judgments in the form of the official ones, a file for each dimension, and raw votes.

    Args:
        file: The judging file.
        folder: Where the files go; made if it does not exist.
        by: How votes are combined; for stances and sides `majority`, whatever is asked.

    Returns:
        The files of judgments; beside them lies `votes.jsonl` with all that was done.

    Raises:
        UsageError: There is no vote.
        OSError: A file cannot be written; none has changed then.
    """
    votes = standing_votes(file)
    if not votes:
        raise UsageError(f"{file.path}: found no vote; judge something first")
    labels: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        labels[vote.dimension][vote.topic, vote.document].append(vote.label)
    folder = Path(folder)
    texts: dict[Path, str | bytes] = {}
    written = []
    for scale in file.plan.scales:
        found = labels[scale.dimension]
        if not found:
            continue
        way: Combination = by if scale.is_graded else "majority"
        judged = [
            Judgment(topic, document, label)
            for (topic, document), given in found.items()
            if (label := combine(given, way, scale.is_graded)) is not None
        ]
        path = folder / f"{file.plan.task or 'judgments'}-{scale.dimension}.qrels"
        texts[path] = qrels_text(judged)
        written.append(Exported(path, len(judged), len(found) - len(judged)))
    rows = (msgspec.json.encode(row) for row in events(file))
    texts[folder / VOTES_FILE] = b"".join(row + b"\n" for row in rows)
    make_folder(folder)
    write_atomic(texts)
    return written


def import_judgments(
    file: JudgingFile, path: Path | str, name: str, dimension: str | None = None
) -> Imported:
    """Take known judgments into a judging file, as votes of an assessor.

    Args:
        file: The judging file.
        path: The judgments.
        name: The assessor whose votes they become.
        dimension: Their dimension; by their labels and the file's name when left out.

    Raises:
        DataError: A line cannot be used, a document has two labels, or a label is not on the scale.
        UsageError: The dimension is not judged in this file.
    """
    with file.reading() as database:
        rows = database.execute("SELECT id, topic, document FROM items").fetchall()
    is_paired = all_pairs((document for _, _, document in rows), has_pairs(file.plan.task))
    # elsewhere two ids with a comma are two documents
    order: Callable[[str], str] = one_order if is_paired else str
    items = {(topic, order(document)): item for item, topic, document in rows}
    given: dict[str, dict[str, str]] = defaultdict(dict)
    for judgment in read_qrels(path, (*STANCES, *SIDES)):
        given[judgment.topic][judgment.document] = str(judgment.label)
    judgments, differing = unordered_labels(given) if is_paired else (given, 0)
    labels = {
        (topic, document): label
        for topic, documents in judgments.items()
        for document, label in documents.items()
    }
    judged = dimension or _dimension(path, set(labels.values()))
    scale = next((each for each in file.plan.scales if each.dimension == judged), None)
    if scale is None:
        expected = ", ".join(file.plan.dimensions)
        raise UsageError(f"{path}: found the dimension {judged}; expected of {expected}")
    if wrong := sorted(set(labels.values()) - set(scale.values)):
        expected = ", ".join(scale.values)
        raise DataError(f"found the label {wrong[0]!r} of {judged}; expected of {expected}", path)
    known = {
        (vote.topic, order(vote.document)): vote.label
        for vote in standing_votes(file)
        if vote.assessor == name and vote.dimension == judged
    }
    inside = {place: label for place, label in labels.items() if place in items}
    fresh = {place: label for place, label in inside.items() if known.get(place) != label}
    saved = file.add_votes(name, [(items[place], judged, label) for place, label in fresh.items()])
    return Imported(
        judged,
        saved,
        len(inside) - len(fresh),
        len(labels) - len(inside),
        len(fresh) - saved,
        differing,
    )


def _dimension(path: Path | str, labels: set[str]) -> str:
    """The dimension of a file: by its labels, else by its name, else relevance."""
    if not labels:
        raise DataError("found no judgment; expected lines of the form qid 0 doc label", path)
    if labels <= set(SIDES):
        return "side"
    if labels <= set(STANCES):
        return "stance"
    return dimension_of(str(path), {"": {}})
