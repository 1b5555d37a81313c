"""Pairs of frequency and length: what a weighting model sees of a posting.

The postings of a frequent term hold far fewer distinct pairs of a frequency over all fields and a
document's length than postings. A search computes the score of each pair once, and looks it up for
each posting by the number of its pair, which is the posting's code.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.postings import number_pairs
from sicetnon.index.storage import ArrayWriter, StoredFile, write_array

PAIRED_FROM = 256
"""Postings from which a term has pairs. The codes of rarer terms are frequencies."""
MAX_PAIRS = 1 << 16
"""A term with more pairs than codes can number has none: its codes are frequencies, too."""

PAIR_OFFSETS, PAIR_FREQUENCIES, PAIR_LENGTHS = "pair_offsets", "pair_frequencies", "pair_lengths"


class PairWriter:
    """Finds the pairs of terms, and writes them to files of a segment.

    Args:
        folder: The segment's folder.
        lengths: Terms of each document over all fields, int32, shape (documents,).
    """

    def __init__(self, folder: Path, lengths: NDArray[np.int32]):
        self._folder, self._lengths = folder, lengths
        self._room = np.empty(MAX_PAIRS, dtype=np.int64)
        self._ends = [0]
        self._frequencies = ArrayWriter(folder / PAIR_FREQUENCIES, np.uint16)
        self._lengths_writer = ArrayWriter(folder / PAIR_LENGTHS, np.int32)

    def codes(
        self,
        offsets: NDArray[np.int64],
        documents: NDArray[np.int32],
        sums: NDArray[np.uint16],
    ) -> NDArray[np.uint16]:
        """The codes of the postings of the next terms, whose pairs are written.

        Args:
            offsets: The beginning of the postings of each of these terms, and the last end.
            documents: The documents of the postings, shape (postings,).
            sums: Their frequencies over all fields; changed.
        """
        for begin, end in itertools.pairwise(offsets.tolist()):
            found = 0
            if end - begin >= PAIRED_FROM:
                found = self._code(documents[begin:end], sums[begin:end])
            self._ends.append(self._ends[-1] + found)
        return sums

    def _code(self, documents: NDArray[np.int32], sums: NDArray[np.uint16]) -> int:
        numbers = np.empty_like(sums)
        found = number_pairs(documents, sums, self._lengths, self._room, numbers)
        if found < 0:
            return 0
        pairs = self._room[:found]
        # in order, so that equal frequencies stand together: a model may compute once for them
        order = np.argsort(pairs)
        codes = np.empty(found, dtype=np.uint16)
        codes[order] = np.arange(found)
        sums[:] = codes[numbers]
        self._frequencies.append(pairs[order] >> 32)
        self._lengths_writer.append(pairs[order] & 0xFFFFFFFF)
        return found

    def close(self) -> dict[str, StoredFile]:
        """Write the rest, and describe the files."""
        return {
            PAIR_OFFSETS: write_array(self._folder / PAIR_OFFSETS, np.array(self._ends, np.int64)),
            PAIR_FREQUENCIES: self._frequencies.close(),
            PAIR_LENGTHS: self._lengths_writer.close(),
        }

    def abandon(self) -> None:
        """Close the files, which may be unfinished."""
        self._frequencies.abandon()
        self._lengths_writer.abandon()
