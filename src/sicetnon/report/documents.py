"""For each topic the first documents of all runs, with their labels and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sicetnon.evaluation.qrels import Qrels
from sicetnon.formats.identifiers import one_order
from sicetnon.report.contents import Contents, Hit, TopicHits
from sicetnon.report.texts import Piece, Texts

Label = int | str


@dataclass(frozen=True)
class Chip:
    """A label as the page shows it.

    Attributes:
        text: What it says.
        kind: The class that gives it a colour: `none` for unjudged, `g0` to `g3` for grades,
            `wrong` for a stance that differs from the judged one.
    """

    text: str
    kind: str = ""


@dataclass(frozen=True)
class ShownHit:
    """A document that a run found, as the page shows it.

    Attributes:
        document: Its id.
        number: The same for the same document in all runs of the topic.
        chips: Its labels, and the stance that the run gives it.
        text: The part of its text that has most to do with the question.
    """

    document: str
    number: int
    chips: list[Chip]
    text: list[Piece]


@dataclass(frozen=True)
class TopicDocuments:
    """A topic with the first documents of all runs.

    Attributes:
        number: The topic.
        title: Its question; empty where it is not known.
        documents: How many documents there are.
        unjudged: How many of them have no label.
        runs: For each run that answers the topic, its name on the page and its first documents.
    """

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
        document = hit.document
        chips = _chips(hit, labels[document])
        return ShownHit(document, numbers[document], chips, snippets.get(document, []))

    return TopicDocuments(
        topic.number,
        topic.title,
        len(numbers),
        sum(_unjudged(each) for each in labels.values()),
        [
            (name, [shown(hit) for hit in topic.hits[run]])
            for run, name in contents.names.items()
            if run in topic.hits
        ],
    )


def _chips(hit: Hit, labels: Mapping[str, Label | None]) -> list[Chip]:
    if _unjudged(labels):
        chips = [Chip("unjudged", "none")]
    else:
        chips = [_chip(name, label) for name, label in labels.items()]
    if hit.stance:
        wrong = any(isinstance(label, str) and label != hit.stance for label in labels.values())
        chips.append(Chip(f"run says {hit.stance}", "wrong" if wrong else ""))
    return chips


def _chip(name: str, label: Label | None) -> Chip:
    if label is None:
        return Chip(f"{name} unjudged", "none")
    if isinstance(label, str):
        return Chip(f"{name} {label}")
    return Chip(f"{name} {label}".replace("-", "−"), f"g{min(max(label, 0), 3)}")


def _unjudged(labels: Mapping[str, Label | None]) -> bool:
    return all(label is None for label in labels.values())


def labels_of(qrels: Mapping[str, Qrels], topic: str, document: str) -> dict[str, Label | None]:
    """The label of a document in each file of judgments that knows the topic; None for none."""
    labels: dict[str, Label | None] = {}
    for name, each in qrels.items():
        judged: Mapping[str, Label] | None = each.grades.get(topic) or each.stances.get(topic)
        if judged is not None:
            labels[name] = judged.get(one_order(document) if each.pairs else document)
    return labels
