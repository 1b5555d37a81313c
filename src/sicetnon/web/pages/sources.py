"""Sources of answers: what tells two of the same title and host apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from sicetnon.web.pages.cards import Card

_LETTERS = 48


def paths_of(cards: Sequence[Card]) -> dict[str, str]:
    """The part of each address that tells it from others of the same title and host.

    Returns:
        The part by the id of the answer; answers whose source is told apart already are not in it.
    """
    same = defaultdict(list)
    for card in cards:
        if card.origin.link:
            same[card.origin.title, card.origin.site].append((card.answer.id, card.origin.link))
    found: dict[str, str] = {}
    for group in same.values():
        links = list(dict.fromkeys(link for _, link in group))
        if len(links) > 1:
            parts = _parts(links)
            found.update((identifier, parts[link]) for identifier, link in group)
    return found


def _parts(links: Sequence[str]) -> dict[str, str]:
    """The last part of each address; its path, or all behind its host, where these are equal."""
    split = [_split(link.strip()) for link in links]
    paths = [each.path.strip("/") for each in split]
    behind = [
        f"{path}?{each.query}" if each.query else path
        for path, each in zip(paths, split, strict=True)
    ]
    ways = ([path.rpartition("/")[2] for path in paths], paths, behind)
    best = next((way for way in ways if len(set(way)) == len(way)), behind)
    return {link: _end(part) for link, part in zip(links, best, strict=True)}


def _split(link: str) -> SplitResult:
    try:
        return urlsplit(link)
    except ValueError:  # such as http://[
        return SplitResult("", "", link, "", "")


def _end(part: str) -> str:
    """The end of a part, which differs more often than its begin."""
    return part if len(part) <= _LETTERS else f"…{part[1 - _LETTERS :]}"
