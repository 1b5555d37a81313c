"""The sides of answers towards the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

from sicetnon.arguments.side.questions import has_sides
from sicetnon.records import Record, claimed, resolution_of, said, title_of

if TYPE_CHECKING:
    from sicetnon.arguments.side.classifier import SideAnswer
    from sicetnon.library.answers import Answer

_DIGITS = 4


def with_sides(
    question: str, answers: Sequence[Answer], others: Sequence[Record] = ()
) -> list[Answer]:
    """The answers with their sides, where the question has any.

    Answers whose stance is about two objects stay as they are, and so do documents of which the
    index holds no text: nothing tells their side.

    Args:
        question: The question.
        answers: The answers.
        others: Other results for the question. Those with the claim of an answer help to tell what
            its stance stands for.
    """
    is_told = [bool(said(answer.record) or claimed(answer.record)[0]) for answer in answers]
    is_compared = any(answer.objects for answer in answers)
    if is_compared or not any(is_told) or not has_sides(question):
        return list(answers)
    # it loads the model
    from sicetnon.arguments.side.classifier import Side

    records = [answer.record for answer in compress(answers, is_told)]
    records += _of_same_claims(records, others)
    texts, titles = list(map(said, records)), list(map(title_of, records))
    claims, stances = zip(*map(claimed, records), strict=True)
    resolutions = list(map(resolution_of, records))
    found = iter(Side().classify(texts, question, claims, stances, titles, resolutions))
    return [
        _sided(answer, next(found)) if told else answer
        for answer, told in zip(answers, is_told, strict=True)
    ]


def _of_same_claims(records: Sequence[Record], others: Sequence[Record]) -> list[Record]:
    """Those of some other records that have a stance towards the claim of a record."""
    # the classifier is loaded by then
    from sicetnon.arguments.side.debates import folded

    known = {record.id for record in records}
    claims = {folded(claimed(record)[0]) for record in records}
    return [
        other
        for other in others
        if other.id not in known
        and claimed(other)[1] is not None
        and folded(claimed(other)[0]) in claims
        and said(other)
    ]


def _sided(answer: Answer, found: SideAnswer) -> Answer:
    return replace(answer, side=found.side, side_probability=round(found.probability, _DIGITS))
