"""Views of the page Judge: a document, its question, and the scales it is judged on."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sicetnon.errors import counted
from sicetnon.formats.entries import is_link
from sicetnon.formats.identifiers import halves
from sicetnon.judging import Item, JudgingFile, Scale
from sicetnon.judging.scales import NO_ARGUMENT
from sicetnon.judging.store import Action
from sicetnon.judging.votes import AssessorProgress, progress, progress_of
from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.records import PremiseStance, Topic
from sicetnon.report.contents import Texts

_LONGEST, _LONGEST_KEY, _MOST_ITEMS = 50_000, 64, 2**63
_STANCES: dict[PremiseStance | None, str] = {"PRO": "for", "CON": "against", None: ""}


@dataclass(frozen=True)
class ShownText:
    """The text of a document, or of one sentence of a pair.

    Attributes:
        heading: Its claim or title; empty where it has none.
        stance: `for` or `against` that claim; empty where it is not known.
        link: The address of its source, where that can be followed.
    """

    heading: str
    stance: str
    paragraphs: Sequence[str]
    link: str | None = None


@dataclass(frozen=True)
class Step:
    """A dimension that the document is judged on.

    Attributes:
        key: The key of a vote from this form.
    """

    scale: Scale
    label: str
    key: str


@dataclass(frozen=True)
class JudgeCard:
    """A document to judge.

    Attributes:
        item: Its number in the pool.
        texts: Its text; none where the index does not have it.
        skip_key: The key of a skip from this form.
        note_key: The key of a note from this form.
    """

    item: int
    topic: Topic
    document: str
    texts: Sequence[ShownText]
    steps: Sequence[Step]
    note: str
    skip_key: str = field(default_factory=lambda: uuid.uuid4().hex)
    note_key: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(frozen=True)
class Standing:
    """The progress of an assessor, and the action that they can undo.

    Attributes:
        most: Documents that they may judge.
        last: Their last vote or skip.
        end: Why nothing is left for them; empty where something is.
    """

    own: AssessorProgress
    most: int
    last: Action | None
    end: str = ""


def standing_of(file: JudgingFile, name: str) -> Standing:
    """The progress of an assessor."""
    size = file.size
    quota = file.plan.quota
    return Standing(
        progress_of(file, name), size if quota is None else min(size, quota), file.last(name)
    )


def end_of(file: JudgingFile, standing: Standing) -> str:
    """Why nothing is left for an assessor."""
    found = progress(file)
    if found.judged == found.documents:
        return "Every document in the pool has its votes. Thank you."
    if file.plan.quota is not None and standing.own.judged >= file.plan.quota:
        return f"You have reached your share of {counted(file.plan.quota, 'document')}. Thank you."
    if standing.own.judged + standing.own.skipped >= found.documents:
        return "You have judged every document that you have not skipped. Thank you."
    return (
        "What is left is with other assessors now, or you have skipped it. Load the page again in "
        "some minutes."
    )


def whole(file: JudgingFile, name: str, action: Action) -> list[Action]:
    """An action with those that go with it.

    What is no argument has no quality and no side to ask for, and a document is undone whole.
    """
    if not 0 < action.item < _MOST_ITEMS:
        return [action]
    if action.kind == "undo":
        keys = file.done(name, action.item)
        if action.target not in keys:
            return [action]
        return [Action(_key("undo", key), "undo", action.item, target=key) for key in keys]
    if (action.kind, action.dimension, action.label) != ("vote", "relevance", NO_ARGUMENT):
        return [action]
    item = file.item(name, action.item)
    known = item.votes if item else {}
    return [
        action,
        *(
            Action(
                _key(scale.dimension, action.key),
                "vote",
                action.item,
                scale.dimension,
                scale.without_argument,
            )
            for scale in file.plan.scales
            if scale.without_argument and scale.dimension not in known
        ),
    ]


def _key(word: str, key: str) -> str:
    """A key that follows from another, within the length of keys."""
    return f"{word}-{key}"[:_LONGEST_KEY]


def judge_cards(
    index: Index, items: Sequence[Item], topics: Mapping[str, Topic], scales: Sequence[Scale]
) -> list[JudgeCard]:
    """Documents to judge, with their texts as far as the index has them."""
    return [
        JudgeCard(
            item.id,
            topics[item.topic],
            item.document,
            shown_texts(index, item.document),
            [
                Step(scale, item.votes.get(scale.dimension, ""), uuid.uuid4().hex)
                for scale in scales
            ],
            item.note,
        )
        for item in items
    ]


def shown_texts(index: Index, document: str) -> list[ShownText]:
    """The text of a document; of a pair, both sentences. Empty where the index lacks it."""
    number = index.number(document)
    if number is None:
        # a sentence is found in its argument
        texts = Texts(index).of(halves(document) or [document])
        return [ShownText("", "", _paragraphs(text)) for text in texts.values()]
    (record,) = index.records_at([number])
    text, heading, source, stance = parts_of(record)
    link = source if is_link(source) else None
    return [ShownText(heading, _STANCES[stance], _paragraphs(text), link)]


def _paragraphs(text: str) -> list[str]:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return [line for line in map(str.strip, cut.splitlines()) if line]
