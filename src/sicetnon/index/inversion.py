"""Inversion in bounded memory: words of documents become postings by term.

The postings of a batch of documents are brought into the order of terms at once, while they are in
the processor's cache, and stay in memory batch by batch. When the memory for them is full, they are
merged and spilled to disk as a run. At the end the runs and what is in memory are merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.array_files import ArrayWriter, MappedArray, StoredFile, verify_files
from sicetnon.index.merge import (
    BLOCK_POSTINGS,
    SAME,
    Merged,
    Merging,
    Source,
    blocks,
    merge_block,
    offsets_of,
    ranks,
)
from sicetnon.index.posting_codec import MAX_FREQUENCY
from sicetnon.jit import compiled
from sicetnon.operating_system import give_back_memory

_FIRST_POSTINGS, _MAX_POSTINGS = 1 << 20, 1 << 28
# of a term of a batch: its number and its first posting, with a quarter to spare
_ENTRY_BYTES, _GROWTH = 15, 1.25
_LEAST_SHARE = 4
_PARTS = ("offsets", "documents", "frequencies")


# what the plain way takes, in seconds per word and per posting
_WORD_SECONDS, _POSTING_SECONDS = 2e-7, 2e-7
_ROW_BITS, _ROW = 32, (1 << 32) - 1


class Inverter:
    """Makes the postings of the documents of a segment.

    Args:
        folder: The folder for runs.
        fields: The number of texts per document.
        memory: Bytes for postings, for what is known of each term, and for what `taken` tells,
            before postings are spilled.
        taken: Bytes that other parts of the build hold. Postings have a quarter of the memory
            at least.
    """

    def __init__(
        self, folder: Path, fields: int, memory: int, taken: Callable[[], int] = lambda: 0
    ):
        self._folder, self._fields, self._memory = folder, fields, memory
        self._taken = taken
        self._posting_bytes = 4 + 2 * fields
        capacity = min(max(memory // self._posting_bytes, 1), _MAX_POSTINGS)
        self.block_postings = min(capacity, BLOCK_POSTINGS)
        self._inverted = _Inverted(capacity, fields)
        self._rows = _Rows.empty(0, fields)
        # for each term
        self._last_seen = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int32)
        self._runs: list[dict[str, StoredFile]] = []

    def add(
        self,
        words: NDArray[np.int32],
        ends: NDArray[np.int64],
        term_of_word: NDArray[np.int32],
        terms: int,
        first_document: int,
    ) -> NDArray[np.int32]:
        """Add the words of a batch of documents.

        Args:
            words: A number for every word.
            ends: The end of the words of each text, by document and field.
            term_of_word: The term of each word, a negative number for a stop word.
            terms: The number of terms met so far.
            first_document: The number of the first document.

        Returns:
            Words without stop words, shape (documents, fields).
        """
        if len(words) > len(self._rows.terms):
            self._rows = _Rows.empty(len(words), self._fields)
        if terms > len(self._last_seen):
            room = max(terms, 2 * len(self._last_seen))
            grown = np.full(room, -1)
            grown[: len(self._last_seen)] = self._last_seen
            self._last_seen, self._counts = grown, np.zeros(room, dtype=np.int32)
        lengths = np.zeros((len(ends) // self._fields, self._fields), dtype=np.int32)
        rows = count_terms(
            words, term_of_word, ends, self._fields, first_document, self._last_seen,
            *self._rows, lengths,
        )  # fmt: skip
        if not self._has_room(rows, min(rows, terms)):
            self._spill(terms)
            self._inverted.clear()
            give_back_memory()
        self._inverted.add(self._rows.first(rows), self._counts[:terms])
        return lengths

    def sources(self, terms: int) -> list[Merging]:
        """All postings, to be merged.

        Args:
            terms: The number of all terms.
        """
        runs = [self._run_source(run, terms) for run in range(len(self._runs))]
        return [*runs, self._inverted.source(terms)]

    def remove_runs(self) -> None:
        """Remove the files of the runs."""
        for run, parts in enumerate(self._runs):
            for part in parts:
                self._run_file(run, part).unlink()

    def _has_room(self, postings: int, entries: int) -> bool:
        postings += len(self._inverted)
        entries += self._inverted.entries
        used = postings * self._posting_bytes + entries * _ENTRY_BYTES
        # a batch that is larger than all memory for postings has it for itself
        taken = self._taken() + self._last_seen.nbytes + self._counts.nbytes
        memory = max(self._memory - taken, self._memory // _LEAST_SHARE)
        return not len(self._inverted) or (used <= memory and postings <= _MAX_POSTINGS)

    def _spill(self, terms: int) -> None:
        source, run = self._inverted.source(terms), len(self._runs)
        offsets = offsets_of([source], terms)
        writers = {
            "offsets": ArrayWriter(self._run_file(run, "offsets"), np.int64),
            "documents": ArrayWriter(self._run_file(run, "documents"), np.int32),
            "frequencies": ArrayWriter(
                self._run_file(run, "frequencies"), np.uint16, (self._fields,)
            ),
        }
        try:
            writers["offsets"].append(offsets)
            for first, end in blocks(offsets, self.block_postings):
                merged = merge_block([source], offsets, first, end, self._fields)
                writers["documents"].append(merged.documents)
                writers["frequencies"].append(merged.frequencies)
            self._runs.append({part: writer.close() for part, writer in writers.items()})
        finally:
            for writer in writers.values():
                writer.abandon()

    def _run_file(self, run: int, part: str) -> Path:
        return self._folder / f"run-{run}-{part}"

    def _run_source(self, run: int, terms: int) -> Source:
        parts = self._runs[run]
        verify_files({self._run_file(run, part): stored for part, stored in parts.items()})
        mapped = {part: MappedArray(self._run_file(run, part), parts[part]) for part in parts}

        def release() -> None:
            for array in mapped.values():
                array.release()

        offsets, documents, frequencies = (mapped[part].array for part in _PARTS)
        # only the first terms were known when the run was written
        known = np.arange(terms, dtype=np.int32)
        known[len(offsets) - 1 :] = -1
        return Source(offsets, documents, frequencies, known, SAME, release, self._folder)


class _Rows(NamedTuple):
    """Rows of (term, document, frequency by field)."""

    terms: NDArray[np.int32]
    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]

    @classmethod
    def empty(cls, rows: int, fields: int) -> _Rows:
        return cls(
            np.empty(rows, dtype=np.int32),
            np.empty(rows, dtype=np.int32),
            np.empty((rows, fields), dtype=np.uint16),
        )

    def first(self, rows: int) -> _Rows:
        return _Rows(self.terms[:rows], self.documents[:rows], self.frequencies[:rows])


class _Inverted:
    """Inverted batches in memory; few of them take little."""

    def __init__(self, capacity: int, fields: int):
        self._capacity, self._fields = capacity, fields
        self.clear()

    def __len__(self) -> int:
        """The number of postings."""
        return self._filled

    def clear(self) -> None:
        """Forget all batches, and free their memory: other parts of the build need more."""
        self._filled = self.entries = 0
        first = min(self._capacity, _FIRST_POSTINGS)
        self._documents = np.empty(first, dtype=np.int32)
        self._frequencies = np.empty((first, self._fields), dtype=np.uint16)
        # of all batches, one after the other
        self._terms, self._begins = np.empty(0, np.int32), np.empty(0, np.int64)
        self._ends: list[int] = []

    def add(self, rows: _Rows, counts: NDArray[np.int32]) -> None:
        """Invert the rows of a batch; `counts` holds a zero per term, and does so again then."""
        begin, end = self._filled, self._filled + len(rows.terms)
        if end > len(self._documents):
            self._enlarge(max(end, self._capacity))
        first, last = self.entries, self.entries + min(len(rows.terms), len(counts))
        if last >= len(self._begins):
            room = max(last + 1, int(_GROWTH * len(self._begins)))
            # in place, where the system can: a copy would take as much memory again
            self._terms.resize(room, refcheck=False)
            self._begins.resize(room, refcheck=False)
        found = invert_rows(
            *rows, counts, begin, self._terms[first:last], self._begins[first:last],
            self._documents[begin:end], self._frequencies[begin:end],
        )  # fmt: skip
        self._filled, self.entries = end, first + found
        self._ends.append(self.entries)

    def source(self, terms: int) -> _InvertedSource:
        """All postings, to be merged once; there are so many terms."""
        ends = np.array(self._ends, dtype=np.int64)
        if self.entries:
            self._begins[self.entries] = self._filled
        return _InvertedSource(
            terms,
            np.append(0, ends)[: len(ends)],
            ends,
            self._terms[: self.entries],
            self._begins[: self.entries + 1],
            self._documents,
            self._frequencies,
        )

    def _enlarge(self, capacity: int) -> None:
        documents, frequencies = self._documents, self._frequencies
        self._documents = np.empty(capacity, dtype=np.int32)
        self._frequencies = np.empty((capacity, frequencies.shape[1]), dtype=np.uint16)
        self._documents[: self._filled] = documents[: self._filled]
        self._frequencies[: self._filled] = frequencies[: self._filled]


@dataclass(frozen=True)
class _InvertedSource:
    """Inverted batches that are merged, one range of terms after the other.

    Attributes:
        merged_terms: The number of all terms.
        cursors: For each batch the entry that comes next, shape (batches,).
        ends: The end of the entries of each batch.
        terms: For each entry its term, rising within a batch.
        begins: For each entry the place of its first posting, and the last end.
        documents: The postings of all entries, int32, shape (postings,).
        frequencies: uint16, shape (postings, fields).
    """

    merged_terms: int
    cursors: NDArray[np.int64]
    ends: NDArray[np.int64]
    terms: NDArray[np.int32]
    begins: NDArray[np.int64]
    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]

    def counts(self) -> NDArray[np.int64]:
        counts = np.zeros(self.merged_terms, dtype=np.int64)
        for first, end in zip(self.cursors.tolist(), self.ends.tolist(), strict=True):
            counts[self.terms[first:end]] += np.diff(self.begins[first : end + 1])
        return counts

    def copy(self, first: int, end: int, places: NDArray[np.int64], merged: Merged) -> None:
        copy_inverted(
            self.cursors, self.ends, self.terms, self.begins, self.documents, self.frequencies,
            first, end, places, *merged,
        )  # fmt: skip


def _numpy_count_terms(
    words: NDArray[np.int32],
    term_of_word: NDArray[np.int32],
    ends: NDArray[np.int64],
    fields: int,
    first_document: int,
    last_seen: NDArray[np.int64],
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    lengths: NDArray[np.int32],
) -> int:
    terms = term_of_word[words]
    texts = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    terms, texts = terms[terms >= 0], texts[terms >= 0]
    lengths[:] = np.bincount(texts, minlength=ends.size).reshape(-1, fields)
    # a row for each term of a document, in the order in which they were first met
    pairs = (texts // fields) * (int(terms.max(initial=0)) + 1) + terms
    _, firsts, pair_of_word = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    row_of_pair = np.empty_like(order)
    row_of_pair[order] = np.arange(order.size)
    rows = order.size
    row_terms[:rows] = terms[firsts[order]]
    row_documents[:rows] = first_document + texts[firsts[order]] // fields
    cells = row_of_pair[pair_of_word] * fields + texts % fields
    counts = np.bincount(cells, minlength=order.size * fields).reshape(-1, fields)
    frequencies[:rows] = np.minimum(counts, MAX_FREQUENCY)
    return rows


@compiled(
    numpy=_numpy_count_terms,
    seconds=lambda words, *_: _WORD_SECONDS * words.size,
    allocates=False,
)
def count_terms(
    words: NDArray[np.int32],
    term_of_word: NDArray[np.int32],
    ends: NDArray[np.int64],
    fields: int,
    first_document: int,
    last_seen: NDArray[np.int64],
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    lengths: NDArray[np.int32],
) -> int:
    """Count the terms of a batch of documents into rows of (term, document, frequency by field).

    Args:
        words: A number for every word; overwritten.
        term_of_word: The term of each word, a negative number for a stop word.
        ends: The end of the words of each text, by document and field.
        fields: Number of fields per document.
        first_document: Number of the first document.
        last_seen: For each term the last document with it, times 2^32, and its row; -1 for none.
        row_terms: Rows, written; as many as there are words, or more.
        row_documents: Likewise.
        frequencies: Likewise, shape (rows, fields).
        lengths: Words without stop words, shape (documents, fields); written.

    Returns:
        The number of rows that are written.
    """
    position, filled = 0, np.int64(0)
    frequencies[: words.size] = 0
    for text in range(ends.size):
        document, field = first_document + text // fields, text % fields
        # without branches that depend on the term: those not foreseen would wait for memory
        begin = end = position
        while position < ends[text]:
            words[end] = term_of_word[words[position]]
            end += words[end] >= 0
            position += 1
        for place in range(begin, end):
            term = words[place]
            seen = last_seen[term]
            is_new = np.int64(seen >> _ROW_BITS != document)
            row = seen & _ROW
            row += is_new * (filled - row)
            filled += is_new
            last_seen[term] = document << _ROW_BITS | row
            row_terms[row], row_documents[row] = term, document
            if frequencies[row, field] < MAX_FREQUENCY:
                frequencies[row, field] += np.uint16(1)
        lengths[text // fields, field] = end - begin
    return int(filled)


def _numpy_invert_rows(
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    row_frequencies: NDArray[np.uint16],
    counts: NDArray[np.int32],
    first_place: int,
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
) -> int:
    order = np.argsort(row_terms, kind="stable")
    documents[:], frequencies[:] = row_documents[order], row_frequencies[order]
    occurring, firsts = np.unique(row_terms[order], return_index=True)
    terms[: occurring.size], begins[: occurring.size] = occurring, first_place + firsts
    return occurring.size


@compiled(
    numpy=_numpy_invert_rows,
    seconds=lambda terms, *_: _POSTING_SECONDS * terms.size,
    allocates=False,
)
def invert_rows(
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    row_frequencies: NDArray[np.uint16],
    counts: NDArray[np.int32],
    first_place: int,
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
) -> int:
    """Sort rows by term, keeping their order of documents within a term (a counting sort).

    Args:
        row_terms: Shape (rows,).
        row_documents: Shape (rows,).
        row_frequencies: Shape (rows, fields).
        counts: A zero for every term; the same afterwards.
        first_place: The place of the first posting among others.
        terms: Written: the terms that occur, in order.
        begins: Written: the place of the first posting of each.
        documents: Written, shape (rows,).
        frequencies: Written, shape (rows, fields).

    Returns:
        The number of terms that occur.
    """
    for row in range(row_terms.size):
        counts[row_terms[row]] += 1
    occurring = place = 0
    for term in range(counts.size):
        if counts[term]:
            terms[occurring], begins[occurring] = term, first_place + place
            occurring += 1
            # from here on the place of the next posting
            counts[term], place = place, place + counts[term]
    for row in range(row_terms.size):
        place = counts[row_terms[row]]
        counts[row_terms[row]] += 1
        documents[place] = row_documents[row]
        for field in range(row_frequencies.shape[1]):
            frequencies[place, field] = row_frequencies[row, field]
    for entry in range(occurring):
        counts[terms[entry]] = 0
    return occurring


def _numpy_copy_inverted(
    cursors: NDArray[np.int64],
    ends: NDArray[np.int64],
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    first: int,
    end: int,
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> None:
    for batch in range(cursors.size):
        start = int(cursors[batch])
        stop = start + int(np.searchsorted(terms[start : ends[batch]], end))
        merged = terms[start:stop] - first
        counts = np.diff(begins[start : stop + 1])
        found = slice(begins[start], begins[stop])
        into = np.repeat(places[merged], counts) + ranks(counts)
        merged_documents[into], merged_frequencies[into] = documents[found], frequencies[found]
        np.add.at(totals, np.repeat(merged, counts), frequencies[found])
        places[merged] += counts
        cursors[batch] = stop


@compiled(
    numpy=_numpy_copy_inverted,
    seconds=lambda *given: _POSTING_SECONDS * given[9].size,
    allocates=False,
)
def copy_inverted(
    cursors: NDArray[np.int64],
    ends: NDArray[np.int64],
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    first: int,
    end: int,
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> None:
    """Copy the postings of a range of terms from inverted batches to their places.

    Args:
        cursors: For each batch the first entry of the range; updated to the one after it.
        ends: The end of the entries of each batch.
        terms: For each entry its term, rising within a batch.
        begins: For each entry the place of its first posting, and the last end.
        documents: The postings of all entries.
        frequencies: Likewise, shape (postings, fields).
        first: The first term of the range.
        end: The end of the range.
        places: The place of the next posting of each term of the range; updated.
        merged_documents: Written.
        merged_frequencies: Written.
        totals: Collection frequencies, shape (terms of the range, fields); added to.
    """
    for batch in range(cursors.size):
        entry = cursors[batch]
        while entry < ends[batch] and terms[entry] < end:
            merged = terms[entry] - first
            place = places[merged]
            for posting in range(begins[entry], begins[entry + 1]):
                merged_documents[place] = documents[posting]
                for field in range(frequencies.shape[1]):
                    merged_frequencies[place, field] = frequencies[posting, field]
                    totals[merged, field] += np.int64(frequencies[posting, field])
                place += 1
            places[merged] = place
            entry += 1
        cursors[batch] = entry
