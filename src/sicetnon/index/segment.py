"""A segment: some documents with their postings, in files that never change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.array_files import (
    REBUILD,
    ArrayWriter,
    MappedArray,
    StoredFile,
    damaged,
    ends_fit,
    write_array,
)
from sicetnon.index.document_store import DocumentReader
from sicetnon.index.manifest import (
    FORM_NUMBERS,
    FORM_OFFSETS,
    LENGTH_TYPES,
    STEMS,
    Manifest,
    SegmentEntry,
    check_layout,
    lengths_name,
)
from sicetnon.index.posting_cache import (
    DecodedPostings,
    NumberedPostings,
    Pool,
    PostingCache,
    PostingList,
    RankedLengths,
    encode_pairs,
    max_pairs,
    rank_lengths,
)
from sicetnon.index.posting_codec import look_up
from sicetnon.index.posting_file import POSTINGS, PackedPostings
from sicetnon.index.term_table import StoredWords, write_words
from sicetnon.text.analysis import StemWords
from sicetnon.text.words import WordTable

_MOST_LENGTH = (1 << 31) - 1
_TERM_BITS = 31

CountedLengths: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Numbers of terms, and the same in 16 bits: 65,535 for all that are higher."""


def counted_lengths(columns: Sequence[NDArray[Any]], documents: int) -> CountedLengths | None:
    """The number of terms in some fields of each document, or None if one is out of range.

    Args:
        columns: Terms by document, shape (documents,), of each of the fields.
        documents: The number of documents.
    """
    whole = np.zeros(documents, np.int64)
    for column in columns:
        whole += column
    if whole.min(initial=0) < 0 or whole.max(initial=0) > _MOST_LENGTH:
        return None
    return whole.astype(np.int32), np.minimum(whole, (1 << 16) - 1).astype(np.uint16)


def mask_name(deleted: int) -> str:
    """The name of the file with a deletion mask."""
    return f"live-{deleted}"


def write_forms(folder: Path, terms: WordTable, stem: StemWords) -> dict[str, StoredFile]:
    """Write the stems of all terms, and each stem's terms.

    Args:
        folder: The folder for the files.
        terms: The terms.
        stem: Gives the stems of distinct words.
    """
    stems = WordTable()
    stem_of_term = stems.insert([s.encode("utf-8") for s in stem(terms.words())])
    order = np.argsort(stem_of_term, kind="stable").astype(np.int32)
    offsets = np.searchsorted(stem_of_term[order], np.arange(len(stems) + 1)).astype(np.int64)
    files = write_words(folder, STEMS, stems)
    files[FORM_OFFSETS] = write_array(folder / FORM_OFFSETS, offsets)
    files[FORM_NUMBERS] = write_array(folder / FORM_NUMBERS, order)
    return files


class StoredForms:
    """The forms of stems, on disk."""

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]]):
        self._folder = folder
        self._stems = StoredWords(folder, arrays, STEMS)
        self._offsets, self._numbers = arrays[FORM_OFFSETS], arrays[FORM_NUMBERS]
        if not ends_fit(self._offsets, len(self._numbers)):
            raise damaged(folder / FORM_OFFSETS, "they do not fit the terms")

    def of(self, stem: str) -> list[int]:
        """The numbers of the terms with a stem."""
        number = self._stems.number(stem)
        if number is None:
            return []
        begin, end = self._offsets[number : number + 2].tolist()
        if not 0 <= begin <= end <= len(self._numbers):
            raise damaged(self._folder / FORM_OFFSETS, f"found terms from {begin:,} to {end:,}")
        found: list[int] = self._numbers[begin:end].tolist()
        if not all(0 <= term < len(self._numbers) for term in found):
            raise damaged(self._folder / FORM_NUMBERS, f"found the terms {found[:10]}")
        return found


class LengthWriter:
    """Writes the number of terms of each document, a file per field.

    Batches stay in memory until `close`, each field of a batch in the smallest type that holds it.

    Attributes:
        memory: Bytes of memory that the lengths take so far.

    Args:
        folder: The folder for the files.
        fields: The number of fields.
    """

    def __init__(self, folder: Path, fields: int):
        self._folder = folder
        self._columns: list[list[NDArray[Any]]] = [[] for _ in range(fields)]
        self.memory = 0

    def append(self, lengths: NDArray[np.int32]) -> None:
        """Add the terms of the next documents by field, shape (documents, fields)."""
        for column, batch in zip(self._columns, lengths.T, strict=True):
            most = int(batch.max(initial=0))
            small = next(name for name in LENGTH_TYPES if most <= np.iinfo(name).max)
            column.append(batch.astype(small))
            self.memory += column[-1].nbytes

    def close(self) -> dict[str, StoredFile]:
        """Write and describe the files."""
        files = {}
        for field, column in enumerate(self._columns):
            name = lengths_name(field)
            used = {batch.dtype.name for batch in column}
            largest = max(used, key=LENGTH_TYPES.index, default=LENGTH_TYPES[0])
            with ArrayWriter(self._folder / name, largest) as writer:
                for batch in column:
                    writer.append(batch)
                files[name] = writer.close()
            column.clear()
        return files


class Segment:
    """An opened segment.

    Attributes:
        entry: Its entry in the manifest.
        base: The number in the index of its first document.
        terms: Its terms.
        identifiers: The ids of its documents.
        forms: The terms that are forms of one stem, or None if terms are stems.
        postings: Its postings, packed.
        live: uint8, 0 for a deleted document, shape (documents,); None when none is deleted.
        store: Its records.
    """

    def __init__(
        self,
        folder: Path,
        entry: SegmentEntry,
        manifest: Manifest,
        base: int,
        unpacked: PostingCache,
    ):
        self.folder, self.entry, self.base, self._unpacked = folder, entry, base, unpacked
        check_layout(folder, entry, len(manifest.fields))
        self._mapped = {
            name: MappedArray(folder / name, stored)
            for name, stored in entry.files.items()
            if stored.dtype
        }
        # each query looks at these
        self._sized = [mapped for mapped in self._mapped.values() if mapped.is_mapped]
        arrays = {name: mapped.array for name, mapped in self._mapped.items()}
        self.terms = StoredWords(folder, arrays, "terms")
        self.identifiers = StoredWords(folder, arrays, "ids")
        self.forms = StoredForms(folder, arrays) if FORM_OFFSETS in arrays else None
        self.postings = PackedPostings(folder, arrays, entry.documents)
        self._columns = [arrays[lengths_name(field)] for field in range(len(manifest.fields))]
        self.live = arrays[entry.deleted] if entry.deleted else None
        self._lengths_of: dict[tuple[int, ...], CountedLengths] = {}
        self.store = DocumentReader(folder, self._mapped, manifest.records)

    def __len__(self) -> int:
        return self.entry.documents

    def array(self, name: str) -> NDArray[Any]:
        """The array in one of the segment's files, mapped."""
        if name not in self._mapped:
            raise BrokenIndexError(f"{self.folder}: its manifest lacks {name!r}; {REBUILD}")
        return self._mapped[name].array

    def documents_of(self, term: int) -> NDArray[np.int32]:
        """The documents of a term's postings, int32, rising, shape (postings,)."""
        return self.postings.unpack(term)[0]

    def rows(self, term: int) -> PostingList:
        """A term's documents, and its frequencies in all fields, shape (postings, fields)."""

        def unpack() -> PostingList:
            documents, numbers = self.postings.unpack(term)
            return PostingList(documents, self.postings.patterns.take(numbers, axis=0))

        return self._unpacked.lists((self.base, term, "rows"), unpack)

    def sums(self, term: int) -> PostingList:
        """A term's documents, and its frequencies over all fields, shape (postings, 1)."""

        def unpack() -> PostingList:
            documents, numbers = self.postings.unpack(term)
            return PostingList(documents, self.postings.sums[numbers][:, None])

        return self._unpacked.lists((self.base, term, "sums"), unpack)

    def forms_of(self, terms: tuple[int, ...]) -> NumberedPostings:
        """The postings of some terms, such as the forms of a stem, with the numbers of patterns."""

        def unpack() -> NumberedPostings:
            for term in terms:
                self.postings.count(term)  # refuses records that overlap
            return self.postings.unpack_each(np.array(terms, np.int32))

        return self._unpacked.lists((self.base, terms), unpack)

    def merged(self, key: Hashable, merge: Callable[[], PostingList]) -> PostingList:
        """The postings of several terms in one list, cached by a key."""
        return self._unpacked.lists((self.base, key), merge)

    def together(self, terms: Sequence[int], field: int | None) -> tuple[Pool, NDArray[np.int64]]:
        """The unpacked postings of some terms in one array.

        Args:
            terms: The numbers of the terms.
            field: The field whose frequencies are the codes; None for pairs over all fields.

        Returns:
            The pool, and the extents of the terms in it, shape (terms, 4).
        """

        def count(place: int) -> tuple[int, int]:
            postings = self.postings.count(terms[place])
            return postings, max_pairs(postings) if field is None else 0

        def unpack(place: int, room: DecodedPostings) -> int:
            # the numbers of patterns stand where the pairs will
            self.postings.unpack_into(terms[place], room.documents, room.pair_lengths)
            values = self.postings.sums if field is None else self._frequencies(field)
            look_up(values, room.pair_lengths, room.codes)
            if field is not None or self._ranked_lengths is None:
                return 0
            return encode_pairs(room, self._ranked_lengths)

        # one number for each term and field of the index: quicker to look up than a tuple
        fields = 0 if field is None else field + 1
        first = (self.base * (len(self._columns) + 1) + fields) << _TERM_BITS
        return self._unpacked.together([first + term for term in terms], count, unpack)

    def wrong_posting(self) -> BrokenIndexError:
        """The error for postings that cannot be."""
        return self.postings.damaged()

    def occurrences(self, term: int) -> list[int]:
        """The occurrences of a term in each field; deleted documents are counted."""
        postings, found = self.postings.occurrences(term)
        counts: list[int] = found.tolist()
        # no less than once per document, and no more than all terms together
        if (
            min(counts) < 0
            or sum(counts) < postings
            or (self.live is None and (found > self.field_totals).any())
        ):
            what = f"found {counts} occurrences in {postings:,} documents"
            raise damaged(self.folder / POSTINGS, what)
        return counts

    def check_sizes(self) -> None:
        """Refuse mapped files that were cut short since they were opened."""
        for mapped in self._sized:
            mapped.check_size()

    @cached_property
    def live_count(self) -> int:
        """The number of documents that are not deleted."""
        if self.live is None:
            return len(self)
        count = int(self.live.sum(dtype=np.int64))
        if self.live.max(initial=0) > 1 or self.entry.deleted != mask_name(len(self) - count):
            raise damaged(self.folder / f"{self.entry.deleted}", "it deletes another number")
        return count

    @cached_property
    def field_totals(self) -> NDArray[np.int64]:
        """Terms of all live documents by field, shape (fields,)."""
        totals = []
        for field, column in enumerate(self._columns):
            if column.min(initial=0) < 0:
                raise damaged(self.folder / lengths_name(field), "found a length below 0")
            here = column if self.live is None else column[self.live != 0]
            totals.append(int(here.sum(dtype=np.int64)))
        return np.array(totals, dtype=np.int64)

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Terms by document and field, shape (documents, fields); computed on first use."""
        return np.stack([column.astype(np.int32) for column in self._columns], axis=1)

    def lengths_of(self, fields: tuple[int, ...]) -> CountedLengths:
        """The number of terms in some fields of each document, shape (documents,).

        They are in memory, and computed on first use.

        Returns:
            The numbers, and the same in 16 bits: 65,535 for all that are higher.
        """
        if fields not in self._lengths_of:
            counted = counted_lengths([self._columns[field] for field in fields], len(self))
            if counted is None:
                wrong = self.folder / lengths_name(fields[0])
                raise damaged(wrong, "found a length that cannot be")
            self._lengths_of[fields] = counted
        return self._lengths_of[fields]

    @cached_property
    def _ranked_lengths(self) -> RankedLengths | None:
        """Summed field lengths, or None if there are too many distinct ones to encode."""
        return rank_lengths(self.lengths_of(tuple(range(len(self._columns))))[0])

    def _frequencies(self, field: int) -> NDArray[np.uint16]:
        """The frequency of each pattern in a field, shape (patterns,)."""
        return np.ascontiguousarray(self.postings.patterns[:, field])

    def release(self) -> None:
        """Let the system take back the memory of what was read."""
        for mapped in self._mapped.values():
            mapped.release()
