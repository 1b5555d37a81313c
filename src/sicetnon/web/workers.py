"""Work that takes a processor: off the event loop, in a bounded queue, with a bounded cache."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sicetnon.web.problems import Problem
from sicetnon.web.settings import Settings

Result = TypeVar("Result")
_RETRY_AFTER = {"Retry-After": "2"}


class Workers:
    """Threads that work on requests.

    Args:
        settings: How many threads, waiting requests, seconds and kept answers.
    """

    def __init__(self, settings: Settings):
        self._executor = ThreadPoolExecutor(settings.threads, thread_name_prefix="request")
        self._most, self._seconds = settings.threads + settings.waiting, settings.seconds
        self._cached: OrderedDict[Hashable, Any] = OrderedDict()
        self._most_cached = settings.cached
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self.busy = 0

    async def run(self, work: Callable[[], Result], key: Hashable = None) -> Result:
        """Do work in a thread, or take its result from the cache.

        Args:
            work: The function.
            key: What the result depends on; None for work that is not cached.

        Raises:
            Problem: Too many requests wait (503), or the work takes too long (503).
        """
        if key is not None and key in self._cached:
            self._cached.move_to_end(key)
            found: Result = self._cached[key]
            return found
        future = self._running.get(key) or self._started(work, key)
        try:
            result: Result = await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except TimeoutError:
            text = f"the request took longer than {self._seconds:g} seconds; ask for less"
            raise Problem(503, text, _RETRY_AFTER) from None
        return result

    def close(self) -> None:
        """Let running work end, and drop what waits."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _started(self, work: Callable[[], Any], key: Hashable) -> asyncio.Future[Any]:
        """Work in a thread; requests for the same share it."""
        if self.busy >= self._most:
            raise Problem(503, "too many requests wait; send it again later", _RETRY_AFTER)
        self.busy += 1
        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        if key is not None:
            self._running[key] = future
        # work that is no longer waited for keeps its place until its thread is free
        future.add_done_callback(lambda done: self._release(done, key))
        return future

    def _release(self, future: asyncio.Future[Any], key: Hashable) -> None:
        self.busy -= 1
        self._running.pop(key, None)
        # asking for the error keeps one that nobody waits for any more out of the log
        if future.cancelled() or future.exception() or key is None:
            return
        self._cached[key] = future.result()
        while len(self._cached) > self._most_cached:
            self._cached.popitem(last=False)
