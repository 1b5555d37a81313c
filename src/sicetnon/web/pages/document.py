"""The page Document: the whole text, what stands beside it, and why it stands where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.library.neighbours import neighbours
from sicetnon.library.origin import Origin, name_of, origin_of
from sicetnon.library.reading import ReadSentence, paragraphs
from sicetnon.records import PremiseStance, Record, claimed
from sicetnon.text.unicode import shortened
from sicetnon.web.pages.asked import Asked, address_of
from sicetnon.web.pages.cards import Card, card
from sicetnon.web.pages.finding import Found

_BESIDE = 12
_SHOWN_LETTERS = 160
_STANCES: dict[PremiseStance | None, str] = {"PRO": "for", "CON": "against", None: ""}


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


def place_of(identifier: str, found: Found, asked: Asked) -> Card | None:
    """The document as an answer to a question; None where it is not among the answers."""
    ids = [answer.id for answer in found.answers]
    return card(found, ids.index(identifier), asked) if identifier in ids else None
