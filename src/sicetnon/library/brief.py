"""A brief: one page of the strongest reasons for and against, every sentence from a source."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sicetnon.arguments.comparative.questions import choice_in
from sicetnon.library.answers import Answer
from sicetnon.library.index import Index, check_index
from sicetnon.library.reasons import Reason, TakenSide, reasons_of, side_of
from sicetnon.library.search import LONGEST_QUESTION
from sicetnon.text.analysis import Analyzer, named_analysis
from sicetnon.values import check_text

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
        from sicetnon.library.brief_page import markdown

        return markdown(self)

    def _repr_html_(self) -> str:
        # a page of its own, whose style is not that of the notebook
        page = html.escape(self.as_html())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def as_html(self) -> str:
        """The brief as an HTML page in one file, which prints on one page."""
        from sicetnon.library.brief_page import page

        return page(self)


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
