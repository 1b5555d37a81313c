"""A background thread of a build, with few tasks waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

_MOST_WAITING = 2


class BackgroundThread:
    """A thread that does one thing after the other, with few waiting; errors reach the caller.

    Nothing is done after an error: it may have left half-changed what comes next would change.
    """

    def __init__(self) -> None:
        self._has_failed = False
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._waiting: deque[Future[Any]] = deque()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Do a thing after those submitted before; waits while too many are to be done."""
        while len(self._waiting) >= _MOST_WAITING:
            self._wait()
        submitted = self._thread.submit(self._unless_failed, work)
        self._waiting.append(submitted)
        return submitted

    def finish(self) -> None:
        """Wait until all is done; raises as `submit`."""
        while self._waiting:
            self._wait()

    def stop(self) -> None:
        """End the thread after what it does now."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _unless_failed(self, work: Callable[[], Result]) -> Result:
        if self._has_failed:
            raise CancelledError  # which the caller does not meet: it meets the error first
        try:
            return work()
        except BaseException:
            self._has_failed = True
            raise

    def _wait(self) -> None:
        self._waiting.popleft().result()
