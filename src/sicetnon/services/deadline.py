"""One limit for all that an answer takes: status, head, body, and whatever a server sends beside.

A timeout of a socket begins anew with each part of an answer. A server that drips can so hold a
request for ever: with interim answers, headers, chunks, trailers, or the body of a redirect.
"""

from __future__ import annotations

import contextlib
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

_SLACK = 1 << 20
"""Bytes of heads and chunk marks beside those of an answer."""


class PassedError(TimeoutError):
    """The time for an answer is up."""


class FloodError(OSError):
    """An answer has more bytes than the limit."""


class _Limit:
    """A limit of time and bytes. The methods are for the thread that set it."""

    def __init__(self, seconds: float, most_bytes: int, now: Callable[[], float]):
        self._now, self._end = now, now() + seconds
        self._left_bytes = most_bytes + _SLACK

    def left(self) -> float:
        """The seconds that are left."""
        left = self._end - self._now()
        if left <= 0:
            raise PassedError("the time for an answer is up")
        return left

    def count(self, received: int) -> None:
        """Count bytes."""
        self._left_bytes -= received
        if self._left_bytes < 0:
            raise FloodError("an answer is too long")


class _Current(threading.local):
    limit: _Limit = _Limit(math.inf, 1 << 62, time.monotonic)


_CURRENT = _Current()


@contextlib.contextmanager
def within(
    seconds: float, most_bytes: int, now: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Limit what this thread receives by connections of this module, all of it together."""
    before, _CURRENT.limit = _CURRENT.limit, _Limit(seconds, most_bytes, now)
    try:
        yield
    finally:
        _CURRENT.limit = before


def has_cause(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether an error is of a kind, or one of that kind led to it."""
    while error is not None and not isinstance(error, kind):
        inner = next((each for each in error.args if isinstance(each, BaseException)), None)
        error = inner or error.__cause__ or error.__context__
    return error is not None


class _Limited:
    __slots__ = ()

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        limit = _CURRENT.limit
        usual = self.gettimeout()  # type: ignore[attr-defined]
        left = limit.left()
        is_short = usual is None or left < usual
        if is_short and left < math.inf:
            self.settimeout(left)  # type: ignore[attr-defined]
        try:
            received: int = super().recv_into(*arguments, **options)  # type: ignore[misc]
        except TimeoutError:
            limit.left()  # whose time is up?
            raise
        finally:
            if is_short:
                self.settimeout(usual)  # type: ignore[attr-defined]
        limit.count(received)
        return received


class _Socket(_Limited, socket.socket):
    __slots__ = ()


class _SecureSocket(_Limited, ssl.SSLSocket):
    __slots__ = ()


class _NewSocket:
    def _new_conn(self) -> socket.socket:
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        # before anything is read: a proxy answers first
        made.__class__ = _Socket
        return made


class LimitedConnection(_NewSocket, HTTPConnection):
    """A connection that keeps to the limit of its thread."""


class LimitedSecureConnection(_NewSocket, HTTPSConnection):
    """The same over TLS."""

    def connect(self) -> None:
        """Connect, and shake hands."""
        super().connect()
        if type(self.sock) is ssl.SSLSocket:
            self.sock.__class__ = _SecureSocket


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = LimitedConnection


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = LimitedSecureConnection


POOLS = {"http": _Pool, "https": _SecurePool}
"""The pools of a `PoolManager` whose connections keep to the limit."""
