"""State that the routes share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from sicetnon.library.index import Index
from sicetnon.text.unicode import one_line
from sicetnon.web.desk import Desk
from sicetnon.web.metrics import Metrics
from sicetnon.web.pages.examples import examples
from sicetnon.web.pages.finding import find
from sicetnon.web.problems import Problem, without_folders
from sicetnon.web.settings import Settings
from sicetnon.web.shelf import Shelf
from sicetnon.web.workers import Workers

Result = TypeVar("Result")
ASKED: ContextVar[list[str] | None] = ContextVar("asked", default=None)
"""The questions and texts of the request that is answered; None where the log may not hold them."""


@dataclass(frozen=True)
class State:
    """State that the routes share.

    Attributes:
        ready: Set once the first search was made, so that the next ones are quick.
    """

    settings: Settings
    shelf: Shelf
    workers: Workers
    metrics: Metrics
    desk: Desk
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, index: Index, settings: Settings) -> State:
        """The state for an index."""
        metrics = Metrics()
        desk = Desk(settings, metrics)
        return cls(settings, Shelf(index), Workers(settings, metrics), metrics, desk)

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
            self.desk.close()

    async def examples(self) -> list[str]:
        """Questions for the first visit."""
        return await self.on_index(examples, "examples")

    async def _warm(self) -> None:
        with contextlib.suppress(Problem):
            question = next(iter(await self.examples()), "warm")
            await self.on_index(lambda index: find(index, question, 1))
        self.ready.set()

    async def on_index(self, work: Callable[[Index], Result], *key: str | int | None) -> Result:
        """Do work on the index in a thread.

        Args:
            work: A function of the index.
            key: All that its result depends on beside the index; without one it is not cached.
        """
        index, version = await self.shelf.current()
        return await self.workers.run(lambda: work(index), (*key, version) if key else None)

    def public(self, error: Exception) -> str:
        """One line on an error, without folders of this machine where others can reach it."""
        line, settings = str(error), self.settings
        if not settings.is_local:
            files = (settings.judging, settings.topics, *settings.runs, *settings.qrels)
            index = self.shelf.index.folder
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
        asked = ASKED.get()
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
