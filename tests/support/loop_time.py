"""Requests straight to the application, and the processor time that they take of its event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

_PART = 1 << 16


class Answered(NamedTuple):
    """The answer to a request, and the seconds that the loop worked on it."""

    status: int
    body: bytes
    seconds: float


def answered(
    app: ASGIApp, method: str, target: bytes, headers: Mapping[str, bytes], body: bytes = b""
) -> Answered:
    """Ask an application; what its threads work does not count."""
    return asyncio.run(asked(app, method, target, headers, body))


async def asked(
    app: ASGIApp,
    method: str,
    target: bytes,
    headers: Mapping[str, bytes],
    body: bytes,
    whole: asyncio.Event | None = None,
) -> Answered:
    """As `answered`, in a running loop; the last part of the body waits for an event."""
    path, _, query = target.partition(b"?")
    given = {"host": b"localhost", "content-length": b"%d" % len(body)} | dict(headers)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": method, "path": path.decode("ascii", "replace"), "raw_path": path,
        "query_string": query, "root_path": "", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        "headers": [(name.encode(), value) for name, value in given.items()],
    }  # fmt: skip
    left = [body[at : at + _PART] for at in range(0, len(body), _PART)] or [b""]
    sent: list[Message] = []

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        if whole is not None and len(left) == 1:
            await whole.wait()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    begin = time.thread_time()
    await app(scope, receive, send)
    seconds = time.thread_time() - begin
    data = b"".join(each.get("body", b"") for each in sent[1:])
    return Answered(sent[0]["status"], data, seconds)
