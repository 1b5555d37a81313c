"""Work that takes a processor: off the event loop, in a bounded queue, with a bounded cache."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sicetnon.errors import StoppedError
from sicetnon.stopping import Stop
from sicetnon.web.cache import Cache, letters_of
from sicetnon.web.metrics import Metrics
from sicetnon.web.problems import RETRY_AFTER, Problem
from sicetnon.web.settings import Settings

_LOG = logging.getLogger(__name__)
Result = TypeVar("Result")


class Workers:
    """Threads that work on requests. The event loop alone uses its methods."""

    def __init__(self, settings: Settings, metrics: Metrics):
        self._executor = ThreadPoolExecutor(settings.threads, thread_name_prefix="request")
        self._most, self._seconds = settings.threads + settings.waiting, settings.seconds
        self._cache = Cache(settings.cached, settings.cached_letters)
        self._shared: dict[Hashable, _Job] = {}
        self._jobs: set[_Job] = set()
        self._metrics = metrics

    @property
    def busy(self) -> int:
        """Requests that are worked on, or wait for a thread."""
        return len(self._jobs)

    async def run(self, work: Callable[[], Result], key: Hashable = None) -> Result:
        """Do work in a thread, or take its result from the cache.

        The work is stopped when its time is up, and when all who wait for it have gone.

        Args:
            work: The function. Long loops in it call `check_wanted`.
            key: The cache key of the result; None for work that is not cached.

        Raises:
            Problem: Too many requests wait, it is not begun in time, or it takes too long (503).
        """
        if key is not None and key in self._cache:
            self._metrics.cache_hits += 1
            found: Result = self._cache.get(key)
            return found
        job = self._shared.get(key) or self._started(work, key)
        job.waiting += 1
        advice = "to be begun; send it again later"
        try:
            await asyncio.wait_for(job.begun.wait(), self._seconds)
            advice = "of work; ask for less"
            # the work has the same limit: this one holds where the work does not look at it
            done = await asyncio.wait_for(asyncio.shield(job.done), self._seconds)
        except (TimeoutError, StoppedError):
            text = f"the request took longer than {self._seconds:g} s {advice}"
            raise Problem(503, text, RETRY_AFTER) from None
        finally:
            job.waiting -= 1
            if not job.waiting and not job.done.done():
                self._stop(job)
        result: Result = done[0]
        return result

    def close(self) -> None:
        """Stop what is worked on, and drop what waits."""
        for job in list(self._jobs):
            self._stop(job)
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _started(self, work: Callable[[], Any], key: Hashable) -> _Job:
        """Work in a thread; requests for the same share it."""
        if self.busy >= self._most:
            self._metrics.refused += 1
            raise Problem(503, "too many requests wait; send it again later", RETRY_AFTER)
        stop, begun = Stop(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def watched() -> tuple[Any, int]:
            stop.after(self._seconds)
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(begun.set)
            with stop.watched():
                stop.check()
                result = work()
            return result, 0 if key is None else letters_of(result)

        job = _Job(self._executor.submit(watched), stop, begun, key)
        self._jobs.add(job)
        if key is not None:
            self._shared[key] = job
        # work that is no longer waited for keeps its place until its thread is free
        job.done.add_done_callback(lambda _: self._release(job))
        return job

    def _stop(self, job: _Job) -> None:
        """End a job that nobody waits for; who asks for the same later starts another."""
        job.stop.now()
        self._unshare(job)
        # a job that no thread has begun gives its place back at once
        if not job.future.cancel():
            self._metrics.stopped += 1

    def _unshare(self, job: _Job) -> None:
        if self._shared.get(job.key) is job:
            del self._shared[job.key]

    def _release(self, job: _Job) -> None:
        self._jobs.discard(job)
        self._unshare(job)
        if job.done.cancelled():
            return
        error = job.done.exception()
        if error is not None:
            # where somebody waits, the error is theirs
            if not job.waiting and not isinstance(error, StoppedError):
                _LOG.warning("work that nobody waited for failed: %s", type(error).__name__)
            return
        if job.key is not None:
            self._cache.put(job.key, *job.done.result())


class _Job:
    """Work in a thread.

    Attributes:
        future: The thread's.
        begun: Set once a thread works on it.
        done: The event loop's; the result, and its size.
        waiting: Requests that wait for it.
    """

    def __init__(self, future: Future[Any], stop: Stop, begun: asyncio.Event, key: Hashable):
        self.future, self.stop, self.begun, self.key = future, stop, begun, key
        self.done = asyncio.wrap_future(future)
        self.waiting = 0
