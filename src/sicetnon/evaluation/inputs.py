"""Inputs of an evaluation: runs, judgments and topics from files, records, frames, datasets."""

from __future__ import annotations

import itertools
import math
import numbers
import operator
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import abbreviated, check_path, check_ranking, check_topics
from sicetnon.contracts import CONTRACTS, Dimension
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.corpora import is_gap
from sicetnon.formats.identifiers import all_pairs, check_identifier, one_order
from sicetnon.formats.qrels import MOST, STANCES, consistent, read_qrels
from sicetnon.formats.runs import distinct, read_run, whole_rank
from sicetnon.formats.topics import read_topics
from sicetnon.records import UNSTANCED, Judgment, Ranking, Run, Topic


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
    """The single sources in what a caller gave, with their names where it gave names."""
    if isinstance(sources, Mapping) and not _is_nested(sources):
        named: list[tuple[str | None, Source]] = list(sources.items())
    elif (
        isinstance(sources, str | Mapping) or is_frame(sources) or not isinstance(sources, Iterable)
    ):
        named = [(None, sources)]
    else:
        several = list(sources)
        alone = bool(several) and _is_record(several[0])
        named = [(None, several)] if alone else [(None, source) for source in several]
    if not named:
        raise UsageError("found nothing to evaluate; give at least one run and one qrels file")
    return named


def _is_nested(sources: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one source (`{topic: {document: number}}`) instead of named sources."""
    first = next(iter(sources.values()), None)
    return isinstance(first, Mapping) and not isinstance(next(iter(first.values()), {}), Mapping)


def dataset_records(source: Any, entity: Literal["queries", "qrels", "scoreddocs"]) -> Any:
    """The records of a dataset of ir_datasets, given by its id or as such.

    Returns:
        What its iterator of the entity gives; the source itself where it is no dataset.
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


def nested_entries(source: Mapping[Any, Any], what: str) -> Iterator[tuple[Any, Any, Any]]:
    """The topic, the document and the number of each entry of `{topic: {document: number}}`."""
    for topic, values in source.items():
        if not isinstance(values, Mapping):
            raise UsageError(
                f"found {type(values).__name__} for topic {topic!r} of the {what}; expected "
                "{topic: {document: number}}"
            )
        for document, value in values.items():
            yield topic, document, value


def table_rows(
    source: Iterable[Any], columns: Sequence[tuple[str, ...]], required: int, name: str = "records"
) -> Iterator[tuple[Any, ...]]:
    """The rows of records or of a data frame, reduced to some columns in a fixed order.

    Args:
        source: Records, dictionaries or a data frame.
        columns: For each column the names that it may have.
        required: How many of them, from the first, must be there. The others are `MISSING`
            where the source lacks them.
        name: The name of the source, for messages.
    """
    if is_frame(source):
        return _frame_rows(source, columns, required)
    records = iter(source)
    head = list(itertools.islice(records, 1))
    return _record_rows(itertools.chain(head, records), head, columns, required, name)


def check_frame(frame: Any, used: Sequence[str | None] = ()) -> list[str]:
    """The names of a data frame's columns, all or the used ones of which occur once."""
    if hasattr(frame, "collect"):
        raise UsageError(f"found a {type(frame).__name__}; expected a data frame: call collect()")
    names = list(map(str, frame.columns))
    if doubled := [name for name in used or names if name and names.count(name) > 1]:
        raise UsageError(f"found two columns {doubled[0]!r}; expected one of each name")
    return names


def _frame_rows(
    frame: Any, columns: Sequence[tuple[str, ...]], required: int
) -> Iterator[tuple[Any, ...]]:
    names = _choose_columns(columns, list(map(str, frame.columns)), required)
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
    names = _choose_columns(columns, list(map(str, head[0])) if is_mapping else held, required)
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


def _choose_columns(
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
            id. `Qrels` stay unchanged.
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
    source = dataset_records(source, "qrels")
    if isinstance(source, str | Path):
        judgments: Iterable[Judgment] = read_qrels(source)
    elif isinstance(source, Mapping):
        judgments = consistent(_judgment_rows(_mapped_judgments(source), name), name or "qrels")
    else:
        judgments = consistent(_judgment_rows(cast("Iterable[Any]", source), name), name or "qrels")
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
    dimension = dimension_of(name or "", grades)
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
    merged: dict[str, dict[str, _Label]] = {}
    differing = 0
    for topic, labels in judged.items():
        inside = merged[topic] = {}
        for document, label in labels.items():
            pair = one_order(document)
            differing += inside.get(pair, label) != label
            inside[pair] = label
    return merged, differing


def dimension_of(name: str, grades: dict[str, dict[str, int]]) -> Dimension:
    """The dimension of a file: stance by its labels, else the one in its name, else relevance."""
    if not grades:
        return "stance"
    file = Path(name).name.lower()
    return next((dimension for dimension in GRADED if dimension in file), "relevance")


def _mapped_judgments(source: Mapping[str, Mapping[str, Any]]) -> list[Judgment]:
    """The judgments of `{topic: {document: label}}`, as pytrec_eval and ranx have them."""
    return [
        Judgment(topic, document, label)
        for topic, document, label in nested_entries(source, "judgments")
    ]


def _judgment_rows(source: Iterable[Any], name: str | None) -> Iterator[tuple[int, Judgment]]:
    """The judgments of records or a data frame, each with its number."""
    columns, name = (TOPIC, DOCUMENT, LABEL), name or "qrels"
    for number, (topic, document, label) in enumerate(table_rows(source, columns, 3, name), 1):
        labelled = (
            str(label) if isinstance(label, str) and label in STANCES else _whole_label(label)
        )
        if labelled is None:
            raise DataError(
                f"found the label {abbreviated(label)}; expected a whole number or one of "
                f"{', '.join(STANCES)}",
                name,
                number,
            )
        places = identifier(topic, name, number), identifier(document, name, number)
        yield number, Judgment(*places, labelled)


def _whole_label(label: Any) -> int | None:
    try:
        value = float(label)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(value) if value.is_integer() and abs(value) <= MOST else None


_RUN_FIELDS = operator.attrgetter("topic", "document", "rank", "score", "stance", "tag")
_Row = tuple[Any, ...]


@dataclass
class _Columns:
    documents: list[str] = field(default_factory=list)
    stances: list[str] = field(default_factory=list)
    ranks: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("d"))


def load_run(source: Source, name: str | None = None) -> Run:
    """Read a run whole.

    Args:
        source: A path (gzip is fine, `-` is standard input), rankings, `{topic: {document:
            score}}`, records with the fields of `RunLine` or of ir_measures' `ScoredDoc`, a data
            frame with such columns, or a dataset of ir_datasets or its id. Without ranks, the order
            is trec_eval's; without scores, it is that of the ranks. A `Run` stays unchanged.
        name: The name in results; the path when left out, else the tag.

    Raises:
        DataError: A line cannot be used, or there is none.
        UsageError: A column is missing.
    """
    if isinstance(source, Run):
        return replace(source, name=name) if name else source
    if isinstance(source, str | Path):
        name = name or str(source)
    source = dataset_records(source, "scoreddocs")
    if isinstance(source, str | Path):
        rows: Iterable[_Row] = map(_RUN_FIELDS, read_run(source))
    elif isinstance(source, Mapping):
        rows = _mapped_rows(source)
    else:
        given = cast("Iterable[Any]", source)
        listed = given if is_frame(given) else list(given)
        if isinstance(listed, list) and listed and isinstance(listed[0], Ranking):
            giver = name or "run"
            run = run_of([distinct(check_ranking(each, giver)) for each in listed], giver)
            lost = sum(map(len, listed)) - sum(map(len, run.rankings.values()))
            return replace(run, repeated=lost)
        rows = _run_rows(listed, name)
    return _run_of_rows(rows, name)


def run_of(rankings: Sequence[Ranking], name: str) -> Run:
    """A run of rankings, as a retriever gives them."""
    by_topic = {ranking.topic.number: ranking for ranking in rankings}
    if len(by_topic) < len(rankings):
        raise UsageError(f"{name} holds two rankings of one topic; expected one for each")
    return Run(name, name, by_topic)


def order_by_score(ranking: Ranking) -> NDArray[np.int64]:
    """The places of a ranking in the order of trec_eval: by score, then by id, both falling.

    trec_eval holds scores in single precision, so scores that differ by less are ties.

    Returns:
        Shape (n,).
    """
    with np.errstate(over="ignore"):
        scores = ranking.scores.astype(np.float32).tolist()
    places = range(len(ranking))
    order = sorted(places, key=lambda place: (scores[place], ranking.ids[place]), reverse=True)
    return np.array(order, dtype=np.int64)


def _run_of_rows(rows: Iterable[_Row], name: str | None) -> Run:
    """The run of rows of topic, document, rank, score, stance and tag."""
    topics: dict[str, _Columns] = {}
    words: dict[str, str] = {}  # one object per stance, not one per line
    tag, ranked = "", True
    for topic, document, rank, score, stance, line_tag in rows:
        columns = topics.get(topic)
        if columns is None:
            if not topics:
                tag, ranked = line_tag, rank is not MISSING
            columns = topics[topic] = _Columns()
        columns.documents.append(document)
        columns.stances.append(words.setdefault(stance, stance))
        columns.scores.append(score)
        if ranked:
            columns.ranks.append(rank)
    if not topics:
        raise DataError("found no line; expected a run", name)
    lines = sum(len(columns.documents) for columns in topics.values())
    rankings = {topic: _ranking_of(topic, topics.pop(topic), ranked) for topic in list(topics)}
    repeated = lines - sum(map(len, rankings.values()))
    return Run(name or tag or "run", tag, rankings, repeated)


def _mapped_rows(source: Mapping[str, Mapping[str, float]]) -> Iterator[_Row]:
    """The rows of `{topic: {document: score}}`, as pytrec_eval and ranx have runs."""
    for topic, document, score in nested_entries(source, "run"):
        real = _score_of(score, topic)
        yield identifier(topic), identifier(document), MISSING, real, UNSTANCED, ""


def _score_of(score: Any, topic: object) -> float:
    try:
        value = float(score)
        if value == value:
            return value
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError(f"found the score {abbreviated(score)} for topic {topic!r}; expected a number")


def _run_rows(source: Iterable[Any], name: str | None) -> Iterator[_Row]:
    """The rows of records or a data frame, with the types that a file's rows have."""
    columns = (TOPIC, DOCUMENT, RANK, SCORE)
    optional = (STANCE, TAG)
    name = name or "run"
    rows = table_rows(source, (*columns, *optional), 2, name)
    for number, (topic, document, rank, score, stance, tag) in enumerate(rows, start=1):
        if rank is MISSING and score is MISSING:
            raise UsageError("found neither a column 'rank' nor a column 'score' in the run")
        try:
            place = MISSING if rank is MISSING else whole_rank(rank)
            value = -float(rank) if score is MISSING else float(score)
            if value != value:
                raise ValueError(score)
        except (TypeError, ValueError, OverflowError):
            given = {"rank": rank, "score": score}
            found = (f"{key} {each!r:.40}" for key, each in given.items() if each is not MISSING)
            raise DataError(
                f"found {' and '.join(found)}; expected a whole number as rank, a number as score",
                name,
                number,
            ) from None
        yield (
            identifier(topic, name, number),
            identifier(document, name, number),
            place,
            value,
            # as texts, whatever a frame holds
            UNSTANCED if stance is MISSING else identifier(stance, name, number),
            str(tag) if isinstance(tag, str | int) else "",
        )


def _ranking_of(topic: str, columns: _Columns, ranked: bool) -> Ranking:
    """The ranking of a topic, in the order of its ranks; equal ranks as in the file."""
    stances = None if set(columns.stances) == {UNSTANCED} else tuple(columns.stances)
    scores = np.array(columns.scores, dtype=np.float64)
    ranking = Ranking(Topic(topic, ""), tuple(columns.documents), scores, stances)
    if ranked:
        ranks = np.array(columns.ranks, dtype=np.int64)
        if bool((ranks[1:] < ranks[:-1]).any()):
            order = np.argsort(ranks, kind="stable")
            ranking = ranking.taken(order, scores[order])
        return distinct(ranking)
    ranking = distinct(ranking)
    order = order_by_score(ranking)
    return ranking.taken(order, ranking.scores[order])


# A path of a topics.xml, `{number: question}`, topics or other records, or anything with columns
# `qid` and `query`, or the `queries_iter` of a dataset of ir_datasets.
TopicSource = str | Path | Mapping[str, str] | Iterable[Any] | Any

QUERY = ("title", "query", "text", "question")
_TOPIC_COLUMNS = (TOPIC, QUERY, ("objects",), ("description",), ("narrative",))


def load_topics(source: TopicSource) -> list[Topic]:
    """Read topics whole.

    Args:
        source: A path of a topics.xml or of TIREx's queries.jsonl, an id or a dataset of
            ir_datasets, `{number: question}`, topics, records, or a data frame with columns like
            `qid` and `query`. `objects` (a list, or a text with commas), `description` and
            `narrative` are read too, if they are there.

    Raises:
        DataError: The file cannot be used, or a topic has no number that a run can hold.
        UsageError: A column is missing, a question is no text or empty, or there is no topic.
    """
    source = dataset_records(source, "queries")
    if isinstance(source, str | Path):
        return read_topics(source)
    if isinstance(source, Mapping):
        topics = [_topic(number, title) for number, title in source.items()]
    elif is_frame(source):
        topics = [_topic(*row) for row in table_rows(source, _TOPIC_COLUMNS, 2, "topics")]
    else:
        topics = [_checked_topic(each) if isinstance(each, Topic) else _topic_of_record(each)
                  for each in source]  # fmt: skip
    if not topics:
        raise UsageError("found no topic; give at least one")
    check_topics(topics)
    return topics


def _checked_topic(topic: Topic) -> Topic:
    number: object = topic.number
    title: object = topic.title
    if not (isinstance(number, str) and isinstance(title, str)):
        return topic  # refused with the others
    _topic(number, title)
    # texts of numpy are none that a judging file can hold
    return msgspec.structs.replace(topic, number=str(topic.number), title=str(topic.title))


def _topic_of_record(record: Any) -> Topic:
    """A topic of another tool's record, as a query of ir_datasets is one."""
    if record is None or (isinstance(record, str | tuple) and not hasattr(record, "_fields")):
        raise UsageError(
            f"found {type(record).__name__} among the topics; expected "
            "{'1': 'Should teachers get tenure?'} or Topic('1', 'Should teachers get tenure?')"
        )
    [row] = table_rows([record], _TOPIC_COLUMNS, 2, "topics")
    return _topic(*row)


def _topic(
    number: object,
    title: object,
    objects: object = None,
    description: object = None,
    narrative: object = None,
) -> Topic:
    name = identifier(number, "topics")
    question = _topic_text(title, name, "question")
    if not question:
        raise UsageError(f"found no question for topic {name!r}; expected a text")
    several = objects.split(",") if isinstance(objects, str) else objects
    if is_missing(several):
        several = ()
    if not isinstance(several, Iterable):
        raise UsageError(f"found the objects {objects!r:.80} for topic {name!r}; expected texts")
    return Topic(
        name,
        question,
        tuple(filter(None, (_topic_text(each, name, "objects") for each in several))),
        "" if is_missing(description) else _topic_text(description, name, "description"),
        "" if is_missing(narrative) else _topic_text(narrative, name, "narrative"),
    )


def _topic_text(value: object, topic: str, what: str) -> str:
    """A text of a topic, white space folded."""
    if not isinstance(value, str):
        found = f"{value!r:.80} as the {what} of topic {topic!r}"
        raise UsageError(f"found {found}; expected a text")
    return " ".join(value.split())
