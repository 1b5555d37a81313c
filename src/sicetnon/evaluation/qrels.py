"""Judgments in memory, and what they judge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from sicetnon.checks import shown
from sicetnon.contracts import CONTRACTS, Dimension
from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import Loaded, Source, identifier
from sicetnon.formats.identifiers import all_pairs, one_order
from sicetnon.formats.qrels import MOST, STANCES, consistent, read_qrels
from sicetnon.records import Judgment

_PAIR_TASKS = [task for task, each in CONTRACTS.items() if each.unit == "pair"]
_Label = TypeVar("_Label")
GRADED: tuple[Dimension, ...] = ("relevance", "quality", "coherence")


@dataclass(frozen=True)
class Qrels(Loaded):
    """The judgments of one file.

    Attributes:
        name: The path, or the name that the caller gave.
        grades: For each topic the labels of its documents, where they are numbers.
        stances: For each topic the labels of its documents, where they are stances.
        pairs: Whether the documents are pairs; their ids are in one order then.
        differing: Number of pairs that had another label in each order; the later holds.
    """

    name: str
    dimension: Dimension
    grades: dict[str, dict[str, int]]
    stances: dict[str, dict[str, str]]
    pairs: bool
    differing: int = 0

    @property
    def topics(self) -> Iterable[str]:
        """The topics with a judgment."""
        return self.grades or self.stances

    def of(self, topics: Collection[str]) -> Qrels:
        """The judgments of some topics.

        Raises:
            UsageError: There is none.
        """
        grades = {topic: each for topic, each in self.grades.items() if topic in topics}
        stances = {topic: each for topic, each in self.stances.items() if topic in topics}
        if not grades and not stances:
            raise UsageError(f"{self.name} judges none of the topics; give judgments of them")
        return replace(self, grades=grades, stances=stances)


def load_qrels(source: Source, name: str | None = None) -> Qrels:
    """Read judgments whole.

    The two orders of a pair of sentences are one document, if all documents are pairs: by the form
    of their ids (`…__PREMISE__3,…__CONC__1`), or in a file that is named after 2022 task 1, as
    `sicetnon judge export` names it. Of two judgments of a pair, one in each order, the later
    holds, as in pytrec_eval: the official ones have a few with two labels.

    Args:
        source: A path, `{topic: {document: label}}`, records with the fields of `Judgment` or of
            ir_measures' `Qrel`, a data frame with such columns, or a dataset of ir_datasets or its
            id. `Qrels` stay as they are.
        name: The name in results; the path when left out, else the dimension.

    Raises:
        DataError: A line cannot be used, there is none, numbers and stances are mixed, or a
            document has two labels.
        UsageError: A column is missing.
    """
    if isinstance(source, Qrels):
        return replace(source, name=name) if name else source
    if isinstance(source, str | Path):
        name = name or str(source)
    source = sources.of_dataset(source, "qrels")
    if isinstance(source, str | Path):
        judgments: Iterable[Judgment] = read_qrels(source)
    elif isinstance(source, Mapping):
        judgments = consistent(_checked(_mapped(source), name), name or "qrels")
    else:
        judgments = consistent(_checked(cast("Iterable[Any]", source), name), name or "qrels")
    grades: dict[str, dict[str, int]] = {}
    stances: dict[str, dict[str, str]] = {}
    for judgment in judgments:
        if isinstance(judgment.label, str):
            stances.setdefault(judgment.topic, {})[judgment.document] = judgment.label
        else:
            grades.setdefault(judgment.topic, {})[judgment.document] = judgment.label
    if bool(grades) == bool(stances):
        what = "both numbers and stances as labels" if grades else "no judgment"
        raise DataError(f"found {what}; expected a file of one kind: qid 0 doc label", name)
    dimension = recognise(name or "", grades)
    has_pairs = any(task in Path(name or "").name for task in _PAIR_TASKS) or None
    pairs = all_pairs((each for labels in grades.values() for each in labels), has_pairs)
    differing = 0
    if pairs:
        grades, differing = unordered_labels(grades)
    return Qrels(name or dimension, dimension, grades, stances, pairs, differing)


def unordered_labels(
    judged: Mapping[str, Mapping[str, _Label]],
) -> tuple[dict[str, dict[str, _Label]], int]:
    """The labels of pairs by topic, each pair in one order, and the number of pairs with two.

    The later of two labels holds.
    """
    found: dict[str, dict[str, _Label]] = {}
    differing = 0
    for topic, labels in judged.items():
        inside = found[topic] = {}
        for document, label in labels.items():
            pair = one_order(document)
            differing += inside.get(pair, label) != label
            inside[pair] = label
    return found, differing


def recognise(name: str, grades: dict[str, dict[str, int]]) -> Dimension:
    """The dimension of a file: stance by its labels, else the one in its name, else relevance."""
    if not grades:
        return "stance"
    file = Path(name).name.lower()
    return next((dimension for dimension in GRADED if dimension in file), "relevance")


def _mapped(source: Mapping[str, Mapping[str, Any]]) -> list[Judgment]:
    """The judgments of `{topic: {document: label}}`, as pytrec_eval and ranx have them."""
    return [
        Judgment(topic, document, label)
        for topic, document, label in sources.nested(source, "judgments")
    ]


def _checked(source: Iterable[Any], name: str | None) -> Iterator[tuple[int, Judgment]]:
    """The judgments of records or a data frame, each with its number."""
    columns, name = (sources.TOPIC, sources.DOCUMENT, sources.LABEL), name or "qrels"
    for number, (topic, document, label) in enumerate(sources.rows(source, columns, 3, name), 1):
        labelled = str(label) if isinstance(label, str) and label in STANCES else _whole(label)
        if labelled is None:
            raise DataError(
                f"found the label {shown(label)}; expected a whole number or one of "
                f"{', '.join(STANCES)}",
                name,
                number,
            )
        places = identifier(topic, name, number), identifier(document, name, number)
        yield number, Judgment(*places, labelled)


def _whole(label: Any) -> int | None:
    try:
        value = float(label)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(value) if value.is_integer() and abs(value) <= MOST else None
