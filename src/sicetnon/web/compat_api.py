"""The APIs of others at their paths: args.me, ChatNoir, retrieval-augmented debating."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Sequence
from typing import Annotated, Any
from weakref import WeakKeyDictionary

import numpy as np
from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import PlainTextResponse, Response
from numpy.typing import NDArray

from sicetnon.app.answers import Answer, with_sides
from sicetnon.app.index import Index
from sicetnon.app.reply import read_messages, respond
from sicetnon.cancellation import check_cancelled
from sicetnon.records import Argument, Passage, WebPage, unprocessed
from sicetnon.services.chatnoir import page_uuid
from sicetnon.web.api import EXAMPLE, QUESTION, WHOLE, json_alone
from sicetnon.web.problems import Problem, documented
from sicetnon.web.rendering import json_answer
from sicetnon.web.state import Served, State

router = APIRouter(responses=documented(400, 415, 422, 503), dependencies=[Depends(json_alone)])

_DEEPEST = 1000
_BLOCK = 10_000
"""Names that are made between two looks at the clock."""
_SIDES = {"FOR": "PRO", "AGAINST": "CON"}
Json = dict[str, Any]

_EXAMPLE = {"messages": [{"role": "user", "content": "I think that zoos should be closed."}]}
# what clients should send; more is understood
_MESSAGES: dict[str, Any] = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1000,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {
                    "role": {"enum": ["user", "assistant"]},
                    "content": {"type": "string", "pattern": "[A-Za-z]", "maxLength": 20_000},
                },
            },
        }
    },
}


@router.get("/api/v2/arguments", response_model=Json)
async def argsme(
    served: Served,
    query: Annotated[str, Query(examples=[EXAMPLE], json_schema_extra=QUESTION)],
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=100)] = 10,
    page: Annotated[int, Query(ge=1, le=_DEEPEST)] = 1,
) -> Response:
    """Arguments as args.me gives them; `stance` is towards the query."""
    question = served.question(query)
    start = (page - 1) * page_size
    found = await _found(served, question, start + page_size)
    part = found[start : start + page_size]
    sided = await served.on_index(
        lambda _: with_sides(question, part), "argsme", question, start, page_size
    )
    # one more page is there as long as the pages are full
    total = start + len(part) + (len(part) == page_size and len(found) < _DEEPEST)
    return await json_answer(
        lambda: {
            "query": {"text": question},
            "arguments": [_argument(answer) for answer in sided],
            "totalSize": total,
        }
    )


@router.get("/api/v1/_search")
async def chatnoir_get(
    served: Served,
    query: Annotated[str, Query(examples=["laptop or desktop"], json_schema_extra=QUESTION)],
    start: Annotated[int, Query(alias="from", ge=0, le=_DEEPEST)] = 0,
    size: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Json:
    """Documents as ChatNoir gives them."""
    return await _chatnoir(served, query, start, size)


@router.post("/api/v1/_search")
async def chatnoir_post(
    served: Served,
    query: Annotated[str, Body(examples=["laptop or desktop"], json_schema_extra=QUESTION)],
    start: Annotated[int, Body(alias="from", ge=0, le=_DEEPEST), WHOLE] = 0,
    size: Annotated[int, Body(ge=1, le=100), WHOLE] = 10,
) -> Json:
    """Documents as ChatNoir gives them. Other fields of its requests are not read."""
    return await _chatnoir(served, query, start, size)


async def _chatnoir(served: State, query: str, start: int, size: int) -> Json:
    began = time.perf_counter()
    found = await _found(served, served.question(query), start + size)
    meta = {
        "query_time": round(1000 * (time.perf_counter() - began)),
        "total_results": len(found),
        "indices": ["cw12"],
    }
    return {"meta": meta, "results": [_page(answer) for answer in found[start : start + size]]}


async def _found(served: State, question: str, depth: int) -> Sequence[Answer]:
    """The first answers to a question, without sides."""
    depth = min(depth, _DEEPEST)
    return await served.on_index(
        lambda index: index.search(question, depth, sides=False, balance=False),
        "found",
        question,
        depth,
    )


def _argument(answer: Answer) -> Json:
    record = unprocessed(answer.record)
    if isinstance(record, Argument):
        texts = [{"text": each.text, "stance": each.stance} for each in record.premises]
        context = record.context
    else:
        texts, context = [{"text": record.default_text(), "stance": None}], {}
    return {
        "id": answer.id,
        "conclusion": answer.heading,
        "premises": texts,
        "context": context,
        "stance": _SIDES.get(answer.side or ""),
        "explanation": {"score": answer.score},
    }


def _page(answer: Answer) -> Json:
    record = answer.record
    page = record if isinstance(record, WebPage) else None
    url = record.url if isinstance(record, Passage | WebPage) else answer.source
    return {
        "score": answer.score,
        "uuid": page_uuid(answer.id),
        "trec_id": answer.id,
        "title": answer.heading,
        "snippet": answer.snippet.text,
        "target_uri": url,
        "target_hostname": page.host if page else "",
        "page_rank": page.page_rank if page else None,
        "spam_rank": page.spam_rank if page else None,
    }


@router.get("/cache", response_class=PlainTextResponse, responses=documented(404))
async def cache(
    served: Served, uuid: Annotated[str, Query(max_length=36, min_length=36)]
) -> Response:
    """The text of a document that a search of ChatNoir's shape has named."""
    index, version = await served.served_index.current()
    text = await served.workers.run(lambda: _text(index, version, uuid))
    return PlainTextResponse(text)


def _text(index: Index, version: Hashable, uuid: str) -> str:
    """The text of a document by ChatNoir's name for it.

    Raises:
        Problem: There is none (404).
    """
    with _LOCK:
        uuids = _UUIDS.get(index)
        if uuids is None or uuids.version != version:
            uuids = _UUIDS[index] = _Uuids(version)
        places = uuids.of(index, uuid)
    names = index.identifiers(places)
    found = next((name for name in names if page_uuid(name) == uuid), None)
    if found is None:
        raise Problem(404, "there is no document with this uuid")
    return index.records([found])[0].default_text()


class _Uuids:
    """The documents of an index in the order of ChatNoir's names for them: 12 bytes each.

    The names are hashes, a million of which take seconds. They are made once; a request whose
    time is up leaves what it has made to the next one.
    """

    def __init__(self, version: Hashable):
        self.version = version
        self._parts: list[NDArray[np.uint64]] = []
        self._order: tuple[NDArray[np.uint64], NDArray[np.uint32]] | None = None

    def of(self, index: Index, uuid: str) -> list[int]:
        """The numbers of the documents that may have a name; seldom more than one."""
        if self._order is None:
            self._order = self._made(index)
        hashes, places = self._order
        try:
            wanted = _hash(uuid)
        except (ValueError, OverflowError):  # a sign is a digit to `int`
            return []
        first, last = (int(hashes.searchsorted(wanted, side)) for side in ("left", "right"))
        found: list[int] = places[first:last].tolist()
        return found

    def _made(self, index: Index) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        for start in range(_BLOCK * len(self._parts), index.size, _BLOCK):
            check_cancelled()
            names = index.identifiers(range(start, min(start + _BLOCK, index.size)))
            hashes = [_hash(page_uuid(name)) for name in names]
            self._parts.append(np.array(hashes, dtype=np.uint64))
        together = np.concatenate([np.zeros(0, np.uint64), *self._parts])
        self._parts = []
        places = together.argsort(kind="stable").astype(np.uint32)
        return together[places], places


def _hash(uuid: str) -> np.uint64:
    """The first and the last 32 bits of a name, which are those of a hash."""
    return np.uint64(int(uuid[:8] + uuid[-8:], 16))


_UUIDS: WeakKeyDictionary[Index, _Uuids] = WeakKeyDictionary()
_LOCK = threading.Lock()


@router.post("/")
async def debate(
    served: Served, request: Annotated[Any, Body(examples=[_EXAMPLE], json_schema_extra=_MESSAGES)]
) -> dict[str, Any]:
    """The next turn of a debate: at most 60 words, and the arguments that they rest on."""
    messages = read_messages(request)
    served.noted(messages[-1].content)
    turn = await served.on_index(lambda index: respond(index, messages))
    return turn.as_json()
