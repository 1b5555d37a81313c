"""Bars of a comparison: how many passages favour which object, and the sentences behind each."""

from __future__ import annotations

from dataclasses import dataclass

from sicetnon.library.comparing import ComparedPassages
from sicetnon.library.origin import origin_of
from sicetnon.web.pages.asked import Asked
from sicetnon.web.pages.cards import at_sentence


@dataclass(frozen=True)
class BarSentence:
    """A sentence behind a bar.

    Attributes:
        source: The name of its source; empty where that is not known.
        address: The page of its document at the sentence.
    """

    text: str
    source: str
    address: str


@dataclass(frozen=True)
class Bar:
    """A bar.

    Attributes:
        kind: The side, as a class of the page.
        share: Of the longest bar, in per cent.
        sentences: The sentences behind it, one of each passage.
    """

    kind: str
    name: str
    count: int
    share: int
    sentences: tuple[BarSentence, ...]


def bars(comparison: ComparedPassages, asked: Asked) -> tuple[Bar, ...]:
    """The bars of both objects, and of the passages that weigh both.

    Args:
        comparison: The passages by the object that they favour.
        asked: The request. Only passages that speak of its aspect are counted, if one is named,
            each with a sentence that does. The scale stays that of all passages, so that bars of
            two aspects can be compared.
    """
    first, second = comparison.objects
    rows = (
        ("FIRST", "for", first),
        ("SECOND", "against", second),
        ("NEUTRAL", "neither", "weighs both"),
    )
    every = comparison.counts()
    longest = max(1, *(every[stance] for stance, _, _ in rows))
    comparison = comparison.about(asked.aspect) if asked.aspect else comparison
    counts = comparison.counts()
    return tuple(
        Bar(
            kind,
            name,
            counts[stance],
            round(100 * counts[stance] / longest),
            _sentences(comparison, stance, asked),
        )
        for stance, kind, name in rows
    )


def _sentences(comparison: ComparedPassages, stance: str, asked: Asked) -> tuple[BarSentence, ...]:
    return tuple(
        BarSentence(
            (text := each.sentence_about(asked.aspect)),
            origin_of(each.answer.record).site,
            at_sentence(asked.page("/document", each.answer.id), text, each.answer),
        )
        for each in comparison.passages
        if each.answer.stance == stance
    )
