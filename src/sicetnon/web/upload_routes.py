"""Routes that read runs and judgments from the body of a request."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, Depends, Request

from sicetnon.contracts import CONTRACTS
from sicetnon.evaluation import evaluate
from sicetnon.evaluation.rules import ScoringRule
from sicetnon.formats.json_records import decode
from sicetnon.validation import validate
from sicetnon.web.fields import json_alone
from sicetnon.web.problems import Problem, documented
from sicetnon.web.state import Served

router = APIRouter(
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
Json = dict[str, Any]
Shape = TypeVar("Shape")


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


@router.post("/validate", openapi_extra=_VALIDATION)
async def validate_run(served: Served, request: Request) -> Json:
    """Check a run by the rules of its task."""
    body = await request.body()
    return await served.on_index(lambda _: _validated(body))


@router.post("/evaluate", openapi_extra=_EVALUATION)
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
