"""Our own HTTP API: search, documents, brief, reply, checks and scores of runs, health, metrics."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from pydantic import BeforeValidator, WithJsonSchema

from sicetnon._version import VERSION
from sicetnon.app.answers import Answer, as_json
from sicetnon.app.brief import brief
from sicetnon.app.reply import reply
from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.contracts import CONTRACTS
from sicetnon.evaluation import evaluate
from sicetnon.evaluation.unjudged import ScoringRule
from sicetnon.formats.json_records import decode
from sicetnon.validation import validate
from sicetnon.web.middleware import METRICS_TYPE
from sicetnon.web.problems import Problem, documented
from sicetnon.web.rendering import json_answer
from sicetnon.web.settings import Settings
from sicetnon.web.state import Served, known

EXAMPLE = "Should teachers get tenure?"
# separators and the next-line mark are white space here, but not for every reader of a pattern
_NOT_BLANK, _WITH_A_LETTER = r"[^\s\u001c-\u001f\u0085]", r"[^\W\d_]"


def _text(most: int, pattern: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": pattern}


QUESTION = _text(Settings.question_letters, _NOT_BLANK)
"""The schema of a question."""
TEXT = _text(Settings.text_letters, _NOT_BLANK)
"""The schema of a text to annotate."""
CLAIM = _text(Settings.text_letters, _WITH_A_LETTER)
"""The schema of a text to reply to."""


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a whole number")
    return value


WHOLE = BeforeValidator(_no_truth)
"""Marks a whole number in JSON, for which `true` is none."""


async def json_alone(request: Request) -> None:
    """Refuse a body that is no JSON.

    Raises:
        Problem: The content type is another (415).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind.startswith("application/") and kind.endswith(("/json", "+json"))
    if request.method == "POST" and not is_json:
        found = f"found {kind[:80]!r}" if kind else "found none"
        raise Problem(415, f"the content type: {found}; expected application/json")


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
file_router = APIRouter(
    prefix="/api/v1",
    responses=documented(400, 413, 415, 422, 503),
    dependencies=[Depends(json_alone)],
)

_RUN = "1 Q0 S1-A1 1 2.5 tag\n1 Q0 S1-A2 2 1.5 tag\n"
_QRELS = "1 0 S1-A1 2\n1 0 S1-A2 0\n"
_MOST = 20
# to mend halves of characters, Python reads all of a body, at twenty times its size
_MENDED = 1 << 20
Texts = dict[str, str]
Shape = TypeVar("Shape")


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
    return PlainTextResponse(text, media_type=METRICS_TYPE)


def _sides(texts: list[str], question: str) -> list[Json]:
    from sicetnon.arguments.side.classifier import Side

    found = Side().classify(texts, question)
    return [{"side": each.side, "probabilities": list(each.probabilities)} for each in found]


def _scores(task: Literal["quality", "argumentativeness"], texts: list[str]) -> list[float]:
    from sicetnon.arguments.models.classifiers import read_all

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


class _Validation(msgspec.Struct):
    """The body of a request to check a run."""

    run: str
    task: str


class _Evaluation(msgspec.Struct):
    """The body of a request to score runs."""

    runs: Texts
    qrels: Texts
    measures: tuple[str, ...] = ("nDCG@5",)


def _body(required: tuple[str, ...], **properties: Json) -> Json:
    """What the OpenAPI document says of a body that the route reads itself."""
    schema = {"type": "object", "required": required, "properties": properties}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _texts(description: str, example: Texts) -> Json:
    texts: Json = {"type": "object", "additionalProperties": {"type": "string"}}
    bounds = {"minProperties": 1, "maxProperties": _MOST}
    return texts | bounds | {"description": description, "examples": [example]}


_VALIDATION = _body(
    ("run", "task"),
    run={"type": "string", "description": "the lines of the run", "examples": [_RUN]},
    task={"type": "string", "enum": sorted(CONTRACTS), "examples": ["touche-2020-task-1"]},
)
_MEASURES: Json = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": _MOST}
_EVALUATION = _body(
    ("runs", "qrels"),
    runs=_texts("lines by the run's name", {"mine": _RUN}),
    qrels=_texts("lines by a name", {"judged": _QRELS}),
    measures=_MEASURES | {"default": ["nDCG@5"]},
)


@file_router.post("/validate", openapi_extra=_VALIDATION)
async def validate_run(served: Served, request: Request) -> Json:
    """Check a run by the rules of its task."""
    body = await request.body()
    return await served.on_index(lambda _: _validated(body))


@file_router.post("/evaluate", openapi_extra=_EVALUATION)
async def evaluate_runs(served: Served, request: Request, rule: ScoringRule = "official") -> Json:
    """Score runs."""
    body = await request.body()
    return {"scores": await served.on_index(lambda _: _evaluated(body, rule))}


def _read(body: bytes, shape: type[Shape]) -> Shape:
    """A body, read in the thread of a worker up to its first fault.

    Raises:
        Problem: It is no JSON, or has another shape (422).
    """
    decoder = msgspec.json.Decoder(shape)
    try:
        return decode(decoder, body) if len(body) <= _MENDED else decoder.decode(body)
    except (ValueError, RecursionError) as error:
        raise Problem(422, f"the body cannot be read: {error}") from None


def _validated(body: bytes) -> Json:
    asked = _read(body, _Validation)
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder:
        (path,) = _files({"run": asked.run}, Path(folder)).values()
        return validate(path, asked.task, name="run").as_json()


def _evaluated(body: bytes, rule: str) -> list[Json]:
    asked = _read(body, _Evaluation)
    for name, given in (("runs", asked.runs), ("qrels", asked.qrels), ("measures", asked.measures)):
        if not 1 <= len(given) <= _MOST:
            raise Problem(422, f"found {len(given)} {name}; expected 1 to {_MOST}")
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder:
        runs = _files(asked.runs, Path(folder), "run")
        qrels = _files(asked.qrels, Path(folder), "qrels")
        scores = evaluate(runs, qrels, list(asked.measures), rule=rule)
        return [score.row() for score in scores]


def _files(texts: Mapping[str, str], folder: Path, kind: str = "text") -> dict[str, Path]:
    """Texts as files, by name; a name from a request is never a path."""
    found = {}
    for place, (name, text) in enumerate(texts.items()):
        path = folder / f"{kind}-{place}.txt"
        path.write_text(text, "utf-8", errors="replace", newline="")
        found[name] = path
    return found
