"""Write the page: from scores to templates to a file."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sicetnon._version import VERSION
from sicetnon.errors import counted
from sicetnon.evaluation.inputs import Source, Sources
from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.stance import FOUND
from sicetnon.formats.files import write_atomic
from sicetnon.formats.qrels import STANCES
from sicetnon.operating_system import make_folder
from sicetnon.records import Topic
from sicetnon.report.contents import TOP, Contents, Texts, each_topic, gather
from sicetnon.report.pictures import all_differences, heat_map, interval_axis
from sicetnon.text.unicode import decimals, printable

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader


def environment(package: str) -> Environment:
    """The templates of a package. All texts that they print are made visible, then escaped."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        # frees every text that a template prints of control characters
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(templates: Environment, name: str) -> str:
    """The text of a file beside the templates, such as a style sheet."""
    assert templates.loader
    return templates.loader.get_source(templates, name)[0]


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BREAK = re.compile(r"(?<=[_+./,-])(?=\w)")
_SMALLEST_P = 0.001


def visible(value: Any) -> Any:
    """Make a text printable, with pictures of control characters; leave other values unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(_CONTROL.sub(_picture, value))
    return value


def _picture(match: re.Match[str]) -> str:
    point = ord(match.group())
    return "\u2421" if point == 0x7F else chr(0x2400 + point)


def breakable(name: str) -> Markup:
    """A name as isolated text that a browser may break after punctuation."""
    parts = Markup("<wbr>").join(escape(part) for part in _BREAK.split(visible(name)))
    return Markup("<bdi>{}</bdi>").format(parts)


def number(value: float | None, places: int = 3) -> str:
    """A number with a minus sign of its own; a dash for None and NaN."""
    return decimals(value, places).replace("-", "−")


def signed(value: float, decimals: int = 3) -> str:
    """A difference with its sign."""
    if value != value:
        return "–"
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")


def probability(value: float) -> str:
    """A p-value."""
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else number(value)


def exact(value: float | None) -> str:
    """A number that a script can sort by; the empty string for None and NaN."""
    return "" if value is None or value != value else f"{value:.6g}"


FILTERS = (breakable, number, signed, probability, exact)
"""The functions that templates use as filters."""


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
    write_atomic({path: page})
    return path


def sections_of(contents: Contents) -> Markup:
    """The sections of a report, for another page: leaderboards, pictures, scores by topic."""
    templates = _templates()
    return Markup(templates.get_template("sections.html.jinja").render(_template_values(contents)))


def _render(contents: Contents, texts: Texts | None) -> str:
    templates = _templates()
    style, script = style_of("base.css", "parts.css", "page.css"), script_of()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return templates.get_template("page.html.jinja").render(
        _template_values(contents),
        topics=each_topic(contents, texts),
        top=TOP,
        version=VERSION,
        style=Markup(style),
        script=Markup(script),
        digest=digest,
    )


def style_of(*names: str) -> str:
    """Style sheets of the report, joined: `base.css`, `parts.css`, `page.css`."""
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


def _template_values(contents: Contents) -> dict[str, object]:
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
