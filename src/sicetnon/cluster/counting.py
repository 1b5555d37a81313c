"""What an index on a cluster holds, counted by the cluster itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sicetnon.cluster.connection import USUAL, Connection, Patience
from sicetnon.cluster.layout import length_field, live
from sicetnon.cluster.shards import WHOLE, Tolerance, whole

_LONG = Patience(120.0, 240.0)
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Counted:
    """What an index holds.

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
    found = whole(
        connection.ask("POST", f"/{index}/_search", body, patience=_LONG), connection.address
    )
    sums = [int(found["aggregations"][name]["value"]) for name in names]
    return Counted(
        found["hits"]["total"]["value"], tuple(sums[:fields]), (sums[fields], sums[fields + 1])
    )


def refresh(connection: Connection, index: str) -> None:
    """Make all documents findable, on all copies that are there."""
    connection.ask("POST", f"/{index}/_refresh", patience=_LONG)


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
        query = [{"range": {"number": limits}}, {"term": {"added": change}}]
        body = {
            "size": _AT_ONCE, "query": {"bool": {"filter": query}}, "_source": False,
            "stored_fields": "_none_", "docvalue_fields": ["number"], "sort": ["_doc"],
        }  # fmt: skip
        answer = connection.ask("POST", f"/{index}/_search", body, patience=_LONG)
        hits = whole(answer, connection.address)["hits"]["hits"]
        found.update(hit["fields"]["number"][0] for hit in hits)
    return found


def numbers_of(
    connection: Connection,
    index: str,
    ids: Sequence[str],
    change: int,
    pending: Sequence[int] = (),
    patience: Patience = USUAL,
    tolerance: Tolerance = WHOLE,
) -> dict[str, int]:
    """The numbers of documents by id; those that the index does not have are left out.

    Args:
        connection: The cluster.
        index: The index, refreshed.
        ids: The ids.
        change: The change after which it is asked.
        pending: See `layout.live`.
        patience: How long a request is tried.
        tolerance: Whether shards may be lacking.
    """
    found: dict[str, int] = {}
    for part in _parts(ids):
        query = [{"terms": {"id": part}}, live(change, pending)]
        body = {
            "size": len(part), "query": {"bool": {"filter": query}}, "_source": False,
            "stored_fields": "_none_", "docvalue_fields": ["id", "number"],
        }  # fmt: skip
        answer = connection.ask(
            "POST", f"/{index}/_search", body, params=tolerance.params, patience=patience
        )
        for hit in tolerance.checked(answer, connection.address)["hits"]["hits"]:
            found[hit["fields"]["id"][0]] = hit["fields"]["number"][0]
    return found


def _parts(ids: Sequence[str], size: int = 5000) -> Iterator[list[str]]:
    for first in range(0, len(ids), size):
        yield list(ids[first : first + size])
