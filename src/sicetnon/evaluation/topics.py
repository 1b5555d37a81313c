"""Topics from whatever holds them: a file, a mapping, records, a data frame, a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sicetnon.checks import check_topics
from sicetnon.errors import UsageError
from sicetnon.evaluation import sources
from sicetnon.formats.topics import read_topics
from sicetnon.records import Topic

# A path of a topics.xml, `{number: question}`, topics or other records, or anything with columns
# `qid` and `query`, or the `queries_iter` of a dataset of ir_datasets.
TopicSource = str | Path | Mapping[str, str] | Iterable[Any] | Any

QUERY = ("title", "query", "text", "question")
_COLUMNS = (sources.TOPIC, QUERY, ("objects",), ("description",), ("narrative",))


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
    source = sources.of_dataset(source, "queries")
    if isinstance(source, str | Path):
        return read_topics(source)
    if isinstance(source, Mapping):
        topics = [_topic(number, title) for number, title in source.items()]
    elif sources.is_frame(source):
        topics = [_topic(*row) for row in sources.rows(source, _COLUMNS, 2, "topics")]
    else:
        topics = [_checked(each) if isinstance(each, Topic) else _of_record(each)
                  for each in source]  # fmt: skip
    if not topics:
        raise UsageError("found no topic; give at least one")
    check_topics(topics)
    return topics


def _checked(topic: Topic) -> Topic:
    number: object = topic.number
    title: object = topic.title
    if not (isinstance(number, str) and isinstance(title, str)):
        return topic  # refused with the others
    _topic(number, title)
    # texts of numpy are none that a judging file can hold
    return replace(topic, number=str(topic.number), title=str(topic.title))


def _of_record(record: Any) -> Topic:
    """A topic of another tool's record, as a query of ir_datasets is one."""
    if record is None or (isinstance(record, str | tuple) and not hasattr(record, "_fields")):
        raise UsageError(
            f"found {type(record).__name__} among the topics; expected "
            "{'1': 'Should teachers get tenure?'} or Topic('1', 'Should teachers get tenure?')"
        )
    [row] = sources.rows([record], _COLUMNS, 2, "topics")
    return _topic(*row)


def _topic(
    number: object,
    title: object,
    objects: object = None,
    description: object = None,
    narrative: object = None,
) -> Topic:
    name = sources.identifier(number, "topics")
    question = _text(title, name, "question")
    if not question:
        raise UsageError(f"found no question for topic {name!r}; expected a text")
    several = objects.split(",") if isinstance(objects, str) else objects
    if sources.is_missing(several):
        several = ()
    if not isinstance(several, Iterable):
        raise UsageError(f"found the objects {objects!r:.80} for topic {name!r}; expected texts")
    return Topic(
        name,
        question,
        tuple(filter(None, (_text(each, name, "objects") for each in several))),
        "" if sources.is_missing(description) else _text(description, name, "description"),
        "" if sources.is_missing(narrative) else _text(narrative, name, "narrative"),
    )


def _text(value: object, topic: str, what: str) -> str:
    """A text of a topic, white space folded."""
    if not isinstance(value, str):
        found = f"{value!r:.80} as the {what} of topic {topic!r}"
        raise UsageError(f"found {found}; expected a text")
    return " ".join(value.split())
