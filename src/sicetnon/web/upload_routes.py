"""Routes that read runs and judgments from the body of a request."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends

from sicetnon.contracts import CONTRACTS
from sicetnon.evaluation import evaluate
from sicetnon.evaluation.rules import ScoringRule
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
_A_TASK: dict[str, Any] = {"enum": sorted(CONTRACTS)}
_FILES: dict[str, Any] = {"minProperties": 1, "maxProperties": _MOST}
Texts = dict[str, str]


@router.post("/validate")
async def validate_run(
    served: Served,
    run: Annotated[str, Body(description="the lines of the run", examples=[_RUN])],
    task: Annotated[str, Body(examples=["touche-2020-task-1"], json_schema_extra=_A_TASK)],
) -> dict[str, Any]:
    """Check a run by the rules of its task."""
    return await served.on_index(lambda _: _validated(run, task))


@router.post("/evaluate")
async def evaluate_runs(
    served: Served,
    runs: Annotated[
        Texts,
        Body(
            description="lines by the run's name",
            examples=[{"mine": _RUN}],
            json_schema_extra=_FILES,
        ),
    ],
    qrels: Annotated[
        Texts,
        Body(
            description="lines by a name", examples=[{"judged": _QRELS}], json_schema_extra=_FILES
        ),
    ],
    measures: Annotated[list[str], Body(max_length=_MOST, min_length=1)] = ["nDCG@5"],  # noqa: B006 - FastAPI copies it
    rule: ScoringRule = "official",
) -> dict[str, Any]:
    """Score runs."""
    for texts in (runs, qrels):
        if not 1 <= len(texts) <= _MOST:
            raise Problem(422, f"found {len(texts)} files of a kind; expected 1 to {_MOST}")
    return {"scores": await served.on_index(lambda _: _evaluated(runs, qrels, measures, rule))}


def _validated(run: str, task: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder:
        (path,) = _files({"run": run}, Path(folder)).values()
        return validate(path, task, name="run").as_json()


def _evaluated(runs: Texts, qrels: Texts, measures: list[str], rule: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder:
        asked, judged = _files(runs, Path(folder), "run"), _files(qrels, Path(folder), "qrels")
        scores = evaluate(asked, judged, measures, rule=rule)
        return [score.row() for score in scores]


def _files(texts: Mapping[str, str], folder: Path, kind: str = "text") -> dict[str, Path]:
    """Texts as files, by name; a name from a request is never a path."""
    found = {}
    for place, (name, text) in enumerate(texts.items()):
        path = folder / f"{kind}-{place}.txt"
        path.write_text(text, "utf-8", errors="replace", newline="")
        found[name] = path
    return found
