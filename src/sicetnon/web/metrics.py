"""Counts and durations of requests, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What is counted. The event loop alone changes it."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            method: Its method.
            route: The path with the names of its parameters, not their values.
            status: Of the answer.
            seconds: From its first byte to the last of its answer.
        """
        self._requests[method, route, status] += 1
        place = next((at for at, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        self._buckets[route][place] += 1
        self._seconds[route] += seconds

    def text(self, busy: int) -> str:
        """All of it as text.

        Args:
            busy: Requests that are worked on, or wait for a thread.
        """
        return "\n".join(self._lines(busy)) + "\n"

    def _lines(self, busy: int) -> Iterator[str]:
        yield "# TYPE sicetnon_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"sicetnon_requests_total{{{labels}}} {count}"
        yield "# TYPE sicetnon_request_seconds histogram"
        for route, buckets in sorted(self._buckets.items()):
            name = f'route="{route}"'
            for bound, count in zip((*_BOUNDS, "+Inf"), accumulate(buckets), strict=True):
                yield f'sicetnon_request_seconds_bucket{{{name},le="{bound}"}} {count}'
            yield f"sicetnon_request_seconds_sum{{{name}}} {self._seconds[route]:.6f}"
            yield f"sicetnon_request_seconds_count{{{name}}} {sum(buckets)}"
        yield "# TYPE sicetnon_requests_in_flight gauge"
        yield f"sicetnon_requests_in_flight {self.in_flight}"
        yield "# TYPE sicetnon_requests_busy gauge"
        yield f"sicetnon_requests_busy {busy}"
