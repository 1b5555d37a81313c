"""Limits on requests to a service: their pace, their number, and the waiting."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Patience:
    """Limits on requests and waiting.

    Attributes:
        tries: Maximum number of requests for one answer.
        first_wait: Seconds between the first try and the second; doubled for each further try.
        longest_wait: Maximum number of seconds between two tries; a service that asks for more
            ends the run, which can be resumed later.
        timeout: Seconds for an answer to begin, and for each part of it to arrive.
        whole_timeout: Seconds for a whole answer.
        per_second: Maximum number of requests per second.
        jitter: Maximum number of seconds that chance adds to a wait.
    """

    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 300.0
    timeout: float = 30.0
    whole_timeout: float = 120.0
    per_second: float = 5.0
    jitter: float = 0.1


class Clock:
    """Time and waiting; tests have one of their own."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float, stopped: threading.Event) -> None:
        """Wait for some seconds, or until all is stopped."""
        stopped.wait(seconds)


@dataclass
class Pace:
    """Keeps requests apart, over all threads."""

    clock: Clock
    interval: float
    stopped: threading.Event = field(default_factory=threading.Event)
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> None:
        """Wait for this request's turn, or until all is stopped."""
        with self._lock:
            now = self.clock.now()
            turn = max(now, self._next)
            self._next = turn + self.interval
        if turn > now:
            self.clock.sleep(turn - now, self.stopped)

    def hold(self, seconds: float) -> None:
        """Let no request start for some seconds."""
        with self._lock:
            self._next = max(self._next, self.clock.now() + seconds)
