"""A brief as a page: HTML in one file, or Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from sicetnon._version import VERSION
from sicetnon.errors import counted
from sicetnon.library.brief import REASONS, Brief
from sicetnon.library.labels import denies, origin_of
from sicetnon.library.reasons import Reason
from sicetnon.report.environment import environment, source
from sicetnon.report.wording import visible

_ABOUT = (
    "Every sentence stands in its source. A program chose the sentences and judged the sides: it "
    "can be wrong."
)
_CLAIMS = {"PRO": "For the claim", "CON": "Against the claim", None: "On"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#&])")
# what an address may hold in Markdown and in an attribute; the rest is encoded
_PLAIN_IN_ADDRESSES = ":/?#@!$&'*+,;=%~-._"


def page(brief: Brief, written: str = "") -> str:
    """A brief as an HTML page.

    Args:
        brief: The brief.
        written: When and where it was written, if the page says that.
    """
    own, base = environment("sicetnon.library"), environment("sicetnon.report")
    style = source(base, "base.css") + source(own, "brief.css")
    return own.get_template("brief.html.jinja").render(
        **shown(brief), style=Markup(style), version=VERSION, written=written
    )


def shown(brief: Brief, context: Callable[[Reason], str] | None = None) -> dict[str, Any]:
    """Values for the template of a brief, by name.

    Args:
        brief: The brief.
        context: The address of a reason's whole text; None where there is none.
    """
    return {
        "brief": brief,
        "names": _names(brief),
        "summary": _summary(brief),
        "missing": _missing(brief),
        "about": _ABOUT,
        "claim_words": _claim_words,
        "origin_of": origin_of,
        "context": context,
        "marked": _marked,
    }


def markdown(brief: Brief) -> str:
    """A brief as Markdown (CommonMark)."""
    return "\n".join(_lines(brief)) + "\n"


def _lines(brief: Brief) -> Iterator[str]:
    yield from (f"# {plain(brief.question)}", "", plain(_summary(brief)))
    if not brief.supporting and not brief.opposing:
        return
    both = (brief.supporting, brief.opposing)
    for name, reasons, missing in zip(_names(brief), both, _missing(brief), strict=True):
        yield from ("", f"## {plain(name)}")
        for place, reason in enumerate(reasons, start=1):
            yield from ("", f"{place}. {plain(reason.sentence)}  ", f"   {_cited(reason)}")
        if missing:
            yield from ("", f"*{missing}*")
    if brief.contested:
        yield from ("", "## Contested")
    for point in brief.contested:
        yield ""
        for name, reason in zip(_names(brief), (point.supporting, point.opposing), strict=True):
            yield f"- **{plain(name)}:** {plain(reason.sentence)}  "
            yield f"  {_cited(reason)}"
    yield from ("", f"*{_ABOUT}*")


def _names(brief: Brief) -> tuple[str, str]:
    """The headings of the two sides."""
    if brief.objects is None:
        return "For", "Against"
    first, second = brief.objects
    return f"In favour of {first}", f"In favour of {second}"


def _summary(brief: Brief) -> str:
    """A summary of the answers, in one sentence."""
    if not brief.found:
        nearest = ", ".join(f"“{each.rstrip('. ')}”" for each in brief.nearest)
        near = f" The nearest topics in it: {nearest}." if nearest else ""
        return f"There is no argument about this in this index.{near}"
    if not brief.has_sides:
        return (
            "This asks for a fact, so that no argument can be for or against it. Ask whether "
            "something should be, is true or is better."
        )
    supporting, opposing = brief.counts
    rest = brief.found - supporting - opposing
    first, second = brief.objects or ("", "")
    sides = (
        f"{supporting:,} in favour of {first}, {opposing:,} of {second}"
        if brief.objects
        else f"{supporting:,} for, {opposing:,} against"
    )
    return f"{counted(brief.found, 'answer')}: {sides}, {rest:,} without a side."


def _missing(brief: Brief) -> tuple[str, str]:
    """The notices about sides with too few reasons."""
    return _missing_of(brief.supporting), _missing_of(brief.opposing)


def _missing_of(reasons: Sequence[Reason]) -> str:
    if len(reasons) >= REASONS:
        return ""
    return f"No {'more reasons were' if reasons else 'reason was'} found that can be quoted."


def _claim_words(reason: Reason) -> str:
    """The words before the shown claim: for it or against it; empty if there is no claim."""
    answer = reason.answer
    if not answer.heading:
        return ""
    # a point made against the title of its debate does not deny itself
    is_told = answer.stance != "CON" or denies(answer)
    return _CLAIMS.get(answer.stance if is_told else None, "On")


def _cited(reason: Reason) -> str:
    """The source of a sentence in Markdown."""
    claim = _claim_words(reason)
    parts = [f"{claim} “{plain(reason.answer.heading)}”" if claim else ""]
    if reason.link:
        address = quote(reason.link, safe=_PLAIN_IN_ADDRESSES)
        parts.append(f"[{plain(reason.title or reason.link)}]({address})")
    elif reason.title != reason.answer.heading:
        parts.append(plain(reason.title))
    parts.append(plain(reason.answer.id))
    return " · ".join(filter(None, parts))


def plain(text: str) -> str:
    """A text of one line that no sign of Markdown formats."""
    return _MARKDOWN.sub(r"\\\1", " ".join(visible(text).split()))


def _marked(sentence: str, words: Collection[str]) -> Markup:
    """A sentence with some of its words marked."""
    stems = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    parts = re.split(rf"\b({stems})\b", visible(sentence), flags=re.IGNORECASE)
    marked = Markup("<mark>{}</mark>")
    return Markup("").join(
        marked.format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )
