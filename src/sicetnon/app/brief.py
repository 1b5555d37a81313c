"""A brief: one page of the strongest reasons for and against, every sentence from a source."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup, escape

from sicetnon._version import VERSION
from sicetnon.app.answers import Answer
from sicetnon.app.index import Index, check_index
from sicetnon.app.labels import denies, origin_of
from sicetnon.app.reasons import Reason, TakenSide, reasons_of, side_of
from sicetnon.app.search import LONGEST_QUESTION
from sicetnon.argument_checks import check_text
from sicetnon.arguments.comparative.question_parser import choice_in
from sicetnon.errors import counted
from sicetnon.text.analysis import Analyzer, named_analysis

REASONS = 3
"""Reasons of each side at most."""

_ANSWERS = 30
# answers of each side whose sentences are read
_READ_OF_EACH_SIDE = 6
# worth of a sentence that can be read alone, of one that will do where there are too few, and of
# one that is better than none
_GOOD, _USABLE, _LEAST = 1.0, 0.6, 0.2
_NEARLY_THE_SAME = 0.85
_POINTS = 3
_SAME_POINT = 0.5
_SHARED_WORDS = 2
# letters of a word that may name a point
_LONG = 4
_ABOUT = (
    "Every sentence stands in its source. A program chose the sentences and judged the sides: it "
    "can be wrong."
)
_CLAIMS = {"PRO": "For the claim", "CON": "Against the claim", None: "On"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#&])")
# what an address may hold in Markdown and in an attribute; the rest is encoded
_PLAIN_IN_ADDRESSES = ":/?#@!$&'*+,;=%~-._"


@dataclass(frozen=True)
class Point:
    """A point that both sides speak of, with a sentence of each."""

    words: tuple[str, ...]
    supporting: Reason
    opposing: Reason

    def as_json(self) -> dict[str, Any]:
        """The point for programs."""
        sides = {"for": self.supporting.as_json(), "against": self.opposing.as_json()}
        return {"words": list(self.words)} | sides


@dataclass(frozen=True)
class Brief:
    """The strongest reasons for and against, on one page.

    Every sentence stands in its source, white space apart.

    Attributes:
        question: The question.
        supporting: The reasons for it, the strongest first.
        opposing: The reasons against it, likewise.
        contested: Points on which both sides speak, the closest sentences first.
        found: Number of answers that were found.
        counts: Number of them by side: FOR, AGAINST.
        objects: The two objects of a question that compares: FOR favours the first.
        has_sides: Whether the question can be answered for or against.
        nearest: Where nothing was found, the headings of the documents nearest to the question.
    """

    question: str
    supporting: tuple[Reason, ...] = ()
    opposing: tuple[Reason, ...] = ()
    contested: tuple[Point, ...] = ()
    found: int = 0
    counts: tuple[int, int] = (0, 0)
    objects: tuple[str, str] | None = None
    has_sides: bool = True
    nearest: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The brief for programs."""
        return {
            "question": self.question,
            "objects": list(self.objects) if self.objects else None,
            "found": {"answers": self.found, "for": self.counts[0], "against": self.counts[1]},
            "for": [reason.as_json() for reason in self.supporting],
            "against": [reason.as_json() for reason in self.opposing],
            "contested": [point.as_json() for point in self.contested],
            "nearest": list(self.nearest),
        }

    def as_markdown(self) -> str:
        """The brief as Markdown."""
        return _brief_markdown(self)

    def _repr_html_(self) -> str:
        # a page of its own, whose style is not that of the notebook
        page = html.escape(self.as_html())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def as_html(self) -> str:
        """The brief as an HTML page in one file, which prints on one page."""
        return brief_html(self)


def brief(index: Index, question: str) -> Brief:
    """The strongest reasons for and against, each as the sentence that carries it.

    Args:
        index: Where arguments are searched.
        question: A question that can be answered for or against, or a claim; its first 10,000
            characters are read.

    Raises:
        UsageError: The question is no text.
    """
    check_index(index)
    check_text(question, "the question")
    question = question[:LONGEST_QUESTION]
    answers = index.search(question, _ANSWERS)
    if not answers:
        return Brief(question, nearest=tuple(index.nearest_topics(question)))
    sided: dict[TakenSide, list[Answer]] = {"FOR": [], "AGAINST": []}
    for answer in answers:
        if side := side_of(answer):
            sided[side].append(answer)
    read = [answer for side in sided.values() for answer in side[:_READ_OF_EACH_SIDE]]
    sentences = reasons_of(question, read)
    supporting, opposing = (_strongest(sided[side], sentences) for side in sided)
    shown = {reason.sentence for reason in (*supporting, *opposing)}
    others = [
        reason
        for each in sentences.values()
        for reason in each
        if reason.sentence not in shown and reason.worth >= _GOOD
    ]
    return Brief(
        question,
        supporting,
        opposing,
        tuple(_contested(others, question)),
        len(answers),
        (len(sided["FOR"]), len(sided["AGAINST"])),
        next((answer.objects for answer in answers if answer.objects), choice_in(question)),
        any(answer.side or answer.objects for answer in answers),
    )


def _strongest(answers: Sequence[Answer], sentences: dict[str, list[Reason]]) -> tuple[Reason, ...]:
    """One sentence of each of the first answers that have a good one, none said twice.

    Where that leaves too few, of the next answers those that will do; where it leaves none, one
    that is better than none.
    """
    chosen: list[Reason] = []
    for worth, most in ((_GOOD, REASONS), (_USABLE, REASONS), (_LEAST, 1)):
        used = {reason.answer.id for reason in chosen}
        for answer in answers:
            fresh = (each for each in sentences.get(answer.id, []) if not _repeats(each, chosen))
            best = next(fresh, None)
            if best and best.worth >= worth and answer.id not in used and len(chosen) < most:
                chosen.append(best)
    return tuple(chosen)


def _repeats(reason: Reason, others: Sequence[Reason]) -> bool:
    return any(reason.embedding @ other.embedding > _NEARLY_THE_SAME for other in others)


def _contested(reasons: Sequence[Reason], question: str) -> list[Point]:
    """The sentences of both sides that are most alike, by the points that they share."""
    supporting = [reason for reason in reasons if reason.side == "FOR"]
    opposing = [reason for reason in reasons if reason.side == "AGAINST"]
    if not supporting or not opposing:
        return []
    vectors = [np.stack([each.embedding for each in side]) for side in (supporting, opposing)]
    likeness = vectors[0] @ vectors[1].T
    analyzer = named_analysis("porter-stop").analyzer()
    asked = frozenset(analyzer.stems_of(question))
    points: list[Point] = []
    used: set[str] = set()
    for place in np.argsort(-likeness, axis=None, kind="stable").tolist():
        first, second = divmod(place, len(opposing))
        pair = supporting[first], opposing[second]
        if not _SAME_POINT <= likeness[first, second] <= _NEARLY_THE_SAME:
            continue
        words = _shared_words(*pair, asked, analyzer)
        if words and used.isdisjoint(reason.answer.id for reason in pair):
            used.update(reason.answer.id for reason in pair)
            points.append(Point(words, *pair))
        if len(points) == _POINTS:
            break
    return points


def _shared_words(
    first: Reason, second: Reason, asked: frozenset[str], analyzer: Analyzer
) -> tuple[str, ...]:
    """The words of two sentences whose stems both have, but for those of the question."""
    stems = [frozenset(analyzer.stems_of(reason.sentence)) for reason in (first, second)]
    shared = {stem for stem in stems[0] & stems[1] if len(stem) >= _LONG} - asked
    if len(shared) < _SHARED_WORDS:
        return ()
    words = re.findall(r"\w+", f"{first.sentence} {second.sentence}")
    found = {word.lower() for word in words if shared.intersection(analyzer.stems_of(word))}
    return tuple(sorted(found))


def brief_html(brief: Brief, written: str = "") -> str:
    """A brief as an HTML page.

    Args:
        brief: The brief.
        written: When and where it was written, if the page says that.
    """
    # JSON needs no templates
    from sicetnon.report.page import environment, source

    own, base = environment("sicetnon.app"), environment("sicetnon.report")
    style = source(base, "base.css") + source(own, "brief.css")
    return own.get_template("brief.html.jinja").render(
        **template_values(brief), style=Markup(style), version=VERSION, written=written
    )


def template_values(brief: Brief, context: Callable[[Reason], str] | None = None) -> dict[str, Any]:
    """Values for the template of a brief, by name.

    Args:
        brief: The brief.
        context: The address of a reason's whole text; or None if there is none.
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


def _brief_markdown(brief: Brief) -> str:
    """A brief as Markdown (CommonMark)."""
    return "\n".join(_lines(brief)) + "\n"


def _lines(brief: Brief) -> Iterator[str]:
    yield from (f"# {markdown_text(brief.question)}", "", markdown_text(_summary(brief)))
    if not brief.supporting and not brief.opposing:
        return
    both = (brief.supporting, brief.opposing)
    for name, reasons, missing in zip(_names(brief), both, _missing(brief), strict=True):
        yield from ("", f"## {markdown_text(name)}")
        for place, reason in enumerate(reasons, start=1):
            yield from ("", f"{place}. {markdown_text(reason.sentence)}  ", f"   {_cited(reason)}")
        if missing:
            yield from ("", f"*{missing}*")
    if brief.contested:
        yield from ("", "## Contested")
    for point in brief.contested:
        yield ""
        for name, reason in zip(_names(brief), (point.supporting, point.opposing), strict=True):
            yield f"- **{markdown_text(name)}:** {markdown_text(reason.sentence)}  "
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
    parts = [f"{claim} “{markdown_text(reason.answer.heading)}”" if claim else ""]
    if reason.link:
        address = quote(reason.link, safe=_PLAIN_IN_ADDRESSES)
        parts.append(f"[{markdown_text(reason.title or reason.link)}]({address})")
    elif reason.title != reason.answer.heading:
        parts.append(markdown_text(reason.title))
    parts.append(markdown_text(reason.answer.id))
    return " · ".join(filter(None, parts))


def markdown_text(text: str) -> str:
    """A text of one line that no sign of Markdown formats."""
    from sicetnon.report.page import visible

    return _MARKDOWN.sub(r"\\\1", " ".join(visible(text).split()))


def _marked(sentence: str, words: Collection[str]) -> Markup:
    """A sentence with some of its words marked."""
    from sicetnon.report.page import visible

    stems = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    parts = re.split(rf"\b({stems})\b", visible(sentence), flags=re.IGNORECASE)
    marked = Markup("<mark>{}</mark>")
    return Markup("").join(
        marked.format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )
