"""Work in threads: a bounded queue and cache, and the one thread that writes judgments."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import msgspec

from sicetnon.cancellation import Cancellation
from sicetnon.errors import StoppedError
from sicetnon.judging import JudgingFile
from sicetnon.web.middleware import Metrics
from sicetnon.web.problems import RETRY_AFTER, Problem
from sicetnon.web.settings import Settings

# what a result costs beside its texts
_LEAST = 200
# one result may take this share of the cache
_LARGEST_SHARE = 0.1
_LOG = logging.getLogger(__name__)
Result = TypeVar("Result")
_WAITING = 256


class Cache:
    """Results by key; those that were used last stay."""

    def __init__(self, most: int, most_letters: int):
        self._most, self._most_letters = most, most_letters
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._letters = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable) -> Any:
        """A result that is kept."""
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Hashable, result: Any, letters: int) -> None:
        """Keep a result in place of those that were not used for long."""
        if letters > self._most_letters * _LARGEST_SHARE:
            return
        self._letters += letters - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = result, letters
        while len(self._kept) > self._most or self._letters > self._most_letters:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._letters -= dropped


def letters_of(value: Any) -> int:
    """About how many letters the texts of a value have."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return _LEAST + sum(map(letters_of, value)) + sum(map(letters_of, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return _LEAST + sum(map(letters_of, value))
    if isinstance(value, msgspec.Struct):
        return _LEAST + sum(letters_of(getattr(value, name)) for name in value.__struct_fields__)
    if is_dataclass(value):
        return _LEAST + sum(letters_of(getattr(value, each.name)) for each in fields(value))
    return int(getattr(value, "nbytes", 8))


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
            work: The function. Long loops in it call `check_cancelled`.
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
        stop, begun = Cancellation(), asyncio.Event()
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

    def __init__(
        self, future: Future[Any], stop: Cancellation, begun: asyncio.Event, key: Hashable
    ):
        self.future, self.stop, self.begun, self.key = future, stop, begun, key
        self.done = asyncio.wrap_future(future)
        self.waiting = 0


class JudgingWriter:
    """The judging file, and the thread that works on it.

    Raises:
        DataError: It is no sound judging file.
        NotSavedError: It cannot be written.
    """

    def __init__(self, settings: Settings, metrics: Metrics):
        self._file = JudgingFile(settings.judging) if settings.judging else None
        limits = replace(settings, threads=1, waiting=_WAITING, cached=0)
        self._workers = Workers(limits, metrics)

    @property
    def is_open(self) -> bool:
        """Whether there is something to judge."""
        return self._file is not None

    @property
    def file(self) -> JudgingFile:
        """The judging file.

        Raises:
            Problem: None is served (404).
        """
        if self._file is None:
            raise Problem(404, "no pool is served; start with: sicetnon serve --judge FILE")
        return self._file

    async def run(self, work: Callable[[JudgingFile], Result]) -> Result:
        """Do work on the file in its thread.

        Raises:
            Problem: No file is served (404), or too many requests wait (503).
        """
        file = self.file
        return await self._workers.run(lambda: work(file))

    def close(self) -> None:
        """Close the file."""
        self._workers.close()
        if self._file is not None:
            self._file.close()
