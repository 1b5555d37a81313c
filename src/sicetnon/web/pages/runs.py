"""The page Runs: files in, leaderboards and comparisons out."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from sicetnon.app.index import Index
from sicetnon.errors import DataError
from sicetnon.evaluation import evaluate, load_run, load_topics
from sicetnon.evaluation.inputs import Source, load_qrels
from sicetnon.formats.files import Limits, Reading, open_bytes
from sicetnon.formats.json_records import valid_text
from sicetnon.formats.runs import unordered
from sicetnon.records import Ranking, Run, Topic
from sicetnon.report import sections_of
from sicetnon.report.contents import Contents, Label, Texts, bare_names, gather, key, labels_of
from sicetnon.text.snippets import Piece
from sicetnon.text.unicode import one_line, shortened
from sicetnon.web.middleware import NEEDS_TOKEN, OwnSession, sessions_of
from sicetnon.web.problems import Problem
from sicetnon.web.rendering import CONTENT_POLICY, page, page_answer
from sicetnon.web.settings import Settings
from sicetnon.web.state import Served, State

router = APIRouter(include_in_schema=False, dependencies=[NEEDS_TOKEN])

_MOST_FILES = 20
_UNPACKED = 4
_SERVED = "served"
_MEASURE, _RULE = "nDCG@5", "official"
# bars of the report stand at places that only its templates write
_POLICY = f"{CONTENT_POLICY}; style-src-attr 'unsafe-inline'"
Name = Annotated[str, Query(max_length=1000)]
DEPTH = 20
"""Documents of a run that are kept for a topic."""
_LONGEST_NAME = 60


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
    return {valid_text(name): path for path, name in zip(paths, names.values(), strict=True)}


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
    """Errors name files as their owners do, not by their temporary names."""
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


@dataclass(frozen=True)
class ScoredRuns:
    """Runs that were scored.

    Attributes:
        runs: The first documents of each run, by its name.
        titles: The question of each topic, where it is known.
    """

    contents: Contents
    runs: Mapping[str, Run]
    titles: Mapping[str, str]

    @property
    def topics(self) -> list[str]:
        """All topics that a run answers, or that are judged, in the order of their numbers."""
        answered = {topic for run in self.runs.values() for topic in run.rankings}
        return sorted(answered | {each.number for each in self.contents.topics}, key=key)


@dataclass(frozen=True)
class TopicLine:
    """A topic in the comparison of two runs.

    Attributes:
        title: Its question; empty where it is not known.
        first: The score of the first run, or None if the topic does not count.
        second: That of the second run.
    """

    number: str
    title: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """The score of the first run minus that of the second."""
        known = self.first is not None and self.second is not None
        return self.first - self.second if known else None  # type: ignore[operator]


@dataclass(frozen=True)
class ComparedHit:
    """A document that one of two runs found.

    Attributes:
        other: Its rank in the other run, or None if it is below the depth there.
        labels: Its label in each file of judgments; None for none.
        stance: The stance that the run gives it; else empty.
        text: The part of its text that has most to do with the question.
        is_known: Whether the index has it.
    """

    rank: int
    document: str
    other: int | None
    labels: Mapping[str, Label | None]
    stance: str
    text: Sequence[Piece]
    is_known: bool


def scored_runs(
    runs: Mapping[str, Source],
    qrels: Mapping[str, Source],
    topics: Iterable[Topic] | None,
    measure: str = "nDCG@5",
    rule: str = "official",
) -> ScoredRuns:
    """Score runs, and keep what the pages of them show.

    Args:
        runs: The runs by name.
        qrels: The judgments by name.
        topics: The questions, where they are known.
        measure: As ir_measures writes it.
        rule: The rule by which runs are read.

    Raises:
        DataError: A file cannot be used.
        UsageError: There is no such measure or rule.
    """
    loaded = {name: load_run(source, name) for name, source in runs.items()}
    judged = {name: load_qrels(source, name) for name, source in qrels.items()}
    asked = None if topics is None else list(topics)
    scores = evaluate(loaded, judged, measure, rule=rule)
    contents = gather(scores, loaded, judged, None, asked)
    is_pairs = any(each.pairs for each in judged.values())
    kept = {name: _first(unordered(run) if is_pairs else run) for name, run in loaded.items()}
    titles = {topic.number: topic.title for topic in asked or ()}
    return ScoredRuns(contents, kept, titles)


def topic_links(found: ScoredRuns) -> list[tuple[str, str, str]]:
    """Each topic with its question and its anchor, to which the tables of the report lead."""
    judged = {each.number: place for place, each in enumerate(found.contents.topics, start=1)}
    return [
        (
            topic,
            found.titles.get(topic, ""),
            f"topic-{judged[topic]}" if topic in judged else f"unjudged-{place}",
        )
        for place, topic in enumerate(found.topics, start=1)
    ]


def topic_lines(found: ScoredRuns, first: str, second: str, part: int = 1) -> list[TopicLine]:
    """The scores of two runs, the greatest difference first.

    Args:
        found: The scored runs.
        first: A run.
        second: Another one.
        part: By which file of judgments and measure: the section of the report, from 1.
    """
    section = found.contents.sections[part - 1]
    values = {score.run: score.values for score in section.scores}
    lines = [
        TopicLine(
            topic,
            found.titles.get(topic, ""),
            values.get(first, {}).get(topic),
            values.get(second, {}).get(topic),
        )
        for topic in found.topics
    ]
    return sorted(lines, key=lambda line: (line.difference is None, -abs(line.difference or 0.0)))


def compared_hits(
    index: Index, found: ScoredRuns, topic: str, first: str, second: str
) -> tuple[list[ComparedHit], list[ComparedHit]]:
    """The first documents of two runs for a topic, with texts as far as the index has them."""
    rankings = [found.runs[name].rankings.get(topic) for name in (first, second)]
    ids = [each.ids if each is not None else () for each in rankings]
    wanted = list(dict.fromkeys((*ids[0], *ids[1])))
    texts = Texts(index)
    snippets = texts.snippets(wanted, found.titles.get(topic, "")) if wanted else {}
    known = {document for document in snippets if index.number(document) is not None}

    def hits(ranking: Ranking | None, others: Sequence[str]) -> list[ComparedHit]:
        if ranking is None:
            return []
        places = {document: rank for rank, document in enumerate(others, start=1)}
        return [
            ComparedHit(
                rank,
                document,
                places.get(document),
                labels_of(found.contents.qrels, topic, document),
                "" if ranking.stances is None else ranking.stances[rank - 1],
                snippets.get(document, ()),
                document in known,
            )
            for rank, document in enumerate(ranking.ids, start=1)
        ]

    return hits(rankings[0], ids[1]), hits(rankings[1], ids[0])


def _first(run: Run) -> Run:
    """A run without what no page shows."""
    rankings = {number: each.best(DEPTH) for number, each in run.rankings.items()}
    return Run(run.name, run.tag, rankings, run.repeated)


def unpacked(
    files: Sequence[UploadFile], folder: Path, kind: str, most_bytes: int
) -> dict[str, Path]:
    """Uploaded files as plain files, by the names that their owners gave them.

    Args:
        files: The uploaded files; gzip is recognised by its content.
        folder: Where the plain files go.
        kind: Their kind, for messages and for their names on disk.
        most_bytes: Bytes that all of them may unpack to.

    Raises:
        Problem: They unpack to more, or one cannot be unpacked (422).
    """
    found: dict[str, Path] = {}
    left = most_bytes
    for place, file in enumerate(files):
        packed, plain = folder / f"{kind}-{place}.packed", folder / f"{kind}-{place}.txt"
        with packed.open("wb") as target:
            shutil.copyfileobj(file.file, target)
        name = _fresh(_shown_name(file.filename or kind), found)
        limits = Limits(unpacked_ratio=1, unpacked_bytes=max(left, 1))
        try:
            with open_bytes(packed, Reading(limits=limits)) as content, plain.open("wb") as target:
                shutil.copyfileobj(content, target)
        except DataError:
            text = f"{name}: cannot be unpacked, or unpacks to more than {most_bytes:,} bytes"
            raise Problem(422, text) from None
        packed.unlink()
        left -= plain.stat().st_size
        found[name] = plain
    return found


def _shown_name(given: str) -> str:
    """The last part of a path of the browser's machine; it never names a file here."""
    name = PurePosixPath(given.replace("\\", "/")).name
    return shortened(one_line(name), _LONGEST_NAME) or "file"


def _fresh(name: str, taken: dict[str, Path]) -> str:
    """A name that is not taken."""
    number, fresh = 1, name
    while fresh in taken:
        number += 1
        fresh = f"{name} ({number})"
    return fresh
