"""Work that can be stopped: at a time limit, or when its client has gone.

Long loops call `check_wanted`. It does nothing outside of work that someone may stop.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

from sicetnon.errors import StoppedError

_CURRENT: ContextVar[Stop | None] = ContextVar("stop", default=None)


class Stop:
    """Says when work has to end. Threads may share it."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._is_unwanted = False

    def after(self, seconds: float) -> None:
        """Let the work end at its first check that is so many seconds from now."""
        self._end = time.monotonic() + seconds

    def now(self) -> None:
        """Let the work end at its next check."""
        self._is_unwanted = True

    def check(self) -> None:
        """Go on, or end.

        Raises:
            StoppedError: The work has to end.
        """
        if self._is_unwanted:
            raise StoppedError("nobody waits for this any more")
        if self._end is not None and time.monotonic() >= self._end:
            raise StoppedError("the time for this is up")

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Let `check_wanted` mean this one, in this thread, within the block."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


def current_stop() -> Stop:
    """The stop of this thread's work, to be checked in threads that it starts."""
    return _CURRENT.get() or _NEVER


def check_wanted() -> None:
    """Go on, or end.

    Raises:
        StoppedError: Someone has stopped the work that this is a part of.
    """
    stop = _CURRENT.get()
    if stop is not None:
        stop.check()


_NEVER = Stop()
