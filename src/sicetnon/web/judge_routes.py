"""Routes of the page Judge. Without scripts each vote is a form; with them, one key."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from sicetnon.judging import Action, Item, JudgingFile
from sicetnon.judging.combining import Combination
from sicetnon.judging.exchange import export_judgments
from sicetnon.judging.store import LONGEST_NAME, check_name
from sicetnon.judging.votes import agreement, disagreements, progress
from sicetnon.web.middleware import (
    CSRF_HEADER,
    NEEDS_TOKEN,
    OwnSession,
    Session,
    is_of_another_site,
    sessions_of,
)
from sicetnon.web.pages.judge import (
    JudgeCard,
    Standing,
    end_of,
    judge_cards,
    standing_of,
    whole,
)
from sicetnon.web.problems import Problem
from sicetnon.web.rendering import fragment, page, page_answer
from sicetnon.web.state import Served, State

router = APIRouter(include_in_schema=False, dependencies=[NEEDS_TOKEN])

_MOST_AHEAD = 30
_MOST_ACTIONS = 200
_FIELDS = 12
_NOT_KEPT = {"Cache-Control": "no-store"}
Name = Annotated[str, Query(max_length=2 * LONGEST_NAME)]


class _Batch(msgspec.Struct):
    """The body of a script's request: the actions of an assessor, in their order."""

    assessor: str
    actions: list[Action]


@router.get("/judge")
async def judge(
    served: Served,
    request: Request,
    session: OwnSession,
    assessor: Name = "",
    item: int | None = None,
    undone: bool = False,
) -> Response:
    """The page Judge: the next document of an assessor; without a name, who judges."""
    if not served.judging.is_open:
        return page("judge_none.html.jinja", section="Judge")
    # a document that is shown is kept for the assessor, which no other site may cause
    name = "" if is_of_another_site(request) else " ".join(assessor.split())
    if not name:
        found = await served.judging.run(progress)
        plan = served.judging.file.plan
        return page(
            "judge_start.html.jinja", section="Judge", progress=found, plan=plan, assessor=""
        )
    check_name(name)
    cards, standing = await _cards(served, name, 1, item)
    answer = page(
        "judge.html.jinja",
        section="Judge",
        assessor=name,
        pool=served.judging.file.path.name,
        card=cards[0] if cards else None,
        standing=standing,
        undone=undone,
        csrf=session.csrf,
    )
    answer.headers.update(_NOT_KEPT)
    return session.keep(request, answer)


@router.get("/judge/overview")
async def overview(served: Served, assessor: Name) -> Response:
    """The progress of an assessor and of all others, and the judgments to download."""
    check_name(assessor)
    found = await served.judging.run(lambda file: (progress(file), standing_of(file, assessor)))
    return page(
        "judge_overview.html.jinja",
        section="Judge",
        assessor=assessor,
        progress=found[0],
        standing=found[1],
        plan=served.judging.file.plan,
    )


@router.get("/judge/next")
async def ahead(
    served: Served,
    request: Request,
    session: OwnSession,
    assessor: Name,
    count: Annotated[int, Query(ge=1, le=_MOST_AHEAD)] = 1,
) -> Response:
    """The next documents of an assessor as parts of the page, for a script that works ahead."""
    check_name(assessor)
    if is_of_another_site(request):
        raise Problem(403, "a page of another site asks; expected the page Judge")
    cards, standing = await _cards(served, assessor, count)
    parts = [{"id": card.item, "html": _card_html(card, assessor, session)} for card in cards]
    said = {
        "csrf": session.csrf,
        "items": parts,
        "end": standing.end,
        "progress": _progress(standing),
    }
    return session.keep(request, JSONResponse(said, headers=_NOT_KEPT))


@router.post("/judge")
async def one_action(served: Served, request: Request) -> Response:
    """Save what a form says, and go on to the next document."""
    form = await request.form(max_files=0, max_fields=_FIELDS)
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    sessions_of(request).check(request, fields.get("csrf"))
    name = fields.pop("assessor", "")
    # browsers send line ends as two characters
    fields["note"] = fields.get("note", "").replace("\r\n", "\n")
    try:
        known = {field.name for field in msgspec.structs.fields(Action)}
        wanted = {key: value for key, value in fields.items() if key in known}
        action = msgspec.convert(wanted, Action, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(422, str(error)) from None
    receipts = await served.judging.run(lambda file: file.record(name, whole(file, name, action)))
    if refused := [each.reason for each in receipts if each.outcome == "refused"]:
        raise Problem(409, f"not saved: {refused[0]}")
    # what was undone or noted is shown again
    stays = {"item": str(action.item)} if action.kind in ("undo", "note") else {}
    if action.kind == "undo":
        stays["undone"] = "1"
    return RedirectResponse(f"/judge?{urlencode({'assessor': name} | stays)}", 303)


@router.post("/judge/actions")
async def many_actions(served: Served, request: Request) -> Response:
    """Save actions that a script sends. Each has a receipt; nothing is saved twice."""
    sessions_of(request).check(request, request.headers.get(CSRF_HEADER))
    try:
        batch = msgspec.json.decode(await request.body(), type=_Batch)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(422, str(error)) from None
    if len(batch.actions) > _MOST_ACTIONS:
        raise Problem(422, f"found {len(batch.actions)} actions; expected {_MOST_ACTIONS} at most")

    def save(file: JudgingFile) -> tuple[list[Any], Standing]:
        receipts = file.record(batch.assessor, batch.actions)
        return msgspec.to_builtins(receipts), standing_of(file, batch.assessor)

    receipts, standing = await served.judging.run(save)
    return JSONResponse({"receipts": receipts, "progress": _progress(standing)})


@router.get("/judge/agreement")
async def shown_agreement(served: Served) -> Response:
    """The agreement of assessors, and the documents to discuss."""

    def gather(file: JudgingFile) -> dict[str, Any]:
        return {"agreement": agreement(file), "differences": disagreements(file)}

    found = await served.judging.run(gather)
    topics = served.judging.file.topics
    shown = [each.document for each in found["differences"][:_MOST_ACTIONS]]
    known = await served.on_index(
        lambda index: {each for each in shown if index.number(each) is not None}
    )
    return await page_answer(
        "judge_agreement.html.jinja",
        section="Judge",
        topics=topics,
        known=known,
        votes=served.judging.file.plan.votes,
        **found,
    )


@router.get("/judge/judgments")
async def judgments(served: Served, by: Combination = "majority") -> Response:
    """The judgments in the form of the official ones, and the raw votes, as one archive."""

    def pack(file: JudgingFile) -> bytes:
        with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder:
            export_judgments(file, folder, by)
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(Path(folder).iterdir()):
                    archive.write(path, path.name)
            return packed.getvalue()

    headers = _NOT_KEPT | {"Content-Disposition": 'attachment; filename="judgments.zip"'}
    return Response(await served.judging.run(pack), media_type="application/zip", headers=headers)


async def _cards(
    served: State, name: str, count: int, item: int | None = None
) -> tuple[list[JudgeCard], Standing]:
    """The next documents of an assessor, or the one that is named."""

    def look(file: JudgingFile) -> tuple[Sequence[Item], Standing]:
        named = file.item(name, item) if item is not None else None
        found = [named] if named else file.assigned(name, count)
        standing = standing_of(file, name)
        return found, standing if found else replace(standing, end=end_of(file, standing))

    items, standing = await served.judging.run(look)
    file = served.judging.file
    cards = await served.on_index(
        lambda index: judge_cards(index, items, file.topics, file.plan.scales)
    )
    return cards, standing


def _card_html(card: JudgeCard, assessor: str, session: Session) -> str:
    return fragment("judge_card.html.jinja", card=card, assessor=assessor, csrf=session.csrf)


def _progress(standing: Standing) -> dict[str, int]:
    own = standing.own
    return {"judged": own.judged, "skipped": own.skipped, "most": standing.most}
