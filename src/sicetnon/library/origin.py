"""The name, author and source of a document, as far as its record has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sicetnon.formats.entries import is_link
from sicetnon.formats.html import host_of
from sicetnon.library.answers import parts_of
from sicetnon.records import Argument, Entry, Record, WebPage, unprocessed

_NAME_LETTERS = 72
_AUTHORS = ("author", "authorName", "authors", "by", "speaker", "writer")
_DATES = ("date", "published", "publicationDate", "year")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?!\d)")
_READ_LETTERS = 1000


@dataclass(frozen=True)
class Origin:
    """The origin of a document. Texts are empty where its record does not say it.

    Attributes:
        author: Who said it.
        title: The title of its debate or page.
        site: The host of its source, or the name of its collection.
        date: When it was said.
        collected: When it was collected.
        link: The address of its source; None where there is none that can be followed.
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
