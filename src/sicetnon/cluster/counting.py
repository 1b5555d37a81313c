"""Counts of an index on a cluster, by the cluster itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sicetnon.cluster.connection import USUAL, Connection, TimeLimits
from sicetnon.cluster.layout import length_field, live
from sicetnon.cluster.shards import WHOLE, Tolerance

_LONG = TimeLimits(120.0, 240.0)
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Counted:
    """Counts of an index.

    Attributes:
        documents: Number of documents.
        field_totals: Terms of all documents by field.
        hashes: The sums of the hashes of all ids.
    """

    documents: int
    field_totals: tuple[int, ...]
    hashes: tuple[int, int]


def count_documents(
    connection: Connection, index: str, fields: int, query: dict[str, Any]
) -> Counted:
    """Count the documents that a query finds. The index must be refreshed before.

    Args:
        connection: The cluster.
        index: The index.
        fields: Number of its text fields.
        query: Finds the documents.
    """
    names = [*map(length_field, range(fields)), "hash_a", "hash_b"]
    body = {
        "size": 0,
        "track_total_hits": True,
        "query": {"bool": {"filter": [query]}},
        "aggs": {name: {"sum": {"field": name}} for name in names},
    }
    path = f"/{index}/_search"
    # a shard that is busy makes the whole answer an error, which is asked for again
    answer = connection.ask("POST", path, body, params=WHOLE.params, time_limits=_LONG)
    found = WHOLE.checked(answer, connection.address)
    sums = [int(found["aggregations"][name]["value"]) for name in names]
    return Counted(
        found["hits"]["total"]["value"], tuple(sums[:fields]), (sums[fields], sums[fields + 1])
    )


def refresh(connection: Connection, index: str) -> None:
    """Make all documents findable, on all copies that are there."""
    connection.ask("POST", f"/{index}/_refresh", time_limits=_LONG)


def numbers_between(connection: Connection, index: str, numbers: range, change: int) -> set[int]:
    """The numbers of a range that the index has a document of.

    Args:
        connection: The cluster.
        index: The index, refreshed.
        numbers: The range.
        change: The change that the documents belong to.
    """
    found: set[int] = set()
    for first in range(numbers.start, numbers.stop, _AT_ONCE):
        limits = {"gte": first, "lt": min(first + _AT_ONCE, numbers.stop)}
        query: list[dict[str, Any]] = [{"range": {"number": limits}}, {"term": {"added": change}}]
        rows = stored_values(connection, index, query, ["number"], _AT_ONCE, _LONG)
        found.update(number for (number,) in rows)
    return found


def numbers_of(
    connection: Connection,
    index: str,
    ids: Sequence[str],
    change: int,
    pending: Sequence[int] = (),
    time_limits: TimeLimits = USUAL,
    tolerance: Tolerance = WHOLE,
) -> dict[str, int]:
    """The numbers of documents by id; those that the index does not have are left out.

    Args:
        connection: The cluster.
        index: The index, refreshed.
        ids: The ids.
        change: The change after which it is asked.
        pending: See `layout.live`.
        time_limits: Time limits of a request and of its retries.
        tolerance: Whether shards may be lacking.
    """
    found: dict[str, int] = {}
    for part in _parts(ids):
        query = [{"terms": {"id": part}}, live(change, pending)]
        columns = ["id", "number"]
        rows = stored_values(connection, index, query, columns, len(part), time_limits, tolerance)
        found.update(rows)
    return found


def stored_values(
    connection: Connection,
    index: str,
    filters: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    size: int,
    time_limits: TimeLimits = USUAL,
    tolerance: Tolerance = WHOLE,
) -> list[tuple[Any, ...]]:
    """The values of some fields of the documents that pass filters, a row per document.

    Args:
        connection: The cluster.
        index: The index, refreshed.
        filters: Queries that each document answers.
        columns: Names of the fields.
        size: The most documents.
        time_limits: Time limits of a request and of its retries.
        tolerance: Whether shards may be lacking.
    """
    body = {
        "size": size, "query": {"bool": {"filter": filters}}, "_source": False,
        "stored_fields": "_none_", "docvalue_fields": columns, "sort": ["_doc"],
    }  # fmt: skip
    answer = connection.ask(
        "POST", f"/{index}/_search", body, params=tolerance.params, time_limits=time_limits
    )
    hits = tolerance.checked(answer, connection.address)["hits"]["hits"]
    return [tuple(hit["fields"][name][0] for name in columns) for hit in hits]


def _parts(ids: Sequence[str], size: int = 5000) -> Iterator[list[str]]:
    for first in range(0, len(ids), size):
        yield list(ids[first : first + size])
