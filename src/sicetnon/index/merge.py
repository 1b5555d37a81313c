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
from sicetnon.index.array_files import StoredFile, damaged, is_ordered
from sicetnon.index.background import BackgroundThread
from sicetnon.index.posting_file import PackedPostings, PackedWriter
from sicetnon.jit import compiled

BLOCK_POSTINGS = 1 << 18
"""Number of postings that are merged at a time; it bounds the memory."""

SAME = np.empty(0, np.int32)
"""Marks a source whose documents keep their numbers."""


# what numpy takes, in seconds per posting
_POSTING_SECONDS = 2e-7


class Merging(Protocol):
    """Postings to be merged."""

    def counts(self) -> NDArray[np.int64]:
        """The number of postings that each merged term gets from here."""

    def copy(self, first: int, end: int, places: NDArray[np.int64], merged: Merged) -> None:
        """Copy the postings of a block of merged terms.

        Args:
            first: The first of the terms.
            end: The end of the terms.
            places: The place of the next posting of each; updated.
            merged: Written.
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
        folder: The folder of the postings, for messages.
    """

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]
    terms: NDArray[np.int32]
    renumbered: NDArray[np.int32]
    release: Callable[[], None]
    folder: Path

    def counts(self) -> NDArray[np.int64]:
        """The number of postings that each merged term gets from here."""
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
        """Copy the postings of a block of merged terms."""
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
        """The number of postings that each merged term gets from here."""
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
        """Copy the postings of a block of merged terms."""
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
    merging, waiting = BackgroundThread(), deque[Future[Merged]]()
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
        sources: In the order of their merged document numbers.
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


def ranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for as many as each count says."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)


def _source_positions(
    source_terms: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of the source's postings of all merged terms, and the merged term of each."""
    known = np.flatnonzero(source_terms >= 0)
    begins = offsets[source_terms[known]]
    counts = offsets[source_terms[known] + 1] - begins
    return np.repeat(begins, counts) + ranks(counts), np.repeat(known, counts)


def _are_documents(documents: NDArray[np.int32], renumbered: NDArray[np.int32]) -> bool:
    return bool(documents.min(initial=0) >= 0 and documents.max(initial=-1) < renumbered.size)


def _numpy_count_live(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    renumbered: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> bool:
    places, merged = _source_positions(source_terms, offsets)
    if not _are_documents(documents[places], renumbered):
        return False
    kept = merged[renumbered[documents[places]] >= 0]
    counts += np.bincount(kept, minlength=counts.size)
    return True


@compiled(
    numpy=_numpy_count_live,
    seconds=lambda _, __, documents, *___: _POSTING_SECONDS * documents.size,
    allocates=False,
)
def count_live(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    renumbered: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> bool:
    """Add to `counts`, by merged term, the postings of documents that are not deleted.

    The offsets must be in order. Returns whether every posting is one of a known document.
    """
    for merged in range(source_terms.size):
        term = source_terms[merged]
        if term >= 0:
            for place in range(offsets[term], offsets[term + 1]):
                if not 0 <= documents[place] < renumbered.size:
                    return False
                if renumbered[documents[place]] >= 0:
                    counts[merged] += 1
    return True


def _numpy_copy_postings(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    renumbered: NDArray[np.int32],
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> bool:
    found, merged = _source_positions(source_terms, offsets)
    numbers = documents[found]
    if renumbered.size:
        if not _are_documents(numbers, renumbered):
            return False
        numbers = renumbered[numbers]
        found, merged, numbers = found[numbers >= 0], merged[numbers >= 0], numbers[numbers >= 0]
    counts = np.bincount(merged, minlength=places.size)
    into = places[merged] + ranks(counts)
    if into.size and into.max() >= merged_documents.size:
        return False
    places += counts
    merged_documents[into], merged_frequencies[into] = numbers, frequencies[found]
    np.add.at(totals, merged, frequencies[found])
    return True


@compiled(
    numpy=_numpy_copy_postings,
    seconds=lambda _, __, documents, *___: _POSTING_SECONDS * documents.size,
    allocates=False,
)
def copy_postings(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    renumbered: NDArray[np.int32],
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> bool:
    """Copy one source's postings of a block of merged terms to their places.

    Args:
        source_terms: The source's term for each merged term of the block, or a negative number.
        offsets: The beginning of the postings of the source's terms, in order.
        documents: The source's postings.
        frequencies: Likewise, shape (postings, fields).
        renumbered: The new number of each of the source's documents, negative for a deleted one;
            of size 0 if documents keep their numbers.
        places: The place of the next posting of each merged term; updated.
        merged_documents: Written.
        merged_frequencies: Written.
        totals: Collection frequencies, shape (terms of the block, fields); added to.

    Returns:
        Whether every posting is one of a known document, and has a place.
    """
    for merged in range(source_terms.size):
        term = source_terms[merged]
        if term < 0:
            continue
        for posting in range(offsets[term], offsets[term + 1]):
            document = documents[posting]
            if renumbered.size:
                if not 0 <= document < renumbered.size:
                    return False
                document = renumbered[document]
                if document < 0:
                    continue
            place = places[merged]
            if place >= merged_documents.size:
                return False
            places[merged] = place + 1
            merged_documents[place] = document
            for field in range(frequencies.shape[1]):
                frequency = np.int64(frequencies[posting, field])
                merged_frequencies[place, field] = frequency
                totals[merged, field] += frequency
    return True
