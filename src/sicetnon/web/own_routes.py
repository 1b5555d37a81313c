"""Routes of our own: search, documents, parse, annotate, brief, reply, health, metrics."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from pydantic import WithJsonSchema

from sicetnon._version import VERSION
from sicetnon.arguments.comparative.questions import parse_question
from sicetnon.library.answers import Answer, as_json
from sicetnon.library.brief import brief
from sicetnon.library.reply import reply
from sicetnon.web.fields import CLAIM, EXAMPLE, QUESTION, TEXT, WHOLE, json_alone
from sicetnon.web.middleware import MEDIA_TYPE
from sicetnon.web.problems import Problem, documented
from sicetnon.web.rendering import json_answer
from sicetnon.web.state import Served, known

router = APIRouter(
    prefix="/api/v1",
    responses=documented(400, 415, 422, 503),
    dependencies=[Depends(json_alone)],
)

_DEEPEST = 1000
Json = dict[str, Any]
Question = Annotated[
    str, Query(description="any question", examples=[EXAMPLE], json_schema_extra=QUESTION)
]


Text = Annotated[str, WithJsonSchema(TEXT)]
_BRIEFS: Json = {"application/json": {}, "text/html": {}, "text/markdown": {}}


@router.get("/search", response_model=Json, responses=documented(410))
async def search(
    served: Served,
    q: Question,
    k: Annotated[int, Query(ge=1, le=100, description="answers of a page")] = 10,
    system: Annotated[str, Query(max_length=64, description="which system answers")] = "",
    balance: Annotated[bool, Query(description="a third of the weaker side; no pages")] = False,
    after: Annotated[str, Query(max_length=400, description="`next` of the page before")] = "",
) -> Response:
    """The best answers to a question. `next` is the cursor of the next page, or null."""
    question, (rank, identifier) = served.question(q), _cursor(after)
    if balance and after:
        raise Problem(422, "found balance and after; balanced answers have one page")
    depth = min(rank + k, _DEEPEST)
    # one more tells whether there is a next page
    wanted = depth + (not balance)
    found = await served.on_index(
        lambda index: index.search(question, wanted, system=system or None, balance=balance),
        *("search", question, wanted, system, balance),
    )
    if rank and (len(found) < rank or found[rank - 1].id != identifier):
        raise Problem(410, "the results have changed since that page; search again without after")
    page = found[rank:depth]
    is_more = len(found) > depth and depth < _DEEPEST
    following = {"next": _cursor_at(page[-1]) if is_more else None}
    return await json_answer(lambda: as_json(question, page) | following)


@router.get("/documents/{identifier:path}", response_model=Json, responses=documented(404))
async def document(served: Served, identifier: str) -> Response:
    """A document whole."""
    record = await served.on_index(lambda index: index.records([known(index, identifier)])[0])
    return await json_answer(lambda: {"id": identifier, "document": record})


@router.get("/parse")
async def parse(served: Served, q: Question) -> Json:
    """The kind, objects and aspects of a question."""
    found: Json = msgspec.to_builtins(parse_question(served.question(q)))
    return found


@router.post("/annotate")
async def annotate(
    served: Served,
    task: Annotated[Literal["quality", "argumentativeness", "side"], Body()],
    texts: Annotated[
        list[Text], Body(min_length=1, max_length=64, examples=[["Zoos save animals."]])
    ],
    question: Annotated[str, Body(description="for side", examples=[EXAMPLE])] = "",
) -> Json:
    """The labels of texts by the model: a score from 0 to 1 each, or a side with probabilities."""
    checked = [served.text(text) for text in texts]
    if task == "side":
        asked = served.question(question)
        return {"annotations": await served.on_index(lambda _: _sides(checked, asked))}
    return {"annotations": await served.on_index(lambda _: _scores(task, checked))}


@router.get("/brief", response_model=None, responses={200: {"content": _BRIEFS}})
async def write_brief(
    served: Served,
    q: Question,
    form: Annotated[Literal["json", "html", "markdown"], Query(alias="format")] = "json",
) -> Json | Response:
    """The strongest reasons for and against, on one page."""
    question = served.question(q)
    made = await served.on_index(lambda index: brief(index, question), "brief", question)
    if form == "html":
        return HTMLResponse(made.as_html())
    if form == "markdown":
        return PlainTextResponse(made.as_markdown(), media_type="text/markdown")
    return made.as_json()


@router.post("/reply")
async def write_reply(
    served: Served,
    text: Annotated[
        str, Body(examples=["I think that teachers should get tenure."], json_schema_extra=CLAIM)
    ],
    k: Annotated[int, Body(ge=1, le=10), WHOLE] = 3,
) -> Json:
    """The strongest arguments against what a text claims."""
    checked = served.text(text)
    found = await served.on_index(lambda index: reply(index, checked, k), "reply", checked, k)
    return {"replies": [each.as_json() for each in found]}


@router.get("/health")
async def health(served: Served) -> Json:
    """The state of the server: its index, and whether the model is loaded (`ready`)."""
    index, _ = await served.served_index.current()
    ready = served.ready.is_set()
    return {"status": "ok", "ready": ready, "version": VERSION, "documents": len(index)}


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(served: Served) -> Response:
    """Counts and durations of requests, for Prometheus."""
    text = served.metrics.text(served.workers.busy)
    return PlainTextResponse(text, media_type=MEDIA_TYPE)


def _sides(texts: list[str], question: str) -> list[Json]:
    from sicetnon.arguments.side.classifier import Side

    found = Side().classify(texts, question)
    return [{"side": each.side, "probabilities": list(each.probabilities)} for each in found]


def _scores(task: Literal["quality", "argumentativeness"], texts: list[str]) -> list[float]:
    from sicetnon.arguments.model.classifiers import read_all

    scores: list[float] = read_all(texts, [task])[task].tolist()
    return scores


def _cursor_at(answer: Answer) -> str:
    return base64.urlsafe_b64encode(f"{answer.rank} {answer.id}".encode()).decode()


def _cursor(text: str) -> tuple[int, str]:
    """Rank and id of the last answer of the page before; 0 where there was none."""
    if not text:
        return 0, ""
    try:
        rank, _, identifier = base64.urlsafe_b64decode(text.encode()).decode().partition(" ")
        if not 0 < int(rank) <= _DEEPEST or not rank.isdecimal():
            raise ValueError
        return int(rank), identifier
    except (ValueError, binascii.Error):
        raise Problem(422, "after: expected the value of `next` of the page before") from None
