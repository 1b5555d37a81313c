"""The judging file behind the page Judge: one thread writes, however many requests there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sicetnon.judging import JudgingFile
from sicetnon.web.metrics import Metrics
from sicetnon.web.problems import Problem
from sicetnon.web.settings import Settings
from sicetnon.web.workers import Workers

Result = TypeVar("Result")
_WAITING = 256


class Desk:
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
