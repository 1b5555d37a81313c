"""The pages of a document: its text and what stands beside it; the arguments against it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from sicetnon.app.document_view import ReadSentence, neighbours, paragraphs
from sicetnon.app.index import Index
from sicetnon.app.labels import Origin, name_of, origin_of, parts_of
from sicetnon.app.reply import DocumentReplies, reply_to
from sicetnon.records import PremiseStance, Record, claimed
from sicetnon.text.unicode import shortened
from sicetnon.web.pages.ask_search import AskRequest, AskResult, address_of
from sicetnon.web.pages.cards import Card, at_sentence, card_of
from sicetnon.web.rendering import page_answer
from sicetnon.web.state import Served, known

router = APIRouter(include_in_schema=False)

Identifier = Annotated[str, Query(alias="id", max_length=1000)]

_BESIDE = 12
_SHOWN_LETTERS = 160
_STANCES: dict[PremiseStance | None, str] = {"PRO": "for", "CON": "against", None: ""}


@router.get("/document", response_class=HTMLResponse)
async def document(
    served: Served, identifier: Identifier, wanted: Annotated[AskRequest, Depends()]
) -> Response:
    """The page Document: the whole text, and what stands beside it."""
    question = served.question(wanted.q) if wanted.q.strip() else ""
    wanted = replace(wanted, q=question)
    shown = await served.on_index(
        lambda index: document_page(index, known(index, identifier), question),
        *("document", identifier, question),
    )
    found = await served.ask(question, wanted.n, "kept") if question else None
    return await page_answer(
        "document.html.jinja",
        section="",
        view=shown,
        question=question,
        card=found and place_of(identifier, found, wanted),
        answers=wanted.address(),
        reply=wanted.page("/reply", identifier),
    )


@router.get("/reply", response_class=HTMLResponse)
async def reply(
    served: Served, identifier: Identifier, wanted: Annotated[AskRequest, Depends()]
) -> Response:
    """The strongest arguments against a document."""
    question = served.question(wanted.q) if wanted.q.strip() else ""
    wanted = replace(wanted, q=question)
    found = await served.on_index(
        lambda index: reply_to(index, known(index, identifier), question),
        *("reply to", identifier, question),
    )
    return await page_answer(
        "reply.html.jinja",
        section="",
        question=question,
        view=found,
        replies=await asyncio.to_thread(shown_replies, found, question),
        answers=wanted.address(),
        address=wanted.page("/document", identifier),
    )


@dataclass(frozen=True)
class Beside:
    """Another document of the same debate or page.

    Attributes:
        heading: Its claim or title.
        stance: `for` or `against` that claim; empty where it is not known.
    """

    heading: str
    stance: str
    text: str
    address: str


@dataclass(frozen=True)
class DocumentPage:
    """The view of the page.

    Attributes:
        heading: Its claim or title; its first words where it has none.
        is_named: Whether it has one.
        stance: `for` or `against` its claim; empty where it is not known.
        more_beside: Number of those that are not shown.
    """

    id: str
    heading: str
    is_named: bool
    stance: str
    origin: Origin
    paragraphs: Sequence[Sequence[ReadSentence]]
    beside: Sequence[Beside]
    more_beside: int

    @property
    def is_marked(self) -> bool:
        """Whether sentences that argue are marked: some argue and some do not."""
        argues = {each.is_argument for part in self.paragraphs for each in part}
        return len(argues) == 2


def document_page(index: Index, identifier: str, question: str) -> DocumentPage:
    """The view of a document's page.

    Args:
        index: The index.
        identifier: The id of the document.
        question: The question that it was found for, or the empty string.

    Raises:
        DataError: The index has no such document.
    """
    (record,) = index.records([identifier])
    others = neighbours(index, identifier)
    near = others[:_BESIDE]
    beside = [
        _beside(each, other, question)
        for each, other in zip(near, index.records(near), strict=True)
    ]
    return DocumentPage(
        identifier,
        name_of(record),
        bool(parts_of(record)[1]),
        _STANCES[claimed(record)[1]],
        origin_of(record),
        paragraphs(index, identifier),
        beside,
        len(others) - len(near),
    )


def _beside(identifier: str, record: Record, question: str) -> Beside:
    text, heading, _, _ = parts_of(record)
    return Beside(
        heading,
        _STANCES[claimed(record)[1]],
        shortened(" ".join(text.split()), _SHOWN_LETTERS),
        address_of("/document", id=identifier, q=question),
    )


def place_of(identifier: str, found: AskResult, asked: AskRequest) -> Card | None:
    """The document as an answer to a question, or None if it is not among the answers."""
    ids = [answer.id for answer in found.answers]
    return card_of(found, ids.index(identifier), asked) if identifier in ids else None


@dataclass(frozen=True)
class ShownReply:
    """An argument of the other side.

    Attributes:
        heading: The claim, title or first words of its document.
        context: The address of its document's page at the sentence.
    """

    text: str
    heading: str
    origin: Origin
    context: str


def shown_replies(found: DocumentReplies, question: str) -> list[ShownReply]:
    """Arguments against a document, as the page shows them."""
    shown = []
    for each in found.replies:
        answer = each.reason.answer
        address = address_of("/document", id=answer.id, q=question)
        context = at_sentence(address, each.text, answer)
        shown.append(
            ShownReply(each.text, name_of(answer.record), origin_of(answer.record), context)
        )
    return shown
