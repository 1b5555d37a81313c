"""A request and its answer as the guard passes them on: bounded in size and in time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Send

from sicetnon.web.prefix import located


class UnreadError(Exception):
    """The client does not read its answer."""


class HttpReply:
    """The answer to a request, with the headers of every answer.

    Args:
        headers: Headers that every answer has, unless it has others of these names.
        seconds: Seconds within which the client has to take a part.

    Attributes:
        status: Its status; 0 before it has begun.
        is_whole: Whether its last part was sent.
        instead: Status and reason of the problem that takes the place of what the application
            sends, since the body cannot be used.
    """

    def __init__(self, send: Send, headers: Mapping[str, str], seconds: float):
        self._send, self._headers, self._seconds = send, headers, seconds
        self.status, self.is_whole = 0, False
        self.instead: tuple[int, str] | None = None

    async def send(self, message: Message) -> None:
        """Send a part of it.

        Raises:
            UnreadError: The client does not read it.
        """
        if self.instead:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                # pages have a policy of their own
                headers.setdefault(name, value)
            if "location" in headers:
                headers["location"] = located(headers["location"])
        elif not message.get("more_body"):
            self.is_whole = True
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(message)
        except TimeoutError:
            raise UnreadError from None


class Held:
    """The bytes of bodies that all requests hold together.

    Args:
        most: Bytes at most.
    """

    def __init__(self, most: int):
        self._most, self._held = most, 0

    def take(self, count: int) -> bool:
        """Hold more bytes; whether they are within the limit."""
        self._held += count
        return self._held <= self._most

    def give_back(self, count: int) -> None:
        """Hold so many bytes less."""
        self._held -= count


class Body:
    """The body of a request, up to a limit of bytes and time. Beyond it the client seems gone.

    Args:
        held: Counts the bytes of all requests, this one's until `close`.
        limit: Bytes at most.
        seconds: Seconds within which it has to be whole.

    Attributes:
        has_gone: Whether the client has hung up before its answer was whole.
    """

    def __init__(
        self,
        receive: Receive,
        headers: Headers,
        held: Held,
        limit: int,
        seconds: float,
        reply: HttpReply,
    ):
        self._receive, self._held, self._reply = receive, held, reply
        self._limit = self._left = limit
        self._end = asyncio.get_running_loop().time() + seconds
        self._is_read, self.has_gone = asyncio.Event(), False
        self._is_empty = _is_empty(headers)
        if self._is_empty:
            self._is_read.set()

    async def receive(self) -> Message:
        """Receive a part of it; behind its end, wait until the request is cancelled."""
        if self._is_empty:
            self._is_empty = False
            return {"type": "http.request", "body": b"", "more_body": False}
        if self._is_read.is_set():
            # `watch` receives now
            await asyncio.Event().wait()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            return self._refused(408, "the body came too slowly; send it faster, or less")
        size = len(message.get("body", b""))
        self._left -= size
        if not self._held.take(size):
            return self._refused(503, "too many bytes wait in other requests; send it again later")
        if self._left < 0:
            return self._refused(413, longer_than(self._limit))
        if message["type"] == "http.request" and not message.get("more_body"):
            self._is_read.set()
        return message

    def _refused(self, status: int, reason: str) -> Message:
        if not self._reply.status:
            self._reply.instead = status, reason
        return {"type": "http.disconnect"}

    def close(self) -> None:
        """Hold none of it any more."""
        self._held.give_back(self._limit - self._left)

    async def watch(self, task: asyncio.Task[Any]) -> None:
        """Cancel the task that answers once the client has gone."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._reply.is_whole:
            self.has_gone = True
            task.cancel()


def longer_than(limit: int) -> str:
    """The message about a body that is longer than the limit."""
    return f"the body is longer than {limit:,} bytes"


def _is_empty(headers: Headers) -> bool:
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
