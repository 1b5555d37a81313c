"""Topics from whatever holds them: a file, a mapping, records, a data frame, a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sicetnon.checks import check_topics
from sicetnon.errors import UsageError
from sicetnon.evaluation import sources
from sicetnon.formats.topics import read_topics
from sicetnon.records import Topic

# A path of a topics.xml, `{number: question}`, topics or other records, or anything with columns
# `qid` and `query`, or the `queries_iter` of a dataset of ir_datasets.
TopicSource = str | Path | Mapping[str, str] | Iterable[Any] | Any

QUERY = ("title", "query", "text", "question")


def load_topics(source: TopicSource) -> list[Topic]:
    """Read topics whole.

    Args:
        source: A path of a topics.xml, an id or a dataset of ir_datasets, `{number: question}`,
            topics, records, or a data frame with columns like `qid` and `query`.

    Raises:
        DataError: The file cannot be used.
        UsageError: A column is missing, or there is no topic.
    """
    source = sources.of_dataset(source, "queries")
    if isinstance(source, str | Path):
        return read_topics(source)
    if isinstance(source, Mapping):
        topics = [Topic(sources.identifier(each), str(text)) for each, text in source.items()]
    elif sources.is_frame(source):
        rows = sources.rows(source, (sources.TOPIC, QUERY), required=2)
        topics = [Topic(sources.identifier(number), str(text)) for number, text in rows]
    else:
        topics = [each if isinstance(each, Topic) else _of_record(each) for each in source]
    if not topics:
        raise UsageError("found no topic; give at least one")
    check_topics(topics)
    return topics


def _of_record(record: Any) -> Topic:
    """A topic of another tool's record, as a query of ir_datasets is one."""
    if record is None or (isinstance(record, str | tuple) and not hasattr(record, "_fields")):
        raise UsageError(
            f"found {type(record).__name__} among the topics; expected "
            "{'1': 'Should teachers get tenure?'} or Topic('1', 'Should teachers get tenure?')"
        )
    [(number, text)] = sources.rows([record], (sources.TOPIC, QUERY), required=2)
    return Topic(
        sources.identifier(number),
        str(text),
        objects=tuple(getattr(record, "objects", None) or ()),
        description=getattr(record, "description", ""),
        narrative=getattr(record, "narrative", ""),
    )
