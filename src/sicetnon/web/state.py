"""State that the routes share: the served index, the workers, the limits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from sicetnon.app.index import Index
from sicetnon.cluster.address import is_address
from sicetnon.cluster.remote_index import ClusterReader
from sicetnon.errors import SicetnonError
from sicetnon.index.manifest import MANIFEST
from sicetnon.text.unicode import one_line
from sicetnon.web.middleware import USER_TEXTS, Metrics
from sicetnon.web.pages.ask_search import AskResult, Spelling, ask_search, examples
from sicetnon.web.problems import Problem, without_folders
from sicetnon.web.settings import Settings
from sicetnon.web.workers import JudgingWriter, Workers

_LOG = logging.getLogger(__name__)
_PAUSE_SECONDS = 1.0
"""Seconds until an index that could not be opened is tried again."""
Result = TypeVar("Result")


class ServedIndex:
    """Holds the index that requests read. The event loop alone uses it.

    Attributes:
        index: The index that was opened last.
    """

    def __init__(self, index: Index):
        self.index = index
        self._version = self._failed = _version(index)
        self._again, self._lock = 0.0, asyncio.Lock()

    async def current(self) -> tuple[Index, Hashable]:
        """The current index on disk, and its version, which is part of cache keys.

        An index that cannot be opened leaves the one that was open, and is tried again: a copy may
        bring the manifest before the segments that it names. Requests that still read an older
        one keep it open.
        """
        # an index on a cluster follows its changes by itself
        if is_address(self.index.folder):
            return self.index, _version(self.index)
        if _version(self.index) != self._version and time.monotonic() >= self._again:
            async with self._lock:
                await self._open_again()
        return self.index, self._version

    async def _open_again(self) -> None:
        version, ranker = _version(self.index), self.index.ranker
        if version == self._version or time.monotonic() < self._again:
            return  # another request was first
        try:
            # others are answered meanwhile
            self.index = await asyncio.to_thread(Index.open, self.index.folder)
        except (SicetnonError, OSError) as error:
            self._again = time.monotonic() + _PAUSE_SECONDS
            if version != self._failed:
                _LOG.warning("the index has changed and cannot be opened: %s", error)
            self._failed = version
        else:
            self.index.ranker = ranker
            self._version = version
            _LOG.info("the index has changed; opened it again")


def _version(index: Index) -> Hashable:
    reader: object = index
    if isinstance(reader, ClusterReader):
        return reader.known_version
    try:
        stat = (index.folder / MANIFEST).stat()
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_ino)


@dataclass(frozen=True)
class State:
    """State that the routes share.

    Attributes:
        ready: Set once the first search was made, so that the next ones are quick.
    """

    settings: Settings
    served_index: ServedIndex
    workers: Workers
    metrics: Metrics
    judging: JudgingWriter
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, index: Index, settings: Settings) -> State:
        """The state for an index."""
        metrics = Metrics()
        judging = JudgingWriter(settings, metrics)
        return cls(settings, ServedIndex(index), Workers(settings, metrics), metrics, judging)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the workers while the server runs; a first question is asked beforehand.

        It loads the models, and compiles kernels once per machine.
        """
        warming = asyncio.ensure_future(self._warm())
        try:
            yield
        finally:
            warming.cancel()
            self.workers.close()
            self.judging.close()

    async def examples(self) -> list[str]:
        """Questions for the first visit."""
        return await self.on_index(examples, "examples")

    async def ask(self, question: str, n: int, spelling: Spelling = "") -> AskResult:
        """Search for the pages; pages of one question share the result."""
        return await self.on_index(
            lambda index: ask_search(index, question, n, spelling == "kept"),
            *("ask", question, n, spelling),
        )

    async def _warm(self) -> None:
        with contextlib.suppress(Problem):
            question = next(iter(await self.examples()), "warm")
            await self.on_index(lambda index: ask_search(index, question, 1))
        self.ready.set()

    async def on_index(self, work: Callable[[Index], Result], *key: str | int | None) -> Result:
        """Do work on the index in a thread.

        Args:
            work: A function of the index.
            key: All that its result depends on beside the index; without one it is not cached.
        """
        index, version = await self.served_index.current()
        return await self.workers.run(lambda: work(index), (*key, version) if key else None)

    def public(self, error: Exception) -> str:
        """One line on an error, without folders of this machine where others can reach it."""
        line, settings = str(error), self.settings
        if not settings.is_local:
            files = (settings.judging, settings.topics, *settings.runs, *settings.qrels)
            index = self.served_index.index.folder
            line = without_folders(line, (getattr(error, "file", None), index, *files))
        return one_line(line)

    def question(self, text: str) -> str:
        """A question within the limit, white space folded.

        Raises:
            Problem: It is longer, or empty (422).
        """
        return self.noted(_checked(text, self.settings.question_letters, "question"))

    def text(self, text: str) -> str:
        """Another text within its limit, white space folded.

        Raises:
            Problem: It is longer, or empty (422).
        """
        return self.noted(_checked(text, self.settings.text_letters, "text"))

    def noted(self, text: str) -> str:
        """The text, which the log of the request holds if the settings want it."""
        asked = USER_TEXTS.get()
        if asked is not None:
            asked.append(text)
        return text


def known(index: Index, identifier: str) -> str:
    """An id that the index has.

    Raises:
        Problem: It has none such (404).
    """
    if index.number(identifier) is None:
        raise Problem(404, "there is no document with this id")
    return identifier


def _checked(text: str, most: int, name: str) -> str:
    folded = " ".join(text.split())
    if not folded:
        raise Problem(422, f"found an empty {name}; expected a {name}")
    if len(folded) > most:
        raise Problem(422, f"found a {name} of {len(folded):,} letters; expected at most {most:,}")
    return folded


def _state(request: Request) -> State:
    state: State = request.app.state.served
    return state


Served = Annotated[State, Depends(_state)]
"""A parameter of a route that gets the state."""
