"""Merging postings: the runs of one build, or the segments of an index, into one."""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.packed import PackedPostings, PackedWriter
from sicetnon.index.postings import copy_postings, count_live
from sicetnon.index.stages import Stage
from sicetnon.index.storage import StoredFile, damaged, is_ordered

BLOCK_POSTINGS = 1 << 18
"""Number of postings that are merged at a time; it bounds the memory."""

SAME = np.empty(0, np.int32)
"""Marks a source whose documents keep their numbers."""


class Merging(Protocol):
    """Postings to be merged."""

    def counts(self) -> NDArray[np.int64]:
        """The number of postings that each merged term gets from here.

        Raises:
            BrokenIndexError: The postings are damaged.
        """

    def copy(self, first: int, end: int, places: NDArray[np.int64], merged: Merged) -> None:
        """Copy the postings of a block of merged terms.

        Args:
            first: The first of the terms.
            end: The end of the terms.
            places: The place of the next posting of each; updated.
            merged: Written.

        Raises:
            BrokenIndexError: The postings are damaged.
        """


class Merged(NamedTuple):
    """The postings of a block of merged terms.

    Attributes:
        documents: int32, shape (postings,).
        frequencies: uint16, shape (postings, fields).
        totals: Collection frequencies, int64, shape (terms, fields).
    """

    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """Postings to be merged, by term and then by document.

    Attributes:
        offsets: The beginning of each term's postings, int64, shape (terms + 1,).
        documents: int32, shape (postings,).
        frequencies: uint16, shape (postings, fields).
        terms: For each merged term this source's own number of it, or a negative one.
        renumbered: For each of its documents the merged number, or a negative one; or `SAME`.
        release: Called when a block is done, to give memory back.
        folder: Where the postings are kept, for messages.
    """

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]
    terms: NDArray[np.int32]
    renumbered: NDArray[np.int32]
    release: Callable[[], None]
    folder: Path

    def counts(self) -> NDArray[np.int64]:
        """See `Merging.counts`."""
        if not is_ordered(self.offsets, len(self.documents)):
            raise damaged(self.folder / "posting_offsets", "they are not in order")
        counts = np.zeros(len(self.terms), dtype=np.int64)
        if (self.renumbered < 0).any():
            if not count_live(self.terms, self.offsets, self.documents, self.renumbered, counts):
                raise self.wrong_document()
        else:
            known = self.terms >= 0
            counts[known] = np.diff(self.offsets)[self.terms[known]]
        return counts

    def copy(self, first: int, end: int, places: NDArray[np.int64], merged: Merged) -> None:
        """See `Merging.copy`."""
        if not copy_postings(
            self.terms[first:end], self.offsets, self.documents, self.frequencies,
            self.renumbered, places, *merged,
        ):  # fmt: skip
            raise self.wrong_document()
        self.release()

    def wrong_document(self) -> BrokenIndexError:
        """The error for postings of documents that there are not."""
        what = f"a document beyond the {len(self.renumbered):,}"
        if not len(self.renumbered):
            what = "more postings than its offsets tell"
        return damaged(self.folder / "documents", f"found {what}")


@dataclass(frozen=True)
class PackedSource:
    """Packed postings to be merged.

    Attributes:
        postings: The postings.
        terms: As in `Source`.
        renumbered: Likewise.
        release: Likewise.
    """

    postings: PackedPostings
    terms: NDArray[np.int32]
    renumbered: NDArray[np.int32]
    release: Callable[[], None]

    def counts(self) -> NDArray[np.int64]:
        """See `Merging.counts`."""
        counts = np.zeros(len(self.terms), dtype=np.int64)
        known = self.terms >= 0
        counts[known] = self.postings.counts()[self.terms[known]]
        if not (self.renumbered < 0).any():
            return counts
        live = np.zeros_like(counts)
        for first, end in blocks(np.append(0, np.cumsum(counts)), BLOCK_POSTINGS):
            own = self._own(first, end)
            count_live(*own[:3], self.renumbered, live[first:end])
            self.release()
        return live

    def copy(self, first: int, end: int, places: NDArray[np.int64], merged: Merged) -> None:
        """See `Merging.copy`."""
        if not copy_postings(*self._own(first, end), self.renumbered, places, *merged):
            raise self.postings.damaged()
        self.release()

    def _own(
        self, first: int, end: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """For each of some merged terms its number among those here, and the postings of these."""
        terms = self.terms[first:end]
        known = terms >= 0
        numbers = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
        return numbers, *self.postings.unpack_all(terms[known])


def merge_postings(
    sources: Sequence[Merging],
    terms: int,
    shape: tuple[int, int],
    folder: Path,
    block_postings: int = BLOCK_POSTINGS,
) -> dict[str, StoredFile]:
    """Write the merged postings of several sources, whose documents follow one another.

    Args:
        sources: In the order of their merged document numbers.
        terms: The number of merged terms.
        shape: The number of merged documents, and of fields.
        folder: The folder for the files.
        block_postings: The number of postings that are merged at a time.

    Returns:
        The files written, those of `PackedWriter`.

    Raises:
        BrokenIndexError: The postings of a source are damaged.
    """
    offsets = offsets_of(sources, terms)
    writer = PackedWriter(folder, *shape)
    try:
        ranges = blocks(offsets, block_postings)
        ahead = _ahead(lambda each: merge_block(sources, offsets, *each, shape[1]), ranges)
        with contextlib.closing(ahead) as merged:
            for (first, end), block in zip(ranges, merged, strict=True):
                writer.append(offsets[first : end + 1] - offsets[first], *block)
        return writer.close()
    finally:
        writer.abandon()


def _ahead(
    merge: Callable[[tuple[int, int]], Merged], ranges: Sequence[tuple[int, int]]
) -> Generator[Merged, None, None]:
    """The merged postings of ranges of terms; while one is packed, a thread merges the next."""
    merging, waiting = Stage(), deque[Future[Merged]]()
    try:
        for each in ranges:
            waiting.append(merging.submit(functools.partial(merge, each)))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        for last in waiting:
            yield last.result()
    finally:
        merging.stop()


def offsets_of(sources: Sequence[Merging], terms: int) -> NDArray[np.int64]:
    """The beginning of the merged postings of each term, and the last end."""
    offsets = np.zeros(terms + 1, dtype=np.int64)
    for source in sources:
        offsets[1:] += source.counts()
    return np.cumsum(offsets, out=offsets)


def blocks(offsets: NDArray[np.int64], postings: int) -> list[tuple[int, int]]:
    """Ranges of terms with at most so many postings each (one term may have more)."""
    blocks, first, terms = [], 0, len(offsets) - 1
    while first < terms:
        wanted = offsets[first] + postings
        end = max(int(np.searchsorted(offsets, wanted, side="right")) - 1, first + 1)
        blocks.append((first, end))
        first = end
    return blocks


def merge_block(
    sources: Sequence[Merging], offsets: NDArray[np.int64], first: int, end: int, fields: int
) -> Merged:
    """The merged postings of a range of terms; the ranges of a merge follow one another.

    Args:
        sources: See `merge_postings`.
        offsets: The beginning of the merged postings of each term, and the last end.
        first: The first term.
        end: The end of the terms.
        fields: The number of fields.
    """
    postings = int(offsets[end] - offsets[first])
    merged = Merged(
        np.empty(postings, dtype=np.int32),
        np.empty((postings, fields), dtype=np.uint16),
        np.zeros((end - first, fields), dtype=np.int64),
    )
    places = offsets[first:end] - offsets[first]
    for source in sources:
        source.copy(first, end, places, merged)
    return merged
