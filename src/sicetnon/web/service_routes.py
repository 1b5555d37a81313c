"""Answers in the shapes of args.me and ChatNoir, at their paths: their clients work here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import PlainTextResponse, Response

from sicetnon.library.answers import Answer
from sicetnon.library.index import Index
from sicetnon.library.sides import with_sides
from sicetnon.records import Argument, Passage, WebPage, unprocessed
from sicetnon.services.chatnoir import page_uuid
from sicetnon.web.fields import EXAMPLE, QUESTION, WHOLE, json_alone
from sicetnon.web.problems import Problem, documented
from sicetnon.web.rendering import json_answer
from sicetnon.web.state import Served, State

router = APIRouter(responses=documented(400, 415, 422, 503), dependencies=[Depends(json_alone)])

_DEEPEST = 1000
_SIDES = {"FOR": "PRO", "AGAINST": "CON"}
Json = dict[str, Any]


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
    index, version = served.shelf.current()
    ids: dict[str, str] = await served.workers.run(lambda: _by_uuid(index), ("uuids", version))
    if uuid not in ids:
        raise Problem(404, "there is no document with this uuid")
    text = await served.on_index(lambda index: index.records([ids[uuid]])[0].default_text())
    return PlainTextResponse(text)


def _by_uuid(index: Index) -> dict[str, str]:
    """The ids of all documents by ChatNoir's name for them."""
    return {page_uuid(name): name for name in index.identifiers(range(index.size))}
