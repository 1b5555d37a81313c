"""Merging postings: the runs of one build, or the segments of an index, into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.pairs import PairWriter
from sicetnon.index.postings import copy_postings, count_live
from sicetnon.index.storage import ArrayWriter, StoredFile, damaged, is_ordered, write_array

BLOCK_POSTINGS = 1 << 22
"""Number of postings that are merged at a time; it bounds the memory."""


@dataclass(frozen=True)
class Source:
    """Postings to be merged, by term and then by document.

    Attributes:
        offsets: The beginning of each term's postings, int64, shape (terms + 1,).
        documents: int32, shape (postings,).
        frequencies: uint16, shape (postings, fields).
        terms: For each merged term this source's own number of it, or a negative one.
        renumbered: For each of its documents the merged number, or a negative one.
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
        """The number of postings that each merged term gets from here.

        Raises:
            BrokenIndexError: The postings are damaged.
        """
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

    def wrong_document(self) -> BrokenIndexError:
        """The error for postings of documents that there are not."""
        return damaged(
            self.folder / "documents", f"found a document beyond the {len(self.renumbered):,}"
        )


def merge_postings(
    sources: Sequence[Source],
    terms: int,
    lengths: NDArray[np.int32],
    folder: Path,
    block_postings: int = BLOCK_POSTINGS,
) -> dict[str, StoredFile]:
    """Write the merged postings of several sources, whose documents follow one another.

    Args:
        sources: In the order of their merged document numbers.
        terms: The number of merged terms.
        lengths: Terms by merged document and field, shape (documents, fields).
        folder: The folder for the files.
        block_postings: The number of postings that are merged at a time.

    Returns:
        The files written: `posting_offsets`, `documents`, `frequencies`, `codes`, `totals`, and
        those of `PairWriter`.

    Raises:
        BrokenIndexError: The postings of a source are damaged.
    """
    offsets = np.zeros(terms + 1, dtype=np.int64)
    for source in sources:
        offsets[1:] += source.counts()
    np.cumsum(offsets, out=offsets)
    fields = lengths.shape[1]
    pairs = PairWriter(folder, lengths.sum(axis=1, dtype=np.int32))
    writers: dict[str, ArrayWriter] = {
        "documents": ArrayWriter(folder / "documents", np.int32),
        "frequencies": ArrayWriter(folder / "frequencies", np.uint16, (fields,)),
        "codes": ArrayWriter(folder / "codes", np.uint16),
        "totals": ArrayWriter(folder / "totals", np.int64, (fields,)),
    }
    try:
        for first, end in _blocks(offsets, block_postings):
            merged = _merge_block(sources, offsets, first, end, fields)
            documents, frequencies, sums, totals = merged
            codes = pairs.codes(offsets[first : end + 1] - offsets[first], documents, sums)
            pieces: tuple[NDArray[Any], ...] = documents, frequencies, codes, totals
            for writer, piece in zip(writers.values(), pieces, strict=True):
                writer.append(piece)
        files = {name: writer.close() for name, writer in writers.items()}
        files |= pairs.close()
    finally:
        pairs.abandon()
        for writer in writers.values():
            writer.abandon()
    files["posting_offsets"] = write_array(folder / "posting_offsets", offsets)
    return files


def _blocks(offsets: NDArray[np.int64], postings: int) -> list[tuple[int, int]]:
    """Ranges of terms with at most so many postings each (one term may have more)."""
    blocks, first, terms = [], 0, len(offsets) - 1
    while first < terms:
        wanted = offsets[first] + postings
        end = max(int(np.searchsorted(offsets, wanted, side="right")) - 1, first + 1)
        blocks.append((first, end))
        first = end
    return blocks


def _merge_block(
    sources: Sequence[Source], offsets: NDArray[np.int64], first: int, end: int, fields: int
) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.int64]]:
    postings = int(offsets[end] - offsets[first])
    documents = np.empty(postings, dtype=np.int32)
    frequencies = np.empty((postings, fields), dtype=np.uint16)
    sums = np.empty(postings, dtype=np.uint16)
    totals = np.zeros((end - first, fields), dtype=np.int64)
    places = offsets[first:end] - offsets[first]
    for source in sources:
        if not copy_postings(
            source.terms[first:end], source.offsets, source.documents, source.frequencies,
            source.renumbered, places, documents, frequencies, sums, totals,
        ):  # fmt: skip
            raise source.wrong_document()
        source.release()
    return documents, frequencies, sums, totals
