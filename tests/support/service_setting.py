"""A key, questions, a clock, retrievers on a double and faults, for tests of services."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from sicetnon.records import Topic
from sicetnon.services.argsme import ArgsMeRetriever
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import Clock, Patience
from support.patience import HANGS
from support.service_double import ServiceDouble

KEY = 'k3y/with"odd+letters-5f1c'
TEA = Topic("1", "Which is better,\n tea or coffee?")
MILK = Topic("2", "Should milk go in first?")
# no waiting, no chance; a busy machine has time enough to answer
QUICK = Patience(tries=4, first_wait=1.0, timeout=HANGS, per_second=1e6, jitter=0.0)
# for requests that are never answered; the timeout is real time
IMPATIENT = replace(QUICK, timeout=0.2)


class PatientClock(Clock):
    """Waiting takes no time, and is noted."""

    def __init__(self) -> None:
        self.slept = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.slept

    def sleep(self, seconds: float, stopped: threading.Event) -> None:
        with self._lock:
            self.slept += seconds


class Setting:
    """A retriever of each kind, on one double and one cache."""

    def __init__(self, folder: Path):
        self.cache = folder / "kept" / "answers.sqlite"
        self.said: list[str] = []
        self.progress: list[tuple[str, int, int]] = []
        self.clock = PatientClock()
        self.patience = QUICK

    def chatnoir(self, double: ServiceDouble, key: str | None = KEY) -> ChatNoirRetriever:
        return ChatNoirRetriever(
            self.cache,
            key,
            double.url,
            progress=lambda *step: self.progress.append(step),
            say=self.said.append,
            patience=self.patience,
            clock=self.clock,
        )

    def argsme(self, double: ServiceDouble) -> ArgsMeRetriever:
        return ArgsMeRetriever(self.cache, double.url, self.said.append, self.patience, self.clock)


FAULTS = [
    "500",
    "502",
    "503",
    "504",
    "429",
    "429 2",
    "cut",
    "hang up",
    "malformed",
    {"error": "x"},
]
