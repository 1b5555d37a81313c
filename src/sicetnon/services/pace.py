"""How often a service is asked, and how long it is waited for."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

_NAP_SECONDS = 0.5


@dataclass(frozen=True)
class Patience:
    """How a service is treated.

    Attributes:
        tries: Requests for one answer at most.
        first_wait: Seconds between the first try and the second; doubled each time after.
        longest_wait: The most seconds to wait between two tries; a service that asks for more
            ends the run, to be taken up again later.
        timeout: Seconds for an answer to begin, and for each part of it to arrive.
        whole_timeout: Seconds for a whole answer.
        per_second: Requests a second at most.
        jitter: How much of a wait is left to chance, from 0 to 1.
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

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass
class Pace:
    """Keeps requests apart, over all threads.

    Attributes:
        clock: Time and waiting.
        interval: Seconds from one request to the next.
        is_stopped: Nobody waits any longer.
    """

    clock: Clock
    interval: float
    is_stopped: bool = False
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> None:
        """Wait for this request's turn, or until all is stopped."""
        with self._lock:
            turn = max(self.clock.now(), self._next)
            self._next = turn + self.interval
        while not self.is_stopped and (left := turn - self.clock.now()) > 0:
            self.clock.sleep(min(left, _NAP_SECONDS))

    def hold(self, seconds: float) -> None:
        """Let no request start for some seconds."""
        with self._lock:
            self._next = max(self._next, self.clock.now() + seconds)
