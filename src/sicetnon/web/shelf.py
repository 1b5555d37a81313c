"""The index that is served: opened again when it changes on disk."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Hashable

from sicetnon.errors import SicetnonError
from sicetnon.index.manifest import MANIFEST
from sicetnon.library.cluster_index import ClusterIndex
from sicetnon.library.index import Index

_LOG = logging.getLogger(__name__)
_PAUSE_SECONDS = 1.0
"""Seconds until an index that could not be opened is tried again."""


class Shelf:
    """Holds the index that requests read. The event loop alone uses it.

    Attributes:
        index: The index that was opened last.
    """

    def __init__(self, index: Index):
        self.index = index
        self._version = self._failed = _version(index)
        self._again, self._lock = 0.0, asyncio.Lock()

    async def current(self) -> tuple[Index, Hashable]:
        """The index as it is on disk, and its version, which keys of caches hold.

        An index that cannot be opened leaves the one that was open, and is tried again: a copy may
        bring the manifest before the segments that it names. Requests that still read an older
        one keep it open.
        """
        # an index on a cluster follows its changes by itself
        if isinstance(self.index, ClusterIndex):
            return self.index, _version(self.index)
        if _version(self.index) != self._version and time.monotonic() >= self._again:
            async with self._lock:
                await self._open_again()
        return self.index, self._version

    async def _open_again(self) -> None:
        version, ranker = _version(self.index), self.index.ranker
        if version == self._version or time.monotonic() < self._again:
            return  # another request was first
        try:
            # others are answered meanwhile
            self.index = await asyncio.to_thread(Index.open, self.index.folder)
        except (SicetnonError, OSError) as error:
            self._again = time.monotonic() + _PAUSE_SECONDS
            if version != self._failed:
                _LOG.warning("the index has changed and cannot be opened: %s", error)
            self._failed = version
        else:
            self.index.ranker = ranker
            self._version = version
            _LOG.info("the index has changed; opened it again")


def _version(index: Index) -> Hashable:
    if isinstance(index, ClusterIndex):
        return index.known_version
    try:
        stat = (index.folder / MANIFEST).stat()
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_ino)
