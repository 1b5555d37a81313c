"""For each topic the first documents of all runs, with their labels and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sicetnon.evaluation.inputs import Qrels
from sicetnon.formats.identifiers import one_order
from sicetnon.report.contents import Contents, Hit, TopicHits
from sicetnon.report.texts import Texts
from sicetnon.text.snippets import Piece

Label = int | str


@dataclass(frozen=True)
class ShownHit:
    """A document that a run found, as the page shows it.

    Attributes:
        number: The same for the same document in all runs of the topic.
        labels: Its label in each file of judgments; None for none.
        stance: The stance that the run gives it; else empty.
        text: The part of its text that has most to do with the question.
    """

    document: str
    number: int
    labels: dict[str, Label | None]
    stance: str
    text: Sequence[Piece]

    @property
    def is_judged(self) -> bool:
        """Whether any judgments have a label for the document."""
        return _is_judged(self.labels)


@dataclass(frozen=True)
class TopicDocuments:
    """A topic with the first documents of all runs."""

    number: str
    title: str
    documents: int
    unjudged: int
    runs: list[tuple[str, list[ShownHit]]]


def each_topic(contents: Contents, texts: Texts | None) -> Iterator[TopicDocuments]:
    """The documents of each topic. Texts are read one topic at a time."""
    for topic in contents.topics:
        yield _documents(contents, topic, texts)


def _documents(contents: Contents, topic: TopicHits, texts: Texts | None) -> TopicDocuments:
    numbers = {document: number for number, document in enumerate(topic.documents)}
    labels = {document: labels_of(contents.qrels, topic.number, document) for document in numbers}
    snippets = texts.snippets(numbers, topic.title) if texts is not None else {}

    def shown(hit: Hit) -> ShownHit:
        name = hit.document
        return ShownHit(name, numbers[name], labels[name], hit.stance, snippets.get(name, ()))

    return TopicDocuments(
        topic.number,
        topic.title,
        len(numbers),
        sum(not _is_judged(each) for each in labels.values()),
        [
            (name, [shown(hit) for hit in topic.hits[run]])
            for run, name in contents.names.items()
            if run in topic.hits
        ],
    )


def _is_judged(labels: Mapping[str, Label | None]) -> bool:
    return any(label is not None for label in labels.values())


def labels_of(qrels: Mapping[str, Qrels], topic: str, document: str) -> dict[str, Label | None]:
    """The label of a document in each file of judgments that knows the topic; None for none."""
    labels: dict[str, Label | None] = {}
    for name, each in qrels.items():
        judged: Mapping[str, Label] | None = each.grades.get(topic) or each.stances.get(topic)
        if judged is not None:
            labels[name] = judged.get(one_order(document) if each.pairs else document)
    return labels
