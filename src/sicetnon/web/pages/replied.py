"""The page of the arguments against a document."""

from __future__ import annotations

from dataclasses import dataclass

from sicetnon.library.origin import Origin, name_of, origin_of
from sicetnon.library.reply import DocumentReplies
from sicetnon.web.pages.asked import address_of
from sicetnon.web.pages.cards import at_sentence


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
