"""Compare an index on a cluster with what was written."""

from __future__ import annotations

from sicetnon.cluster.connection import Connection
from sicetnon.cluster.counting import count_documents
from sicetnon.cluster.layout import live
from sicetnon.cluster.state import read_state, required_index
from sicetnon.errors import BrokenIndexError


def verify_cluster(connection: Connection) -> None:
    """Compare the documents, their lengths and their ids with what was written.

    Raises:
        BrokenIndexError: They differ.
    """
    index = required_index(connection)
    stored = read_state(connection, index)
    if stored is None or not stored.state.is_finished:
        raise BrokenIndexError(f"{connection.address}: was not loaded whole; build it again")
    state = stored.state
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
