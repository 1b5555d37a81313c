"""Stages of a build: threads that work at the same time."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

_WAITING = 2
_SWITCH_SECONDS = 2e-4


class Stage:
    """A thread that does one thing after the other, with few waiting; errors reach the caller."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._waiting: deque[Future[Any]] = deque()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Do a thing after those submitted before; waits while too many are to be done.

        Raises:
            Exception: What a thing that was submitted before raised.
        """
        while len(self._waiting) >= _WAITING:
            self._wait()
        submitted = self._thread.submit(work)
        self._waiting.append(submitted)
        return submitted

    def finish(self) -> None:
        """Wait until all is done; raises as `submit`."""
        while self._waiting:
            self._wait()

    def stop(self) -> None:
        """End the thread after what it does now."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _wait(self) -> None:
        self._waiting.popleft().result()


class _Switching:
    """How long a thread waits before it asks for the interpreter's lock, while stages work.

    A stage leaves the lock for each compiled call, and would wait 5 ms each time to get it back.
    """

    def __init__(self) -> None:
        self._lock, self._users, self._usual = threading.Lock(), 0, 0.0

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Wait less than usual."""
        with self._lock:
            if not self._users:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, _SWITCH_SECONDS))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    sys.setswitchinterval(self._usual)


quick_switching = _Switching().quick
