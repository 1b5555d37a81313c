"""Results that come page by page, from services that may not count as they say they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sicetnon.errors import counted
from sicetnon.formats.json_records import mended
from sicetnon.records import Topic
from sicetnon.services.remote import EndOfResults, Request, Service, UnusableAnswer

H = TypeVar("H")
_PAGE_SIZE = 100


def query_of(topic: Topic) -> str:
    """The title of a topic, as a service can take it."""
    return " ".join(mended(topic.title).split())


def read_pages(
    service: Service,
    query: str,
    request: Callable[[str, int, int], Request],
    parse: Callable[[bytes], tuple[Sequence[tuple[str, H]], int]],
    wanted: int,
) -> dict[str, H]:
    """The first results of a search by their ids, in the order of the service.

    Every page must bring at least one new id, so the search always ends. A page without a new id,
    or an empty page where more was promised, ends the search with a warning and is not kept: the
    next run asks for it again.

    Args:
        service: The service.
        query: The query; an empty one finds nothing.
        request: The request for a page, from the query, the offset of its first result and its
            size.
        parse: Ids and results of a page, and how many results the service counts in all; raises
            `UnusableAnswer`.
        wanted: Number of results wanted at most.

    Raises:
        ServiceError: A page is not available.
    """
    found: dict[str, H] = {}
    offset = total = 0
    size, warned = min(wanted, _PAGE_SIZE), False
    while query and len(found) < wanted:

        def read(body: bytes) -> tuple[Sequence[tuple[str, H]], int]:
            hits, count = parse(body)
            _check(hits, max(count, total), offset, found)  # noqa: B023  # called at once
            return hits, count

        try:
            hits, count = service.ask(request(query, offset, size), read)
        except EndOfResults as end:
            service.say(f"{end}; going on with the {counted(len(found), 'result')} before it")
            break
        known = len(found)
        found.update((name, hit) for name, hit in hits if name not in found)
        if len(found) - known < len(hits) and not warned:
            service.say(f"{service.name} gave some results more than once; each is taken once")
            warned = True
        offset, total = offset + len(hits), max(count, total)
        # a service that counts less than it gave does not count; only a short page is its last
        if offset >= total and (offset == total or len(hits) < size):
            break
    return dict(list(found.items())[:wanted])


def _check(hits: Sequence[tuple[str, H]], total: int, offset: int, found: Mapping[str, H]) -> None:
    """Raise UnusableAnswer for a page that cannot be taken."""
    if not hits and offset < total:
        raise UnusableAnswer(
            f"sent an empty page after {offset:,} of {counted(total, 'result')}", is_end=offset > 0
        )
    if hits and all(name in found for name, _ in hits):
        raise UnusableAnswer(
            f"repeated results at {offset:,} that it had given before", is_end=True, is_final=True
        )
