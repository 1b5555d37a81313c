"""Sources of runs, judgments and topics: a path, records, a data frame, a dataset."""

from __future__ import annotations

import itertools
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sicetnon.errors import DataError, UsageError
from sicetnon.formats.corpora import is_gap
from sicetnon.formats.identifiers import check_identifier
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


def identifier(value: object, name: str | None = None, row: int | None = None) -> str:
    """An id as a text. Data frames with gaps hold whole numbers as floats: 1.0 is the id 1.

    Args:
        value: A text or a whole number.
        name: The name of the source, for messages.
        row: The number of the row, likewise.

    Raises:
        DataError: It is something else, such as None or NaN, or no run could hold it.
    """
    text = value if isinstance(value, str) else _whole_number(value)
    if text is None:
        raise DataError(
            f"found {value!r:.80} in the place of an id; expected a text or a whole number",
            name,
            row,
        )
    try:
        check_identifier(text)
    except ValueError as error:
        raise DataError(f"{error}; expected one word", name, row) from None
    return str(text)


def _whole_number(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    number = math.floor(value) if math.isfinite(value) else 0
    return str(number) if number == value else None


def is_missing(value: object) -> bool:
    """Whether a value stands for none: of a column that is not there, or a gap of a data frame."""
    return value is MISSING or is_gap(value)


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
    source: Iterable[Any], columns: Sequence[tuple[str, ...]], required: int, name: str = "records"
) -> Iterator[tuple[Any, ...]]:
    """The rows of records or of a data frame, reduced to some columns in a fixed order.

    Args:
        source: Records, dictionaries or a data frame.
        columns: For each column the names that it may have.
        required: How many of them, from the first, must be there. The others are `MISSING`
            where the source lacks them.
        name: The name of the source, for messages.

    Raises:
        DataError: A record lacks a column that the first one has, or has one more.
        UsageError: A required column is missing, or there are two of one name.
    """
    if is_frame(source):
        return _frame_rows(source, columns, required)
    records = iter(source)
    head = list(itertools.islice(records, 1))
    return _record_rows(itertools.chain(head, records), head, columns, required, name)


def check_frame(frame: Any, used: Sequence[str | None] = ()) -> list[str]:
    """The names of a data frame's columns, all or the used ones of which occur once.

    Raises:
        UsageError: Two have one name, or its rows are not there yet.
    """
    if hasattr(frame, "collect"):
        raise UsageError(f"found a {type(frame).__name__}; expected a data frame: call collect()")
    names = list(map(str, frame.columns))
    if doubled := [name for name in used or names if name and names.count(name) > 1]:
        raise UsageError(f"found two columns {doubled[0]!r}; expected one of each name")
    return names


def _frame_rows(
    frame: Any, columns: Sequence[tuple[str, ...]], required: int
) -> Iterator[tuple[Any, ...]]:
    names = _choose(columns, list(map(str, frame.columns)), required)
    check_frame(frame, names)
    return zip(
        *(itertools.repeat(MISSING) if name is None else list(frame[name]) for name in names),
        strict=False,
    )


def _record_rows(
    records: Iterable[Any],
    head: Sequence[Any],
    columns: Sequence[tuple[str, ...]],
    required: int,
    source: str,
) -> Iterator[tuple[Any, ...]]:
    if not head:
        return
    is_mapping = isinstance(head[0], Mapping)
    has: Callable[[Any, str], bool] = operator.contains if is_mapping else hasattr
    get: Callable[[Any, str], Any] = operator.getitem if is_mapping else getattr
    held = [name for name in itertools.chain(*columns) if has(head[0], name)]
    names = _choose(columns, list(map(str, head[0])) if is_mapping else held, required)
    # a column that begins after the first record would be passed over in silence
    late = [other for name, several in zip(names, columns, strict=True)
            if name is None for other in several]  # fmt: skip
    for number, record in enumerate(records, start=1):
        if isinstance(record, Mapping) != is_mapping:
            found = type(record).__name__
            raise DataError(f"found {found}; expected records of one kind", source, number)
        try:
            yield tuple([MISSING if name is None else get(record, name) for name in names])
        except (KeyError, AttributeError):
            lacking = next(name for name in names if name is not None and not has(record, name))
            raise DataError(
                f"found a record without {lacking!r}, which the first one has", source, number
            ) from None
        if late and (more := [name for name in late if has(record, name)]):
            raise DataError(
                f"found a record with {more[0]!r}, which the first one lacks", source, number
            )


def _choose(
    columns: Sequence[tuple[str, ...]], held: Sequence[str], required: int
) -> list[str | None]:
    chosen = [next((name for name in names if name in held), None) for names in columns]
    for names, choice in zip(columns[:required], chosen, strict=False):
        if choice is None:
            raise UsageError(
                f"found no column {names[0]!r} among {', '.join(sorted(held)) or 'none'}; "
                f"expected one of {', '.join(names)}"
            )
    return chosen
