"""Sources of runs, judgments and topics: a path, records, a data frame, a dataset."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sicetnon.errors import DataError, UsageError
from sicetnon.records import Run
from sicetnon.values import check_path


class Loaded:
    """Judgments that have been read already: `Qrels`."""


# A path (`-` is standard input), rankings or records, `{topic: {document: number}}`, anything with
# named columns, as the data frames of pandas and Polars, or a dataset of ir_datasets or its id.
# Those libraries are not imported, so their objects have no type here.
Source = str | Path | Iterable[Any] | Run | Loaded
# One source, several, or several with names.
Sources = Source | Sequence[Source] | Mapping[str, Source]

# What other tools call the same column, in the order in which they are tried.
TOPIC = ("topic", "qid", "query_id", "q_id", "topic_id")
DOCUMENT = ("document", "docno", "doc_id", "docid", "doc")
RANK = ("rank",)
SCORE = ("score", "sim")
STANCE = ("stance", "Q0", "q0")
TAG = ("tag", "system", "run_id", "name")
LABEL = ("label", "relevance", "rel")


class _Missing:
    """Stands for a column that a source does not have."""


MISSING = _Missing()


def is_frame(source: object) -> bool:
    """Whether a source is a data frame: something with named columns."""
    return hasattr(source, "columns") and hasattr(source, "__getitem__")


def each_source(sources: Sources) -> list[tuple[str | None, Source]]:
    """The single sources in what a caller gave, with their names where it gave names.

    Raises:
        UsageError: There is none.
    """
    if isinstance(sources, Mapping) and not _is_nested(sources):
        found: list[tuple[str | None, Source]] = list(sources.items())
    elif (
        isinstance(sources, str | Mapping) or is_frame(sources) or not isinstance(sources, Iterable)
    ):
        found = [(None, sources)]
    else:
        several = list(sources)
        alone = bool(several) and _is_record(several[0])
        found = [(None, several)] if alone else [(None, source) for source in several]
    if not found:
        raise UsageError("found nothing to evaluate; give at least one run and one qrels file")
    return found


def _is_nested(sources: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one source (`{topic: {document: number}}`) instead of named sources."""
    first = next(iter(sources.values()), None)
    return isinstance(first, Mapping) and not isinstance(next(iter(first.values()), {}), Mapping)


def of_dataset(source: Any, entity: Literal["queries", "qrels", "scoreddocs"]) -> Any:
    """The records of a dataset of ir_datasets, given by its id or as such.

    Returns:
        What its iterator of the entity gives; the source itself where it is no dataset.

    Raises:
        UsageError: The source cannot be read, as a dataset without such records.
    """
    if isinstance(source, str):
        check_path(source, "a source")
        if source != "-" and not Path(source).exists():
            source = _dataset_called(source)
    if records := getattr(source, f"{entity}_iter", None):
        return records()
    if isinstance(source, str | Path | Iterable) or is_frame(source):
        return source
    raise UsageError(
        f"found {str(source)[:80]}, which has no {entity}; expected a path, a mapping, records, "
        f"a data frame, or a dataset of ir_datasets with {entity}"
    )


def _dataset_called(name: str) -> Any:
    """The dataset of this id; the name itself where ir_datasets knows none, or is not installed."""
    try:
        import ir_datasets

        return ir_datasets.load(name)
    except (ImportError, KeyError):
        return name


def _is_record(item: object) -> bool:
    held = item if isinstance(item, Mapping) else dir(item)
    return not is_frame(item) and any(name in held for name in TOPIC)


def identifier(value: object) -> str:
    """An id as a text. Data frames with gaps hold whole numbers as floats: 1.0 is the id 1.

    Raises:
        DataError: There is none: None or NaN.
    """
    if value is None or value != value:
        raise DataError(f"found {value} in the place of an id; expected a text or a number")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def nested(source: Mapping[Any, Any], what: str) -> Iterator[tuple[Any, Any, Any]]:
    """The topic, the document and the number of each entry of `{topic: {document: number}}`.

    Raises:
        UsageError: It is another mapping.
    """
    for topic, values in source.items():
        if not isinstance(values, Mapping):
            raise UsageError(
                f"found {type(values).__name__} for topic {topic!r} of the {what}; expected "
                "{topic: {document: number}}"
            )
        for document, value in values.items():
            yield topic, document, value


def rows(
    source: Iterable[Any], columns: Sequence[tuple[str, ...]], required: int
) -> Iterator[tuple[Any, ...]]:
    """The rows of records or of a data frame, reduced to some columns in a fixed order.

    Args:
        source: Records, dictionaries or a data frame.
        columns: For each column the names that it may have.
        required: How many of them, from the first, must be there. The others are `MISSING`
            where the source lacks them.

    Raises:
        UsageError: A required column is missing.
    """
    if is_frame(source):
        frame: Any = source
        names = _choose(columns, set(map(str, frame.columns)), required)
        return zip(
            *(itertools.repeat(MISSING) if name is None else list(frame[name]) for name in names),
            strict=False,
        )
    records = iter(source)
    first = next(records, None)
    if first is None:
        return iter(())
    if isinstance(first, Mapping):
        names = _choose(columns, set(map(str, first)), required)
        chosen = [MISSING if name is None else name for name in names]
        dictionaries = itertools.chain([first], records)
        return (tuple(row.get(name, MISSING) for name in chosen) for row in dictionaries)
    held = {name for name in itertools.chain(*columns) if hasattr(first, name)}
    names = _choose(columns, held, required)
    getters = [_nothing if name is None else operator.attrgetter(name) for name in names]
    return (tuple(get(record) for get in getters) for record in itertools.chain([first], records))


def _nothing(_: object) -> _Missing:
    return MISSING


def _choose(columns: Sequence[tuple[str, ...]], held: set[str], required: int) -> list[str | None]:
    chosen = [next((name for name in names if name in held), None) for names in columns]
    for names, choice in zip(columns[:required], chosen, strict=False):
        if choice is None:
            raise UsageError(
                f"found no column {names[0]!r} among {', '.join(sorted(held)) or 'none'}; "
                f"expected one of {', '.join(names)}"
            )
    return chosen
