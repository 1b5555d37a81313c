"""The protocol of Touché's retrieval-augmented debating (2025): messages in, a reply out.

A request is a JSON object with `messages`, each with `role` (`user` or `assistant`) and `content`.
The answer has `role`, `content` of at most 60 words, and the `arguments` that it rests on, each
with `id` and `text` (https://github.com/touche-webis-de/touche-code, clef25).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sicetnon.app.index import Index
from sicetnon.app.reply import Reply, checked_text, replies
from sicetnon.arguments.claims import claim_of
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.json_records import decode
from sicetnon.records import said

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
