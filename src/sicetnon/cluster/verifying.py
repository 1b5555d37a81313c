"""Verify an index on a cluster against the counts and checksums of its state."""

from __future__ import annotations

from contextlib import closing

from sicetnon.cluster.address import Address
from sicetnon.cluster.building import unfinished_builds
from sicetnon.cluster.connection import Connection
from sicetnon.cluster.counting import count_documents
from sicetnon.cluster.layout import live
from sicetnon.cluster.state import finished_state, required_index
from sicetnon.errors import BrokenIndexError


def verify_cluster(connection: Connection) -> None:
    """Compare documents, lengths and ids with the counts and checksums of the state.

    Raises:
        BrokenIndexError: They differ.
    """
    index = required_index(connection)
    state = finished_state(connection, index).state
    found = count_documents(connection, index, len(state.fields), live(state.change, state.pending))
    for name, there, written in (
        ("documents", found.documents, state.documents),
        ("terms by field", found.field_totals, state.field_totals),
        ("checksums of the ids", found.hashes, state.hashes),
    ):
        if there != written:
            raise BrokenIndexError(
                f"{connection.address}: found {name}: {there}, expected {written}; build it again"
            )


def cluster_facts(address: Address) -> list[tuple[str, str]]:
    """Shards, copies, nodes and size of an index, and builds that were stopped."""
    with closing(Connection(address)) as connection:
        index = required_index(connection)
        settings = connection.ask("GET", f"/{index}/_settings")[index]["settings"]["index"]
        stats = connection.ask("GET", f"/{index}/_stats/store,docs")
        whole, copies = stats["_shards"]["total"], stats["_shards"]["successful"]
        size = stats["_all"]["total"]["store"]["size_in_bytes"]
        facts = [
            ("shards", settings["number_of_shards"]),
            ("copies", f"{copies} of {whole} there"),
            ("size", f"{size / 1e6:,.1f} MB, all copies"),
        ]
        if stopped := unfinished_builds(connection, index):
            facts.append(("unfinished", ", ".join(stopped)))
        return facts
