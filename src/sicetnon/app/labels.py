"""Words for documents and answers: heading, origin, side, the reasons for a rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sicetnon.arguments.side.lexicon import is_point
from sicetnon.formats.entries import is_link
from sicetnon.formats.html import host_of
from sicetnon.records import (
    Argument,
    Entry,
    Passage,
    PremiseStance,
    Record,
    WebPage,
    claimed,
    resolution_of,
    unprocessed,
)

if TYPE_CHECKING:
    # answers take their headings from here
    from sicetnon.app.answers import Answer

REASONS = {
    "on_topic": "on topic",
    "strength": "strong",
    "lexical": "words of the question",
    "repeated": "says nothing new",
}
"""The reasons of `Answer.reasons` in words, in the order in which they are shown."""

_SQUARELY, _REPEATS = 0.8, 0.1
_NAME_LETTERS = 72
_AUTHORS = ("author", "authorName", "authors", "by", "speaker", "writer")
_DATES = ("date", "published", "publicationDate", "year")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?!\d)")
_READ_LETTERS = 1000


def why(reasons: Mapping[str, float]) -> list[tuple[str, float | None]]:
    """The reasons for an answer's place with their values, in words.

    What decides nothing is left out: a text that repeats next to nothing. An answer that is
    squarely about the question is said to be so; that has no value of its own.
    """
    named: list[tuple[str, float | None]] = [
        (words, reasons[name])
        for name, words in REASONS.items()
        if name in reasons and (name != "repeated" or reasons[name] >= _REPEATS)
    ]
    if reasons.get("on_topic", 0.0) >= _SQUARELY:
        named.insert(1, ("squarely about it", None))
    return named


def guess(answers: Sequence[Answer]) -> str:
    """A notice that the sides are guesses; empty where none is."""
    # all NO is also what a system says that judges no sides
    if any(answer.objects and answer.stance != "NO" for answer in answers):
        return "Which object a passage favours is a program's guess, with its probability."
    if all(answer.side_probability is None for answer in answers):
        return ""
    if any(all(claimed(answer.record)) for answer in answers):
        return "Which side an answer takes is a program's guess, with its probability."
    return "Which side an answer takes is a guess from its text alone, which is often wrong."


def denies(answer: Answer) -> bool:
    """Whether an answer denies the claim that is its heading."""
    claim, stance = claimed(answer.record)
    return bool(claim) and stance == "CON" and not is_point(claim, resolution_of(answer.record))


def parts_of(record: Record) -> tuple[str, str, str, PremiseStance | None]:
    """Text, heading, source and stance of a record."""
    record = unprocessed(record)
    if isinstance(record, Argument):
        title = record.title
        source = str(record.context.get("sourceUrl") or title)
        heading = record.conclusion or title
        return record.premise, " ".join(heading.split()), source, record.stance
    if isinstance(record, Passage):
        return record.contents, "", record.url, None
    if isinstance(record, WebPage):
        return record.text or record.snippet, record.title, record.url, None
    return _entry_parts(record)


def _entry_parts(record: Entry) -> tuple[str, str, str, PremiseStance | None]:
    named = (record.extra.get(name) for name in ("url", "link", "source"))
    others = filter(is_link, record.extra.values())
    link = next((value for value in (*named, *others) if value and isinstance(value, str)), "")
    if record.claim:
        reasons = (text for text in record.texts.values() if " ".join(text.split()) != record.claim)
        return "\n".join(filter(None, reasons)) or record.claim, record.claim, link, record.stance
    for name in ("title", "heading", "headline", "conclusion"):
        heading = record.texts.get(name)
        if heading:
            rest = "\n".join(text for field, text in record.texts.items() if field != name)
            return rest or heading, " ".join(heading.split()), link, record.stance
    return record.default_text(), "", link, record.stance


@dataclass(frozen=True)
class Origin:
    """The origin of a document. Texts are empty where its record does not say it.

    Attributes:
        author: Who said it.
        title: The title of its debate or page.
        site: The host of its source, or the name of its collection.
        date: When it was said.
        collected: When it was collected.
        link: The address of its source, or None if there is none that can be followed.
    """

    author: str
    title: str
    site: str
    date: str
    collected: str
    link: str | None

    @property
    def by(self) -> str:
        """The author, or a note that the author is not known."""
        return self.author or "author not known"


def origin_of(record: Record) -> Origin:
    """The origin of a document."""
    record = unprocessed(record)
    _, _, source, _ = parts_of(record)
    link = source if is_link(source) else None
    site = site_of(source)
    if isinstance(record, Argument):
        said = record.context
        site = site or _first(said, ("sourceDomain",))
        return Origin(_author(said), record.title, site, *_dates(said), link)
    if isinstance(record, Entry):
        return Origin(_author(record.extra), "", site, *_dates(record.extra), link)
    title = record.title if isinstance(record, WebPage) else ""
    return Origin("", title, site, "", "", link)


def name_of(record: Record) -> str:
    """The name of a document: its claim or title, or else its first words."""
    text, heading, _, _ = parts_of(record)
    return heading or first_words(text)


def first_words(text: str) -> str:
    """The first words of a text, with an ellipsis where more follow."""
    folded = " ".join(text[:_READ_LETTERS].split())
    if len(folded) <= _NAME_LETTERS:
        return folded
    whole, _, _ = folded[:_NAME_LETTERS].rpartition(" ")
    return f"{whole or folded[: _NAME_LETTERS - 1]}…"


def site_of(link: str) -> str:
    """The host of an address, without `www.`; empty where it is no address."""
    return host_of(link.strip()).removeprefix("www.") if is_link(link) else ""


def _author(said: Mapping[str, Any]) -> str:
    author, group = _first(said, _AUTHORS), _first(said, ("authorOrganization",))
    return f"{author} ({group})" if author and group else author or group


def _dates(said: Mapping[str, Any]) -> tuple[str, str]:
    """The dates when something was said and when it was collected: days, months or years."""
    found = [_DATE.match(_first(said, names)) for names in (_DATES, ("acquisitionTime",))]
    first, second = (each.group() if each else "" for each in found)
    return first, second


def _first(said: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of some fields that holds a text or a number, white space folded."""
    for name in names:
        value = said.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = " ".join(str(value).split())
            if text:
                return text
    return ""
