"""The page Ask in other forms: JSON for programs, Markdown for texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sicetnon.library.brief_page import plain
from sicetnon.web.pages.ask import AskPage
from sicetnon.web.pages.cards import Card


def as_json(shown: AskPage) -> dict[str, Any]:
    """The answers of the page, as `search --json` gives them, with what the page adds."""
    suggestions = shown.suggestions
    return {
        "question": shown.asked.q,
        "misspelt": shown.misspelt or None,
        "found": shown.found,
        "shown": shown.shown,
        "sides": {column.kind: column.name for column in (*shown.columns, shown.neither)},
        "bars": {bar.name: bar.count for bar in shown.bars},
        "aspects": {each.name: each.count for each in shown.aspects},
        "answers": [_answer(card) for card in shown.cards],
        "corrected": suggestions.corrected,
        "unknown": list(suggestions.unknown),
        "shorter": [question for question, _ in suggestions.shorter],
        "nearest": list(suggestions.nearest),
    }


def _answer(card: Card) -> dict[str, Any]:
    added = {"column": card.kind, "sentence": _text(card) if card.is_sentence else None}
    return card.answer.as_json() | added | {"aspects": list(card.aspects)}


def as_markdown(shown: AskPage) -> str:
    """The answers of the page as Markdown (CommonMark)."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: AskPage) -> Iterator[str]:
    yield from (f"# {plain(shown.asked.q)}", "", f"{shown.summary}. {shown.guess}".strip())
    for bar in shown.bars:
        yield from ("", f"- **{plain(bar.name)}**: {bar.count}")
    for column in (*shown.columns, shown.neither):
        if not column.cards:
            continue
        yield from ("", f"## {plain(column.name)}")
        for place, card in enumerate(column.cards, start=1):
            yield from ("", f"{place}. {plain(_text(card))}  ", f"   {_cited(card)}")
    if not shown.found:
        yield from ("", "There is no argument about this in this index.")
        yield from (f"- {plain(each)}" for each in shown.suggestions.nearest)


def _text(card: Card) -> str:
    return "".join(text for text, _ in card.pieces)


def _cited(card: Card) -> str:
    claim = f"{'Against' if card.denies else 'On'} “{plain(card.heading)}”" if card.is_named else ""
    said = (claim, plain(card.origin.author), plain(card.answer.source), plain(card.answer.id))
    return " · ".join(filter(None, said))
