"""The page: what stands where, and how it comes to be on disk."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon._version import VERSION
from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.sources import Source, Sources
from sicetnon.formats.files import write_whole
from sicetnon.records import Topic
from sicetnon.report.contents import TOP, Contents, Table, gather
from sicetnon.report.documents import topic_blocks
from sicetnon.report.markup import Html, breakable, count, element, join, word
from sicetnon.report.plots import (
    balance,
    differences,
    heat_map,
    judged_name,
    reference_name,
)
from sicetnon.report.svg import drawing
from sicetnon.report.tables import by_topic, confusions, leaderboard, scrolling
from sicetnon.report.texts import Texts

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader

FILE = "index.html"

_RULES = {
    "official": "As the organisers of Touché score: documents in the order of their ranks, cut at "
    "the measure’s depth, then those without judgment dropped; a topic with nothing judged is left "
    "out of the mean.",
    "trec": "As trec_eval scores: documents in the order of their scores; one without judgment is "
    "not relevant; a topic without an answer counts as 0.",
    "condensed": "Condensed lists: documents in the order of their scores, those without judgment "
    "dropped before the cut; a topic with nothing judged counts as 0.",
}
_STANCES = (
    "All lines of a run count whose document has a judged stance, at any depth; a line without a "
    "stance is wrong. By topic, the figure is the share of such lines with the judged stance, "
    "since macro-F1 is no mean over topics."
)


def write_report(
    directory: Path | str,
    scores: Sequence[Score],
    *,
    runs: Sources,
    qrels: Sources,
    baseline: Source | None = None,
    topics: Iterable[Topic] | Path | str | None = None,
    texts: IndexReader | Mapping[str, str] | None = None,
) -> Path:
    """Write scores as a page that opens from disk, needs no network, and prints.

    The same input gives the same bytes.

    Args:
        directory: Where `index.html` goes; made if it is not there.
        scores: What `evaluate` returned.
        runs: The runs, as `evaluate` took them. They are read again, for the documents that they
            put first, so that records must be in a list, not in an iterator.
        qrels: The judgments, likewise.
        baseline: What the runs are set against, as `evaluate` took it; when left out, the
            baseline of the scores, and without one the median of the runs.
        topics: The questions: topics or a topics.xml.
        texts: The documents' texts: an open index, or a mapping from ids.

    Returns:
        The file.

    Raises:
        MissingExtraError: There is no matplotlib.
        UsageError: Scores, runs, judgments and baseline do not belong together.
        DataError: A file cannot be used.
        OSError: The page cannot be written; what was there before is still there then.
    """
    with drawing():
        contents = gather(scores, runs, qrels, baseline, topics)
        page = _page(contents, None if texts is None else Texts(texts))
    path = Path(directory) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole({path: page})
    return path


def _page(contents: Contents, texts: Texts | None) -> str:
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # nothing can be loaded and nothing but our script runs, whatever a tag or a text holds
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    title = f"Evaluation of {count(len(contents.labels), 'run')} \u2013 Sic et Non"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"sicetnon {VERSION}"),
        element("title", title),
        element("style", Html(_asset("page.css"))),
    )
    sections = [_section(contents, table, place) for place, table in _numbered(contents)]
    body = element(
        "body",
        _header(contents),
        element("main", sections, _documents(contents, texts)),
        element("footer", element("p", f"Sic et Non {VERSION}")),
        element("script", Html(script)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _header(contents: Contents) -> Html:
    first = contents.tables[0]
    known = (
        count(len(contents.labels), "run"),
        count(len(contents.topics), "topic"),
        count(len(contents.qrels), "file of judgments", "files of judgments"),
    )
    links = [
        element("a", word(heading(contents, table)), href=f"#table-{place}")
        for place, table in _numbered(contents)
    ]
    links.append(element("a", "Documents by topic", href="#documents"))
    return element(
        "header",
        element("p", "Sic et Non", class_="mark"),
        element("h1", "Evaluation"),
        element(
            "p", ", ".join(known), ". Set against ",
            element("b", word(reference_name(first, dict(contents.labels)))), ".",
        ),
        element("nav", element("ul", [element("li", link) for link in links]), aria_label="Parts"),
    )  # fmt: skip


def heading(contents: Contents, table: Table) -> str:
    """What a table is called: what was judged, and what else tells it from the others."""
    first = table.first
    name = next(name for name, each in contents.qrels.items() if each.name == first.qrels)
    parts = [name[:1].upper() + name[1:]]
    others = [other.first for other in contents.tables if other.first.qrels == first.qrels]
    if len({other.measure for other in others}) > 1:
        parts.append(first.measure)
    if len({other.rule for other in others}) > 1:
        parts.append(first.rule)
    return ", ".join(parts)


def _section(contents: Contents, table: Table, place: int) -> Html:
    labels, first = dict(contents.labels), table.first
    rule = "" if table.is_stance else f", {first.rule} rule"
    about = element(
        "p",
        element("b", first.measure),
        f"{rule}; judgments: ",
        element("code", word(Path(first.qrels).name)),
        ". ",
        _STANCES if table.is_stance else _RULES[first.rule],
        class_="about",
    )
    parts = [
        element("h2", word(heading(contents, table))),
        about,
        element("h3", "Leaderboard"),
        leaderboard(table, labels),
    ]
    if table.topics:
        parts += [
            element("h3", "Runs by topics"),
            _heat_figure(table, labels, f"heat-{place}"),
            element("h3", "Topic by topic against ", word(reference_name(table, labels))),
            _difference_figures(table, labels, f"difference-{place}"),
        ]
    if table.is_stance:
        parts += [element("h3", "Confusion of stances"), confusions(table, labels)]
    if table.topics:
        summary = element("summary", element("h3", "Scores by topic"))
        parts.append(element("details", summary, by_topic(contents, table), open=""))
    return element("section", parts, id=f"table-{place}")


def _heat_figure(table: Table, labels: dict[str, str], identity: str) -> Html:
    swatches = [element("i", class_="swatch", style=f"--v:{v}") for v in (0.05, 0.35, 0.7, 1)]
    said = [
        "Best run first, easiest topic first. ",
        *swatches,
        " from low to high; \u00d7 does not count.",
    ]
    if table.depth is not None:
        name = judged_name(table)
        said.append(f" A dot: {name} is below 1, the larger the less is judged.")
    return element(
        "figure",
        scrolling(heat_map(table, labels, identity), f"Runs by topics: {table.first.dimension}"),
        element("figcaption", said),
    )


def _difference_figures(table: Table, labels: dict[str, str], identity: str) -> Html:
    figures = []
    for place, score in enumerate(table.compared, start=1):
        better, same, worse = balance(table.differences(score))
        said = element("span", f"{better} better, {same} same, {worse} worse", class_="soft")
        caption = element("figcaption", breakable(labels[score.run]), " ", said)
        picture = differences(table, score, labels, f"{identity}-{place}")
        figures.append(element("figure", caption, picture))
    note = "One bar a topic, greatest difference first; point at a bar for its topic."
    return join(element("p", note, class_="note"), element("div", figures, class_="multiples"))


def _documents(contents: Contents, texts: Texts | None) -> Html:
    order = "by rank" if contents.by_rank else "by score"
    return element(
        "section",
        element("h2", "Documents by topic"),
        element(
            "p",
            f"The first {TOP} documents of each run, {order}, with what the judgments say of them.",
            class_="about",
        ),
        element("div", topic_blocks(contents, texts), class_="topicsblock"),
        id="documents",
    )


def _numbered(contents: Contents) -> Iterable[tuple[int, Table]]:
    return enumerate(contents.tables, start=1)


def _asset(name: str) -> str:
    return (resources.files("sicetnon.report") / name).read_text("utf-8")
