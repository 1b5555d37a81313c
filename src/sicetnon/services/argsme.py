"""The search engine args.me: arguments for and against a question (API v2)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sicetnon.formats.json_records import decode
from sicetnon.records import UNSTANCED, Argument, Premise, Ranking, Topic
from sicetnon.services.http import (
    Clock,
    Patience,
    Request,
    ResponseCache,
    Service,
    UnusableAnswer,
    query_of,
    read_pages,
)

URL, URL_VARIABLE = "https://www.args.me", "ARGSME_URL"
_SIDES = ("PRO", "CON")


class _Premise(msgspec.Struct, frozen=True):
    text: str
    stance: str | None = None


class _Explanation(msgspec.Struct, frozen=True):
    score: float | None = None


class _Hit(msgspec.Struct, frozen=True):
    id: str
    premises: tuple[_Premise, ...]
    conclusion: str = ""
    context: dict[str, Any] = {}
    stance: str | None = None
    explanation: _Explanation | None = None

    def argument(self) -> Argument:
        """The argument alone."""
        premises = tuple(
            Premise(premise.text, premise.stance if premise.stance in _SIDES else None)  # type: ignore[arg-type]  # mypy does not narrow by `in`
            for premise in self.premises
        )
        return Argument(self.id, self.conclusion, premises, self.context)


class _Results(msgspec.Struct, frozen=True, rename={"total_size": "totalSize"}):
    arguments: list[_Hit]
    total_size: int = 0


_DECODER = msgspec.json.Decoder(_Results)


class ArgsMeRetriever:
    """Finds arguments by args.me. The whole title is the query.

    Rankings hold as `stances` the side that args.me sees each on **towards the query** (`PRO`,
    `CON`; `Q0` where it does not say). A premise's own stance stays towards its conclusion.

    Args:
        cache: The file (or folder) that keeps what was fetched.
        url: The address of the service; `ARGSME_URL`, or args.me itself, when left out.
        say: Called with a line for people when something goes wrong.
        patience: Limits on requests and waiting.
        clock: Time and waiting.

    Raises:
        UsageError: The address cannot be right.
        DataError: The cache cannot be used.
    """

    def __init__(
        self,
        cache: Path,
        url: str | None = None,
        say: Callable[[str], None] = lambda _: None,
        patience: Patience | None = None,
        clock: Clock | None = None,
    ):
        self._arguments: dict[str, Argument] = {}
        self._cache = ResponseCache(cache)
        address = url or os.environ.get(URL_VARIABLE) or URL
        self._service = Service(
            "args.me", address, self._cache, patience=patience, say=say, clock=clock
        )

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best arguments for each topic's title.

        Raises:
            ServiceError: args.me gave no usable answer. What it gave before is kept.
        """
        return [self._retrieve(topic, k) for topic in topics]

    def records(self, ranking: Ranking) -> list[Argument]:
        """The arguments of a ranking of this retriever."""
        return [self._arguments[identifier] for identifier in ranking.ids]

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()

    def _retrieve(self, topic: Topic, k: int) -> Ranking:
        query = query_of(topic)
        found = read_pages(self._service, query, _search, _read_results, k)
        names, scores = _scored(found)
        for name in names:
            self._arguments.setdefault(name, found[name].argument())
        stances = tuple(found[name].stance or UNSTANCED for name in names)
        return Ranking(topic, tuple(names), np.array(scores, dtype=np.float64), stances)


def _search(query: str, offset: int, size: int) -> Request:
    parameters: list[tuple[str, str | None]] = [
        ("query", query),
        ("pageSize", str(size)),
        ("format", "json"),
    ]
    if offset:
        parameters.append(("page", str(offset // size + 1)))
    return Request("/api/v2/arguments", tuple(parameters))


def _scored(found: dict[str, _Hit]) -> tuple[list[str], list[float]]:
    """Ids and scores, best first: the service's scores where it gives them, else its order."""
    scores = {
        name: hit.explanation.score
        for name, hit in found.items()
        if hit.explanation and hit.explanation.score is not None
    }
    if len(scores) < len(found):
        return list(found), [float(len(found) - place) for place in range(len(found))]
    names = sorted(scores, key=lambda name: (-scores[name], name))
    return names, [scores[name] for name in names]


def _read_results(body: bytes) -> tuple[list[tuple[str, _Hit]], int]:
    try:
        answer = decode(_DECODER, body)
    except ValueError:
        raise UnusableAnswer("sent something other than arguments") from None
    for hit in answer.arguments:
        score = hit.explanation.score if hit.explanation else None
        if hit.id.split() != [hit.id] or hit.stance not in (*_SIDES, None):
            raise UnusableAnswer("sent an argument without an id, or with an unknown stance")
        if score is not None and not math.isfinite(score):
            raise UnusableAnswer("sent a score that is no number")
    return [(hit.id, hit) for hit in answer.arguments], answer.total_size
