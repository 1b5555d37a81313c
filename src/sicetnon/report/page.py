"""Write the page: from scores to templates to a file."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment
from markupsafe import Markup

from sicetnon._version import VERSION
from sicetnon.errors import counted
from sicetnon.evaluation.inputs import Source, Sources
from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.stance import FOUND
from sicetnon.formats.files import write_whole
from sicetnon.formats.qrels import STANCES
from sicetnon.platforms import make_folder
from sicetnon.records import Topic
from sicetnon.report.contents import TOP, Contents, gather
from sicetnon.report.documents import each_topic
from sicetnon.report.environment import environment, source
from sicetnon.report.pictures import all_differences, heat_map, interval_axis
from sicetnon.report.texts import Texts
from sicetnon.report.wording import FILTERS

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader

FILE = "index.html"


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
        directory: Where `index.html` goes; made if it does not exist.
        scores: The result of `evaluate`.
        runs: The runs, as given to `evaluate`. They are read again, for their first documents,
            so that records must be in a list, not in an iterator.
        qrels: The judgments, likewise.
        baseline: The run that the others are compared with, as given to `evaluate`; when left
            out, the baseline of the scores, and without one the median of the runs.
        topics: The questions: topics or a topics.xml.
        texts: The texts of the documents: an open index, or a mapping from ids.

    Returns:
        The path of the page.

    Raises:
        UsageError: Scores, runs, judgments and baseline do not belong together.
        DataError: A file cannot be used.
        OSError: The page cannot be written; an earlier page is unchanged then.
    """
    contents = gather(scores, runs, qrels, baseline, topics)
    page = _render(contents, None if texts is None else Texts(texts))
    path = Path(directory) / FILE
    make_folder(path.parent)
    write_whole({path: page})
    return path


def sections_of(contents: Contents) -> Markup:
    """The sections of a report, for another page: leaderboards, pictures, scores by topic."""
    templates = _templates()
    return Markup(templates.get_template("sections.html.jinja").render(_shown(contents)))


def _render(contents: Contents, texts: Texts | None) -> str:
    templates = _templates()
    style, script = style_of("base.css", "parts.css", "page.css"), script_of()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return templates.get_template("page.html.jinja").render(
        _shown(contents),
        topics=each_topic(contents, texts),
        top=TOP,
        version=VERSION,
        style=Markup(style),
        script=Markup(script),
        digest=digest,
    )


def style_of(*names: str) -> str:
    """Style sheets of the report, one behind the other: `base.css`, `parts.css`, `page.css`."""
    templates = _templates()
    return "".join(source(templates, name) for name in names)


def script_of() -> str:
    """The script of the report: it sorts tables, and reads pictures aloud by keys."""
    return source(_templates(), "page.js")


@functools.cache
def _templates() -> Environment:
    templates = environment("sicetnon.report")
    templates.filters |= {each.__name__: each for each in (*FILTERS, counted)}
    return templates


def _shown(contents: Contents) -> dict[str, object]:
    """Values for the templates of the sections."""
    return {
        "contents": contents,
        "sections": contents.sections,
        "names": contents.names,
        "titles": {topic.number: topic.title for topic in contents.topics},
        "stances": STANCES,
        "found_stances": FOUND,
        "interval_axis": interval_axis,
        "heat_map": heat_map,
        "all_differences": all_differences,
    }
