"""A segment's postings on disk: a stream of bits with a record for each term."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.array_files import ArrayWriter, StoredFile, damaged, write_array
from sicetnon.index.posting_cache import NumberedPostings
from sicetnon.index.posting_codec import (
    COUNTED_FROM,
    HEADER,
    MAX_FREQUENCY,
    number_patterns,
    pack_records,
    plan_records,
    read_headers,
    unpack_postings,
)
from sicetnon.index.term_table import StoredOffsets, write_offsets

POSTINGS, POSTING_OFFSETS, PATTERNS = "postings", "posting_offsets", "patterns"
_ROOM, _RANKED = 1 << 10, 1 << 18
"""Room for patterns at first, and postings by which they are ranked. Those of an index are the
same, then, however many postings are merged at a time."""
_KNOWN_RECORDS = 10_000

_Block: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]
]


class PackedWriter:
    """Packs the postings of one term after the other.

    Args:
        folder: The folder for the files.
        documents: The number of all documents.
        fields: The number of indexed fields.
    """

    def __init__(self, folder: Path, documents: int, fields: int):
        self._folder, self._documents = folder, documents
        self._file = ArrayWriter(folder / POSTINGS, np.uint64)
        self._patterns, self._headers_of = np.zeros((_ROOM, fields), np.uint16), 0
        self._ends = [np.zeros(1, np.int64)]
        self._begun = np.zeros(1, np.uint64)
        self._waiting: list[_Block] | None = []

    def append(
        self,
        offsets: NDArray[np.int64],
        documents: NDArray[np.int32],
        frequencies: NDArray[np.uint16],
        totals: NDArray[np.int64],
    ) -> None:
        """Pack the postings of the next terms.

        Args:
            offsets: The beginning of the postings of each of these terms, and the last end.
            documents: The documents of the postings, rising for each term.
            frequencies: Their frequencies, shape (postings, fields).
            totals: Occurrences of the terms, shape (terms, fields).
        """
        if self._waiting is None:
            self._pack(offsets, documents, frequencies, totals)
            return
        self._waiting.append((offsets, documents, frequencies, totals))
        if sum(len(block[1]) for block in self._waiting) >= _RANKED:
            self._rank()

    def close(self) -> dict[str, StoredFile]:
        """Write the rest, and describe the files."""
        self._rank()
        # one word more than there is, so that any two neighbours can be read together
        self._file.append(np.append(self._begun, np.zeros(1, np.uint64)))
        patterns = self._patterns[: self._headers_of]
        return {
            POSTINGS: self._file.close(),
            PATTERNS: write_array(self._folder / PATTERNS, patterns),
            **write_offsets(self._folder, POSTING_OFFSETS, np.concatenate(self._ends)),
        }

    def abandon(self) -> None:
        """Close the file, which may be unfinished."""
        self._file.abandon()

    def _rank(self) -> None:
        """Give low numbers, which are short, to frequent patterns; pack what waited for that."""
        waiting, self._waiting = self._waiting or [], None
        if not waiting:
            return
        some = np.concatenate([frequencies for _, _, frequencies, _ in waiting])[:_RANKED]
        counts = np.bincount(self._numbers(some), minlength=self._headers_of)
        order = np.argsort(-counts, kind="stable")
        self._patterns[: self._headers_of] = self._patterns[order]
        for block in waiting:
            self._pack(*block)

    def _pack(
        self,
        offsets: NDArray[np.int64],
        documents: NDArray[np.int32],
        frequencies: NDArray[np.uint16],
        totals: NDArray[np.int64],
    ) -> None:
        numbers = self._numbers(frequencies)
        shifts, ends = np.zeros((len(totals), 2), np.uint8), np.zeros(len(totals) + 1, np.int64)
        first = int(self._ends[-1][-1])
        ends[0] = first % 64
        plan_records(offsets, documents, numbers, totals, self._documents, shifts, ends)
        words = np.zeros(int(ends[-1]) // 64 + 1, np.uint64)
        words[0] = self._begun[0]
        pack_records(offsets, documents, numbers, totals, shifts, ends, words)
        self._file.append(words[:-1])
        self._begun = words[-1:]
        self._ends.append(ends[1:] + (first - first % 64))

    def _numbers(self, frequencies: NDArray[np.uint16]) -> NDArray[np.int32]:
        """The numbers of the patterns of postings; new patterns get the next ones."""
        before, numbers = self._headers_of, np.empty(len(frequencies), np.int32)
        known = number_patterns(frequencies, self._patterns, before, numbers)
        while known < 0:
            self._patterns = np.concatenate([self._patterns, np.zeros_like(self._patterns)])
            known = number_patterns(frequencies, self._patterns, before, numbers)
        self._headers_of = known
        return numbers


class PackedPostings:
    """Reads packed postings. Several threads may share a reader.

    Attributes:
        patterns: The distinct rows of frequencies, uint16, shape (patterns, fields).
        sums: The sum of each, `MAX_FREQUENCY` at most, uint16, shape (patterns,).

    Args:
        folder: The folder of the files.
        arrays: Their arrays.
        documents: The number of all documents.
    """

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]], documents: int):
        self._folder, self._documents = folder, documents
        self._words, self.patterns = arrays[POSTINGS], np.array(arrays[PATTERNS])
        self.sums = np.minimum(self.patterns.sum(axis=1, dtype=np.int64), MAX_FREQUENCY).astype(
            np.uint16
        )
        self._offsets = StoredOffsets(folder, arrays, POSTING_OFFSETS)
        self._headers_of: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        # the postings of these terms
        self._known, self._lock = 0, threading.Lock()
        # a posting takes a bit for its gap, and one for the number of its pattern
        self._most = 64 * len(self._words) // 2
        if self._offsets.end // 64 + 2 != len(self._words):
            raise damaged(folder / POSTING_OFFSETS, "they do not fit the postings")

    def __len__(self) -> int:
        return len(self._offsets)

    def count(self, term: int) -> int:
        """The number of a term's postings."""
        return int(self._record(term)[0][0, 0])

    def occurrences(self, term: int) -> tuple[int, NDArray[np.int64]]:
        """The number of a term's postings, and its occurrences, shape (fields,)."""
        headers, ends = self._record(term)
        count = int(headers[0, 0])
        if count >= COUNTED_FROM:
            return count, headers[0, HEADER:].copy()
        _, _, numbers = self._unpacked(headers, ends)
        return count, self.patterns[numbers].sum(axis=0, dtype=np.int64)

    def unpack(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The documents of a term's postings, and the numbers of their patterns."""
        _, documents, numbers = self._unpacked(*self._record(term))
        return documents, numbers

    def unpack_into(
        self, term: int, documents: NDArray[np.int32], numbers: NDArray[np.int32]
    ) -> None:
        """Unpack a term into arrays of as many postings as it has."""
        headers, ends = self._record(term)
        if headers[0, 0] != len(documents):  # another program has changed the file meanwhile
            raise self.damaged()
        self._unpack(headers, ends, np.zeros(1, np.int64), documents, numbers)

    def counts(self) -> NDArray[np.int64]:
        """The numbers of postings of all terms."""
        offsets = self._offsets.every()
        return self._headers(offsets[:-1], offsets[1:])[:, 0]

    def unpack_all(
        self, terms: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """The positions where the postings of some terms begin, their documents and frequencies."""
        documents, numbers, offsets = self.unpack_each(terms)
        return offsets, documents, self.patterns.take(numbers, axis=0)

    def unpack_each(self, terms: NDArray[np.int32]) -> NumberedPostings:
        """The postings of some terms."""
        begins, ends = self._offsets.of(terms)
        if (begins > ends).any() or (begins < 0).any() or (ends > self._offsets.end).any():
            raise self._offsets.wrong("found places that no record has")
        offsets, documents, numbers = self._unpacked(self._headers(begins, ends), ends)
        return NumberedPostings(documents, numbers, offsets)

    def damaged(self) -> BrokenIndexError:
        """The error for records that cannot be."""
        return damaged(self._folder / POSTINGS, "found a record of a term that cannot be one")

    def _record(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The header of a term's record, and its end, which a query asks for several times."""
        known = self._headers_of.get(term)
        if known is None:
            begin, end = self._offsets.between(term)
            ends = np.array([end])
            known = self._headers(np.array([begin]), ends), ends
            with self._lock:
                if len(self._headers_of) >= _KNOWN_RECORDS:
                    self._headers_of.clear()
                    self._known = 0
                if term not in self._headers_of:
                    self._known += int(known[0][0, 0])
                self._headers_of[term] = known
                # records that overlap would take more memory than there are postings
                if self._known > self._most:
                    raise self.damaged()
        return known

    def _headers(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        headers = np.zeros((len(begins), HEADER + self.patterns.shape[1]), np.int64)
        if not read_headers(self._words, begins, ends, self._documents, headers):
            raise self.damaged()
        return headers

    def _unpacked(
        self, headers: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        offsets = np.zeros(len(headers) + 1, np.int64)
        np.cumsum(headers[:, 0], out=offsets[1:])
        # no memory for more than there can be, even where the records of damaged offsets overlap
        if offsets[-1] > self._most:
            raise self.damaged()
        documents, numbers = (np.empty(offsets[-1], np.int32) for _ in range(2))
        self._unpack(headers, ends, offsets, documents, numbers)
        return offsets, documents, numbers

    def _unpack(
        self,
        headers: NDArray[np.int64],
        ends: NDArray[np.int64],
        offsets: NDArray[np.int64],
        documents: NDArray[np.int32],
        numbers: NDArray[np.int32],
    ) -> None:
        if not unpack_postings(
            self._words, headers, ends, self._documents, len(self.patterns),
            offsets, documents, numbers,
        ):  # fmt: skip
            raise self.damaged()
