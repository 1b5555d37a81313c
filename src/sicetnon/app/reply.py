"""Replies: the strongest arguments against a text, each in a sentence of its source.

`respond` answers by the protocol of Touché's retrieval-augmented debating (2025). A request is a
JSON object with `messages`, each with `role` (`user` or `assistant`) and `content`. The answer has
`role`, `content` of at most 60 words, and the `arguments` that it rests on, each with `id` and
`text` (https://github.com/touche-webis-de/touche-code, clef25).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np

from sicetnon.app.answers import answers, with_sides
from sicetnon.app.index import Index, check_index
from sicetnon.app.labels import name_of
from sicetnon.app.reasons import Reason, TakenSide, reasons_of, side_of
from sicetnon.argument_checks import check_number
from sicetnon.arguments.claims import LONGEST_CLAIM, claim_of
from sicetnon.arguments.side.lexicon import is_point
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.json_records import decode
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


Role = Literal["user", "assistant"]
NOTHING = "I have found no argument against this."
"""The content of an answer that rests on no argument."""

_MOST_MESSAGES = 1000


class _Entry(msgspec.Struct):
    role: str
    content: str | list[Any] | None = None


class _Request(msgspec.Struct):
    messages: list[_Entry]


@dataclass(frozen=True)
class Message:
    """A message of one side of a debate.

    Attributes:
        role: `user`, or `assistant` for this program.
        content: The text.
    """

    role: Role
    content: str


@dataclass(frozen=True)
class Turn:
    """The next message of this program in a debate.

    Attributes:
        reply: The argument against the user's claim; None if there is none.
    """

    reply: Reply | None

    @property
    def content(self) -> str:
        """At most 60 words."""
        return self.reply.text if self.reply else NOTHING

    def as_json(self) -> dict[str, Any]:
        """The answer to a request."""
        arguments = []
        if self.reply:
            reason = self.reply.reason
            argument = {"id": reason.answer.id, "text": said(reason.answer.record)}
            references = [reason.link] if reason.link else []
            arguments.append(argument | {"references": references})
        return {"role": "assistant", "content": self.content, "arguments": arguments}


def read_messages(request: bytes | str | Mapping[str, Any] | Sequence[Any]) -> list[Message]:
    """The messages of a request, read tolerantly.

    Roles may be in any case; messages of other roles and empty ones are left out. Content may be a
    list of parts with a `text`. Other keys are ignored. The list of messages may stand alone.

    Args:
        request: JSON, or what it says as Python objects.

    Raises:
        DataError: It is no such request, or no user says anything in it.
    """
    parsed: Any = request
    try:
        if isinstance(request, bytes | str):
            data = request.encode() if isinstance(request, str) else request
            parsed = decode(msgspec.json.Decoder(), data)
        if isinstance(parsed, list | tuple):
            parsed = {"messages": parsed}
        entries = msgspec.convert(parsed, _Request).messages
    except ValueError as error:
        raise DataError(
            f"the request cannot be read: {error}; expected an object with messages, each with "
            "role and content"
        ) from None
    if len(entries) > _MOST_MESSAGES:
        raise DataError(f"found {len(entries):,} messages; expected at most {_MOST_MESSAGES:,}")
    found = [(entry.role.strip().lower(), _text(entry.content)) for entry in entries]
    messages = [
        Message("user" if role == "user" else "assistant", text)
        for role, text in found
        if role in ("user", "assistant") and any(map(str.isalpha, text))
    ]
    if not any(message.role == "user" for message in messages):
        raise DataError("found no message with the role user and a text; expected at least one")
    return messages


def _text(content: str | list[Any] | None) -> str:
    """The text of a message, which may come in parts."""
    if not isinstance(content, list):
        return content or ""
    parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
    return "\n".join(part for part in parts if isinstance(part, str))


def respond(index: Index, messages: Sequence[Message]) -> Turn:
    """The next turn: an argument against the user's position, about the user's last message.

    The user holds what the first of the user's messages claims. Nothing is said twice.

    Args:
        index: Where arguments are searched.
        messages: The debate so far, with a message of the user.

    Raises:
        UsageError: There is no message of the user, or something else than messages.
    """
    if not isinstance(messages, Sequence) or not all(isinstance(m, Message) for m in messages):
        raise UsageError(
            "found messages that are no list of messages; expected Message('user', '…')"
        )
    user = [message.content for message in messages if message.role == "user"]
    position = claim_of(checked_text(user[0] if user else ""))
    focus = claim_of(checked_text(user[-1])) if len(user) > 1 else position
    earlier = [message.content for message in messages if message.role == "assistant"]
    found = replies(index, position, focus, 1, earlier)
    if not found and focus != position:
        found = replies(index, position, position, 1, earlier)
    return Turn(found[0] if found else None)
