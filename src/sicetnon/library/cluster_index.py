"""The index as people use it, on a cluster."""

from __future__ import annotations

import functools
from typing import Any

from sicetnon.cluster.reader import ClusterReader
from sicetnon.library.answers import Answer
from sicetnon.library.index import Index


class ClusterIndex(ClusterReader, Index):  # type: ignore[misc]  # `open` of both
    """An index on a cluster; `Index.open` with an address gives one.

    A search, the records of its answers included, waits for the cluster as long as one request may.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is the address alone; user and password are of the environment."""
        self.check_open()
        return functools.partial(ClusterIndex.open, partial=self._is_partial), (self.folder,)

    def search(self, question: str, k: int = 10, **options: Any) -> list[Answer]:
        """See `Index.search`."""
        with self.waiting_once():
            return super().search(question, k, **options)

    def nearest_topics(self, question: str, k: int = 5) -> list[str]:
        """See `Index.nearest_topics`."""
        with self.waiting_once():
            return super().nearest_topics(question, k)
