"""The index as people use it, on a cluster."""

from __future__ import annotations

from sicetnon.cluster.reader import ClusterReader
from sicetnon.library.index import Index


class ClusterIndex(ClusterReader, Index):  # type: ignore[misc]  # `open` of both
    """An index on a cluster; `Index.open` with an address gives one."""
