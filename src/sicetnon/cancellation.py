"""Work that can be cancelled: at a time limit, or when its client has gone.

Long loops call `check_cancelled`. It does nothing outside of work that someone may cancel.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

from sicetnon.errors import StoppedError

_CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


class Cancellation:
    """Says when work has to end. Threads may share it."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._is_cancelled = False

    def after(self, seconds: float) -> None:
        """Let the work end at its first check that is so many seconds from now."""
        self._end = time.monotonic() + seconds

    def now(self) -> None:
        """Let the work end at its next check."""
        self._is_cancelled = True

    def check(self) -> None:
        """End the work if it was cancelled.

        Raises:
            StoppedError: The deadline passed, or the client disconnected.
        """
        if self._is_cancelled:
            raise StoppedError("nobody waits for this any more")
        if self._end is not None and time.monotonic() >= self._end:
            raise StoppedError("the time for this is up")

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Let `check_cancelled` mean this one, in this thread, within the block."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


def current_cancellation() -> Cancellation:
    """The cancellation of this thread's work, to be checked in threads that it starts."""
    return _CURRENT.get() or _NEVER


def check_cancelled() -> None:
    """End this thread's work if it was cancelled.

    Raises:
        StoppedError: It was.
    """
    cancellation = _CURRENT.get()
    if cancellation is not None:
        cancellation.check()


_NEVER = Cancellation()
