"""Routes of the page Runs: files in, leaderboards and comparisons out."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from sicetnon.evaluation import load_topics
from sicetnon.formats.json_records import whole_text
from sicetnon.report import sections_of
from sicetnon.report.contents import bare_names
from sicetnon.web.access import NEEDS_TOKEN, OwnSession, sessions_of
from sicetnon.web.pages.runs import ScoredRuns, compared_hits, scored_runs, topic_lines, topic_links
from sicetnon.web.problems import Problem
from sicetnon.web.rendering import CONTENT_POLICY, page, page_answer
from sicetnon.web.settings import Settings
from sicetnon.web.state import Served, State
from sicetnon.web.uploads import unpacked

router = APIRouter(include_in_schema=False, dependencies=[NEEDS_TOKEN])

_MOST_FILES = 20
_UNPACKED = 4
_SERVED = "served"
_MEASURE, _RULE = "nDCG@5", "official"
# bars of the report stand at places that only its templates write
_POLICY = f"{CONTENT_POLICY}; style-src-attr 'unsafe-inline'"
Name = Annotated[str, Query(max_length=1000)]


class Results:
    """Scored runs of the last uploads, in memory alone."""

    def __init__(self, most: int = 8):
        self._kept: OrderedDict[str, ScoredRuns] = OrderedDict()
        self._most = most

    def keep(self, found: ScoredRuns) -> str:
        """Keep scored runs under a name that nobody can guess."""
        name = secrets.token_urlsafe(12)
        self._kept[name] = found
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return name

    def get(self, name: str) -> ScoredRuns:
        """Scored runs by their name.

        Raises:
            Problem: There are none (404).
        """
        if name not in self._kept:
            raise Problem(404, "these runs are no longer kept; upload them again")
        self._kept.move_to_end(name)
        return self._kept[name]


@router.get("/runs")
async def runs(served: Served, request: Request, session: OwnSession) -> Response:
    """The page Runs: what the server was started with, and a form for files."""
    given = served.settings
    shown = page(
        "runs_start.html.jinja",
        section="Runs",
        served=list(_by_name(given.runs)),
        csrf=session.csrf,
    )
    return session.keep(request, shown)


@router.post("/runs")
async def upload(served: Served, request: Request) -> Response:
    """Score the runs of a form, and show them."""
    limit = 3 * _MOST_FILES
    async with request.form(max_files=limit, max_fields=limit) as form:
        sessions_of(request).check(request, form.get("csrf"))
        found = await served.on_index(lambda _: _scored(form, served.settings))
    results: Results = request.app.state.results
    return RedirectResponse(f"/runs/{results.keep(found)}", 303)


@router.get("/runs/{name}")
async def leaderboard(served: Served, request: Request, name: str) -> Response:
    """Leaderboards and pictures of scored runs."""
    found = await _results(served, request, name)
    sections = await served.on_index(lambda _: sections_of(found.contents))
    shown = await page_answer(
        "runs.html.jinja",
        section="Runs",
        address=f"/runs/{name}",
        names=found.contents.names,
        headings=[found.contents.heading(each) for each in found.contents.sections],
        sections_html=sections,
        topics=await asyncio.to_thread(topic_links, found),
    )
    shown.headers["Content-Security-Policy"] = _POLICY
    return shown


@router.get("/runs/{name}/compare")
async def compare(
    served: Served,
    request: Request,
    name: str,
    first: Name,
    second: Name,
    topic: Name = "",
    part: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    """Two runs side by side: topic by topic, then document by document."""
    found = await _results(served, request, name)
    if unknown := [each for each in (first, second) if each not in found.runs]:
        raise Problem(404, f"there is no run {unknown[0]!r}")
    sections = found.contents.sections
    if part > len(sections):
        raise Problem(404, f"there is no part {part}; expected one of {len(sections)}")
    # an upload may have a million topics
    lines = await served.on_index(lambda _: topic_lines(found, first, second, part))
    place = next((at for at, line in enumerate(lines) if line.number == topic), None)
    if topic and place is None:
        raise Problem(404, f"there is no topic {topic!r}")
    hits: Sequence[Any] = ((), ())
    if topic:
        hits = await served.on_index(
            lambda index: compared_hits(index, found, topic, first, second)
        )
    both: dict[str, Any] = {"first": first, "second": second}
    if part > 1:
        both["part"] = part
    near = {
        word: lines[at] if place is not None and 0 <= at < len(lines) else None
        for word, at in (("before", (place or 0) - 1), ("after", (place or 0) + 1))
    }
    return await page_answer(
        "runs_compare.html.jinja",
        section="Runs",
        address=f"/runs/{name}",
        names=found.contents.names,
        chosen=(first, second),
        lines=lines,
        line=None if place is None else lines[place],
        hits=hits,
        near=near,
        link=lambda **more: f"/runs/{name}/compare?{urlencode(both | more)}",
        measure=sections[part - 1].first.measure,
        part=part,
        headings=[found.contents.heading(each) for each in sections],
    )


async def _results(served: State, request: Request, name: str) -> ScoredRuns:
    """Scored runs by their name; those of the command line are scored when first asked for."""
    if name == _SERVED and served.settings.runs:
        return await served.on_index(lambda _: _scored_files(served.settings), "scored runs")
    results: Results = request.app.state.results
    return results.get(name)


def _scored_files(settings: Settings) -> ScoredRuns:
    runs, qrels = (_by_name(paths) for paths in (settings.runs, settings.qrels))
    topics = load_topics(settings.topics) if settings.topics else None
    return scored_runs(runs, qrels, topics)


def _by_name(paths: Sequence[Path]) -> dict[str, Any]:
    names = bare_names([str(path) for path in paths])
    # addresses hold the names
    return {whole_text(name): path for path, name in zip(paths, names.values(), strict=True)}


def _scored(form: FormData, settings: Settings) -> ScoredRuns:
    """The runs of a form, scored; nothing of it stays on the disk."""
    measure, rule = (str(form.get(name) or "") for name in ("measure", "rule"))
    left = _UNPACKED * settings.upload_bytes
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as folder, _named(folder) as names:
        files = {}
        for kind, least in (("runs", 1), ("qrels", 1), ("topics", 0)):
            given = [each for each in form.getlist(kind) if _is_file(each)]
            if not least <= len(given) <= (_MOST_FILES if least else 1):
                raise Problem(422, _count_text(kind, len(given)))
            files[kind] = unpacked(given, Path(folder), kind, left)  # type: ignore[arg-type]
            names.update({str(path): name for name, path in files[kind].items()})
        topics = next((load_topics(path) for path in files["topics"].values()), None)
        return scored_runs(
            files["runs"], files["qrels"], topics, measure or _MEASURE, rule or _RULE
        )


@contextlib.contextmanager
def _named(folder: str) -> Iterator[dict[str, str]]:
    """Errors name files as their owners do, and not as they are called here."""
    names: dict[str, str] = {}
    try:
        yield names
    except Problem:
        raise
    except Exception as error:
        text = str(error)
        for path, name in names.items():
            text = text.replace(path, name)
        if folder in str(error):
            raise Problem(422, text) from None
        raise


def _is_file(value: object) -> bool:
    return isinstance(value, UploadFile) and bool(value.filename)


def _count_text(kind: str, count: int) -> str:
    expected = "at most 1" if kind == "topics" else f"1 to {_MOST_FILES}"
    return f"found {count} files in the field {kind}; expected {expected}"
