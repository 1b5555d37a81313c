"""Replies: the strongest arguments against a text, each in a sentence of its source."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sicetnon.app.answers import answers, with_sides
from sicetnon.app.index import Index, check_index
from sicetnon.app.labels import name_of
from sicetnon.app.reasons import Reason, TakenSide, reasons_of, side_of
from sicetnon.argument_checks import check_number
from sicetnon.arguments.claims import LONGEST_CLAIM, claim_of
from sicetnon.arguments.side.lexicon import is_point
from sicetnon.errors import UsageError
from sicetnon.records import Ranking, Topic, claimed, resolution_of, said

_ANSWERS = 30
# answers against the claim whose sentences are read
_READ = 8
_WORTH_SAYING = 0.7
_NEARLY_THE_SAME = 0.85
_LONGEST_TEXT = 100_000
_SIDES: tuple[TakenSide, TakenSide] = ("FOR", "AGAINST")


@dataclass(frozen=True)
class Reply:
    """An argument against a claim, in at most 60 words.

    Attributes:
        claim: The claim that it is against.
        reason: The sentence, with its source.
    """

    claim: str
    reason: Reason

    @property
    def text(self) -> str:
        """The sentence, as it stands in its source."""
        return self.reason.sentence

    def as_json(self) -> dict[str, Any]:
        """The reply for programs."""
        return {"text": self.text, "words": len(self.text.split())} | self.reason.as_json()


def reply(index: Index, text: str, k: int = 3) -> list[Reply]:
    """The strongest arguments against what a text claims, the best first.

    Each is one sentence of its source, of at most 60 words. There are fewer than `k`, or none,
    where the index does not hold as many.

    Args:
        index: Where arguments are searched.
        text: Any text; its first 100,000 characters are read, and the first 1,000 of its claim.
        k: Number of replies.

    Raises:
        UsageError: The text is no text, or empty.
    """
    claim = claim_of(checked_text(text))
    return replies(index, claim, claim, k)


@dataclass(frozen=True)
class DocumentReplies:
    """Arguments against a document.

    Attributes:
        heading: The claim or title of the document; its first words where it has none.
        topic: What the document argues about: a question, or its claim.
        side: The side that it takes.
        replies: The arguments of the other side, the best first.
    """

    heading: str
    topic: str
    side: TakenSide
    replies: tuple[Reply, ...]


def reply_to(index: Index, identifier: str, question: str = "", k: int = 3) -> DocumentReplies:
    """The strongest arguments against a document.

    Args:
        index: Where the document is, and where arguments are searched.
        identifier: The id of the document.
        question: What it is about; where it is empty, or the document takes no side on it, its own
            claim.
        k: Number of replies.

    Raises:
        DataError: The index has no such document.
    """
    record = index.records([identifier])[0]
    own = said(record)
    claim, stance = claimed(record)
    is_denied = stance == "CON" and not is_point(claim, resolution_of(record))
    topic, side = claim or claim_of(checked_text(own)), _SIDES[is_denied]
    if question:
        ranking = Ranking(Topic("1", question), (identifier,), np.zeros(1))
        taken = side_of(with_sides(question, answers(index, ranking, snippets=False))[0])
        topic, side = (question, taken) if taken else (topic, side)
    other = _SIDES[side == "FOR"]
    found = replies(index, topic, topic, k, [own], other)
    return DocumentReplies(name_of(record), topic, side, tuple(found))


def replies(
    index: Index,
    position: str,
    focus: str,
    k: int,
    spoken: Collection[str] = (),
    side: TakenSide = "AGAINST",
) -> list[Reply]:
    """Arguments against a position that have to do with something else that was said.

    Args:
        index: Where arguments are searched.
        position: The claim that the arguments are against.
        focus: What they should be about; the position itself, or what was last said for it.
        k: Number of replies.
        spoken: Texts whose sentences are not said again.
        side: The side of the arguments towards the position.
    """
    check_index(index)
    check_number(k, "k", 1)
    position, focus = position[:LONGEST_CLAIM], focus[:LONGEST_CLAIM]
    question = position if focus == position else f"{focus} {position}"
    found = with_sides(position, index.search(question, _ANSWERS, sides=False, balance=False))
    opposed = [answer for answer in found if side_of(answer) == side][:_READ]
    best = [reasons[0] for reasons in reasons_of(focus, opposed).values() if reasons]
    chosen: list[Reason] = []
    for reason in sorted(best, key=lambda each: -each.worth):
        if reason.worth < _WORTH_SAYING or len(chosen) == k:
            break
        if not _is_said(reason, chosen, spoken):
            chosen.append(reason)
    return [Reply(focus, reason) for reason in chosen]


def checked_text(text: object) -> str:
    """The begin of a text that claims something.

    Raises:
        UsageError: It is no text, or no letter is in it.
    """
    if not isinstance(text, str):
        raise UsageError(f"found {type(text).__name__} as the text; expected a text")
    if not any(map(str.isalpha, text)):
        raise UsageError(f"found no word in the text {text[:40]!r}; expected a text with a claim")
    return text[:_LONGEST_TEXT]


def _is_said(reason: Reason, chosen: Sequence[Reason], spoken: Collection[str]) -> bool:
    """Whether a sentence was said, or nearly the same is chosen."""
    if any(reason.sentence in text for text in spoken):
        return True
    return any(reason.embedding @ other.embedding > _NEARLY_THE_SAME for other in chosen)
