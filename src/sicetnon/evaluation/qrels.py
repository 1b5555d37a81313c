"""Judgments in memory, and what they judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sicetnon.contracts import Dimension
from sicetnon.errors import DataError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import Loaded, Source, identifier
from sicetnon.formats.identifiers import all_pairs, one_order
from sicetnon.formats.qrels import STANCES, read_qrels
from sicetnon.records import Judgment

GRADED: tuple[Dimension, ...] = ("relevance", "quality", "coherence")


@dataclass(frozen=True)
class Qrels(Loaded):
    """The judgments of one file.

    Attributes:
        name: The path, or the name that the caller gave.
        grades: For each topic the labels of its documents, where they are numbers.
        stances: For each topic the labels of its documents, where they are stances.
        pairs: Whether the documents are pairs; their ids are in one order then.
    """

    name: str
    dimension: Dimension
    grades: dict[str, dict[str, int]]
    stances: dict[str, dict[str, str]]
    pairs: bool

    @property
    def topics(self) -> Iterable[str]:
        """The topics with a judgment."""
        return self.grades or self.stances


def load_qrels(source: Source, name: str | None = None) -> Qrels:
    """Read judgments whole.

    `a,b` and `b,a` are one document where all documents are pairs. Of two judgments of one
    document the later holds, as in pytrec_eval (the official judgments of 2022 task 1 hold some
    pairs in both orders, a few with two labels).

    Args:
        source: A path, `{topic: {document: label}}`, records with the fields of `Judgment` or of
            ir_measures' `Qrel`, a data frame with such columns, or a dataset of ir_datasets or its
            id. `Qrels` stay as they are.
        name: The name in results; the path when left out, else the dimension.

    Raises:
        DataError: A line cannot be used, there is none, or numbers and stances are mixed.
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
        judgments = _checked(_mapped(source), name)
    else:
        judgments = _checked(cast("Iterable[Any]", source), name)
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
    pairs = all_pairs(document for labels in grades.values() for document in labels)
    if pairs:
        grades = {
            topic: {one_order(document): label for document, label in labels.items()}
            for topic, labels in grades.items()
        }
    return Qrels(name or dimension, dimension, grades, stances, pairs)


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


def _checked(source: Iterable[Any], name: str | None) -> Iterator[Judgment]:
    columns = (sources.TOPIC, sources.DOCUMENT, sources.LABEL)
    for number, (topic, document, label) in enumerate(sources.rows(source, columns, 3), start=1):
        if isinstance(label, str) and label in STANCES:
            yield Judgment(identifier(topic), identifier(document), label)
            continue
        try:
            value = float(label)
            whole = int(value)
        except (TypeError, ValueError, OverflowError):
            value, whole = 0.5, 0
        if value != whole:
            raise DataError(
                f"found the label {label!r}; expected a whole number or one of "
                f"{', '.join(STANCES)}",
                name or "qrels",
                number,
            )
        yield Judgment(identifier(topic), identifier(document), whole)
