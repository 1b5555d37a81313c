"""The sides of answers towards the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sicetnon.arguments.side.questions import has_sides
from sicetnon.records import claimed, resolution_of, said, title_of

if TYPE_CHECKING:
    from sicetnon.library.answers import Answer

_DIGITS = 4


def with_sides(question: str, answers: Sequence[Answer]) -> list[Answer]:
    """The answers with their sides, where the question has any.

    Answers whose stance is about two objects stay as they are.
    """
    if not answers or not has_sides(question) or any(answer.objects for answer in answers):
        return list(answers)
    # it loads the model
    from sicetnon.arguments.side.classifier import Side

    texts = [said(answer.record) for answer in answers]
    claims, stances = zip(*(claimed(answer.record) for answer in answers), strict=True)
    titles = [title_of(answer.record) for answer in answers]
    resolutions = [resolution_of(answer.record) for answer in answers]
    found = Side().classify(texts, question, claims, stances, titles, resolutions)
    return [
        replace(answer, side=each.side, side_probability=round(each.probability, _DIGITS))
        for answer, each in zip(answers, found, strict=True)
    ]
