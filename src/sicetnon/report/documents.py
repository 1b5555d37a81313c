"""For each topic what the runs found first, side by side, with labels and texts."""

from __future__ import annotations

from collections.abc import Mapping

from sicetnon.evaluation.qrels import Qrels
from sicetnon.formats.identifiers import one_order
from sicetnon.report.contents import TOP, Contents, Hit, TopicHits
from sicetnon.report.markup import Html, breakable, count, element, word
from sicetnon.report.tables import scrolling
from sicetnon.report.texts import Texts

Label = int | str


def topic_blocks(contents: Contents, texts: Texts | None) -> list[Html]:
    """One block a topic, closed until it is wanted."""
    return [
        _block(contents, topic, place, texts)
        for place, topic in enumerate(contents.topics, start=1)
    ]


def _block(contents: Contents, topic: TopicHits, place: int, texts: Texts | None) -> Html:
    documents = {document: number for number, document in enumerate(topic.documents)}
    judged = {document: labels_of(contents.qrels, topic.number, document) for document in documents}
    unjudged = sum(
        not any(label is not None for label in each.values()) for each in judged.values()
    )
    snippets: dict[str, Html] = {}
    if texts is not None:
        found = texts.of(documents)
        snippets = {document: texts.snippet(text, topic.title) for document, text in found.items()}
    said = f"{count(len(documents), 'document')}, {unjudged} unjudged"
    summary = element(
        "summary",
        element("b", word(topic.number)),
        " ",
        word(topic.title),
        element("span", said, class_="soft"),
    )
    columns = [
        element(
            "section",
            element("h4", breakable(label)),
            element(
                "ol",
                [
                    _hit(hit, documents[hit.document], judged[hit.document], snippets)
                    for hit in topic.hits[run]
                ],
            ),
        )
        for run, label in contents.labels.items()
        if run in topic.hits
    ]
    inner = element("div", columns, class_="side")
    if not columns:
        inner = element("p", "No run answers this topic.", class_="note")
    box = scrolling(inner, f"First {TOP} documents of topic {topic.number}")
    return element("details", summary, element("div", box, id=f"topic-{place}"), class_="topic")


def _hit(
    hit: Hit, place: int, judged: Mapping[str, Label | None], snippets: Mapping[str, Html]
) -> Html:
    text = snippets.get(hit.document)
    return element(
        "li",
        element("code", word(hit.document)),
        element("p", _chips(hit, judged), class_="chips"),
        "" if text is None else element("p", element("bdi", text), class_="text"),
        data_d=place,
    )


def _chips(hit: Hit, judged: Mapping[str, Label | None]) -> list[Html]:
    """The labels of a document, and the stance that the run gives it."""
    if _unjudged(judged):
        chips = [element("span", "unjudged", class_="chip none")]
    else:
        chips = [_chip(name, label) for name, label in judged.items()]
    if hit.stance:
        wrong = any(isinstance(label, str) and label != hit.stance for label in judged.values())
        chips.append(element("span", f"run says {hit.stance}", class_="chip" + " wrong" * wrong))
    return chips


def _chip(name: str, label: Label | None) -> Html:
    if label is None:
        return element("span", f"{name} unjudged", class_="chip none")
    if isinstance(label, str):
        return element("span", f"{name} {label}", class_="chip")
    grade = min(max(label, 0), 3)
    return element("span", f"{name} {label}".replace("-", "−"), class_=f"chip g{grade}")


def _unjudged(judged: Mapping[str, Label | None]) -> bool:
    return all(label is None for label in judged.values())


def labels_of(qrels: Mapping[str, Qrels], topic: str, document: str) -> dict[str, Label | None]:
    """What each file of judgments that knows the topic says of a document; None for nothing."""
    labels: dict[str, Label | None] = {}
    for name, each in qrels.items():
        judged: Mapping[str, Label] | None = each.grades.get(topic) or each.stances.get(topic)
        if judged is not None:
            labels[name] = judged.get(one_order(document) if each.pairs else document)
    return labels
