"""The index that is served: opened again when it changes on disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable

from sicetnon.errors import BrokenIndexError
from sicetnon.index.manifest import MANIFEST
from sicetnon.library.cluster_index import ClusterIndex
from sicetnon.library.index import Index

_LOG = logging.getLogger(__name__)


class Shelf:
    """Holds the index that requests read."""

    def __init__(self, index: Index):
        self._index = index
        self._version = _version(index)
        self._lock = threading.Lock()

    def current(self) -> tuple[Index, Hashable]:
        """The index as it is on disk, and its version, which keys of caches hold.

        An index that cannot be opened leaves the one that was open. Requests that still read an
        older one keep it open.
        """
        version = _version(self._index)
        with self._lock:
            # an index on a cluster follows its changes by itself
            if version != self._version and not isinstance(self._index, ClusterIndex):
                try:
                    ranker = self._index.ranker
                    self._index = Index.open(self._index.folder)
                    self._index.ranker = ranker
                    _LOG.info("the index has changed; opened it again")
                except BrokenIndexError as error:
                    _LOG.warning("the index has changed and cannot be opened: %s", error)
            self._version = version
            return self._index, self._version


def _version(index: Index) -> Hashable:
    if isinstance(index, ClusterIndex):
        return index.known_version
    try:
        stat = (index.folder / MANIFEST).stat()
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_ino)
