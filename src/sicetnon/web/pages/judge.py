"""The page Judge. Without scripts each vote is a form; with them, one key."""

from __future__ import annotations

import io
import tempfile
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from sicetnon.app.index import Index
from sicetnon.app.labels import parts_of
from sicetnon.errors import counted
from sicetnon.formats.entries import is_link
from sicetnon.formats.identifiers import halves
from sicetnon.judging import Item, JudgingFile, Scale
from sicetnon.judging.exchange import export_judgments
from sicetnon.judging.scales import NO_ARGUMENT
from sicetnon.judging.store import LONGEST_NAME, Action, check_name
from sicetnon.judging.votes import (
    AssessorProgress,
    Combination,
    agreement,
    disagreements,
    progress,
    progress_of,
)
from sicetnon.records import PremiseStance, Topic
from sicetnon.report.contents import Texts
from sicetnon.web.middleware import (
    CSRF_HEADER,
    NEEDS_TOKEN,
    OwnSession,
    Session,
    is_of_another_site,
    sessions_of,
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
_LONGEST, _LONGEST_KEY, _MOST_ITEMS = 50_000, 64, 2**63
_STANCES: dict[PremiseStance | None, str] = {"PRO": "for", "CON": "against", None: ""}


class _Batch(msgspec.Struct):
    """The body of a script's request: the actions of an assessor, in their order."""

    assessor: str
    actions: list[Action]


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_BATCH = msgspec.json.Decoder(_Batch)


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
        batch = _BATCH.decode(await request.body())
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


@dataclass(frozen=True)
class ShownText:
    """The text of a document, or of one sentence of a pair.

    Attributes:
        heading: Its claim or title; empty where it has none.
        stance: `for` or `against` that claim; empty where it is not known.
        link: The address of its source, where that can be followed.
    """

    heading: str
    stance: str
    paragraphs: Sequence[str]
    link: str | None = None


@dataclass(frozen=True)
class Step:
    """A dimension that the document is judged on.

    Attributes:
        key: The key of a vote from this form.
    """

    scale: Scale
    label: str
    key: str


@dataclass(frozen=True)
class JudgeCard:
    """A document to judge.

    Attributes:
        item: Its number in the pool.
        texts: Its text, or none if the index does not have it.
        skip_key: The key of a skip from this form.
        note_key: The key of a note from this form.
    """

    item: int
    topic: Topic
    document: str
    texts: Sequence[ShownText]
    steps: Sequence[Step]
    note: str
    skip_key: str = field(default_factory=lambda: uuid.uuid4().hex)
    note_key: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(frozen=True)
class Standing:
    """The progress of an assessor, and the action that they can undo.

    Attributes:
        most: Documents that they may judge.
        last: Their last vote or skip.
        end: Why nothing is left for them; empty where something is.
    """

    own: AssessorProgress
    most: int
    last: Action | None
    end: str = ""


def standing_of(file: JudgingFile, name: str) -> Standing:
    """The progress of an assessor."""
    size = file.size
    quota = file.plan.quota
    return Standing(
        progress_of(file, name), size if quota is None else min(size, quota), file.last(name)
    )


def end_of(file: JudgingFile, standing: Standing) -> str:
    """Why nothing is left for an assessor."""
    found = progress(file)
    if found.judged == found.documents:
        return "Every document in the pool has its votes. Thank you."
    if file.plan.quota is not None and standing.own.judged >= file.plan.quota:
        return f"You have reached your share of {counted(file.plan.quota, 'document')}. Thank you."
    if standing.own.judged + standing.own.skipped >= found.documents:
        return "You have judged every document that you have not skipped. Thank you."
    return (
        "What is left is with other assessors now, or you have skipped it. Load the page again in "
        "some minutes."
    )


def whole(file: JudgingFile, name: str, action: Action) -> list[Action]:
    """An action with those that go with it.

    What is no argument has no quality and no side to ask for, and a document is undone whole.
    """
    if not 0 < action.item < _MOST_ITEMS:
        return [action]
    if action.kind == "undo":
        keys = file.done(name, action.item)
        if action.target not in keys:
            return [action]
        return [Action(_key("undo", key), "undo", action.item, target=key) for key in keys]
    if (action.kind, action.dimension, action.label) != ("vote", "relevance", NO_ARGUMENT):
        return [action]
    item = file.item(name, action.item)
    known = item.votes if item else {}
    return [
        action,
        *(
            Action(
                _key(scale.dimension, action.key),
                "vote",
                action.item,
                scale.dimension,
                scale.without_argument,
            )
            for scale in file.plan.scales
            if scale.without_argument and scale.dimension not in known
        ),
    ]


def _key(word: str, key: str) -> str:
    """A key that follows from another, within the length of keys."""
    return f"{word}-{key}"[:_LONGEST_KEY]


def judge_cards(
    index: Index, items: Sequence[Item], topics: Mapping[str, Topic], scales: Sequence[Scale]
) -> list[JudgeCard]:
    """Documents to judge, with their texts as far as the index has them."""
    return [
        JudgeCard(
            item.id,
            topics[item.topic],
            item.document,
            shown_texts(index, item.document),
            [
                Step(scale, item.votes.get(scale.dimension, ""), uuid.uuid4().hex)
                for scale in scales
            ],
            item.note,
        )
        for item in items
    ]


def shown_texts(index: Index, document: str) -> list[ShownText]:
    """The text of a document; of a pair, both sentences. Empty where the index lacks it."""
    number = index.number(document)
    if number is None:
        # a sentence is found in its argument
        texts = Texts(index).of(halves(document) or [document])
        return [ShownText("", "", _paragraphs(text)) for text in texts.values()]
    (record,) = index.records_at([number])
    text, heading, source, stance = parts_of(record)
    link = source if is_link(source) else None
    return [ShownText(heading, _STANCES[stance], _paragraphs(text), link)]


def _paragraphs(text: str) -> list[str]:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return [line for line in map(str.strip, cut.splitlines()) if line]
