"""Counts and durations of requests, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate

from sicetnon.platforms import resident_bytes

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counters and histograms. The event loop alone changes them.

    Attributes:
        in_flight: Requests that are not answered yet.
        cache_hits: Results that were taken from the cache.
        refused: Requests for which the queue had no place.
        stopped: Work that a thread had begun and that was stopped.
        hung_up: Clients that went before the answer.
    """

    def __init__(self) -> None:
        self.in_flight = self.cache_hits = self.refused = self.stopped = self.hung_up = 0
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
        """All of it as text."""
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
        for name in ("cache_hits", "refused", "stopped", "hung_up"):
            yield f"# TYPE sicetnon_{name}_total counter"
            yield f"sicetnon_{name}_total {getattr(self, name)}"
        gauges = {"sicetnon_requests_in_flight": self.in_flight, "sicetnon_requests_busy": busy}
        if resident := resident_bytes():
            gauges["process_resident_memory_bytes"] = resident
        for name, value in gauges.items():
            yield f"# TYPE {name} gauge"
            yield f"{name} {value}"
