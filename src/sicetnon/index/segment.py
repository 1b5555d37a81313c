"""A segment: some documents with their postings, in files that never change."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.documents import DocumentReader
from sicetnon.index.manifest import SegmentEntry
from sicetnon.index.storage import (
    REBUILD,
    MappedArray,
    StoredFile,
    check_size,
    checksum,
    write_array,
)
from sicetnon.text.words import WordTable, hash_word

STORE = "documents.sqlite"
WORD_TABLE_PARTS = ("slots", "hashes", "offsets", "letters")


class StoredWords:
    """A `WordTable` on disk: words by number and numbers by word, without loading either."""

    def __init__(self, arrays: dict[str, NDArray[Any]]):
        self._slots, self._hashes = arrays["slots"], arrays["hashes"]
        self._offsets, self._letters = arrays["offsets"], arrays["letters"].data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def number(self, word: str) -> int | None:
        """The number of a word, or None."""
        data = word.encode("utf-8", "replace")
        value = hash_word(data)
        mask = len(self._slots) - 1
        slot = value & mask
        while (number := int(self._slots[slot])) >= 0:
            if int(self._hashes[number]) == value and self._bytes(number) == data:
                return number
            slot = (slot + 1) & mask
        return None

    def word(self, number: int) -> str:
        """The word of a number."""
        return self._bytes(number).decode("utf-8")

    def words(self) -> list[bytes]:
        """All words, by number."""
        ends = self._offsets.tolist()
        data = bytes(self._letters)
        return [data[begin:end] for begin, end in zip(ends[:-1], ends[1:], strict=True)]

    def _bytes(self, number: int) -> bytes:
        return bytes(self._letters[self._offsets[number] : self._offsets[number + 1]])


def write_words(folder: Path, prefix: str, words: WordTable) -> dict[str, StoredFile]:
    """Write a word table's arrays, cut to what they hold."""
    arrays = words.compact()
    return {
        f"{prefix}_{part}": write_array(folder / f"{prefix}_{part}", array)
        for part, array in zip(WORD_TABLE_PARTS, arrays, strict=True)
    }


class Segment:
    """An opened segment.

    Attributes:
        entry: What the manifest says of it.
        base: The number in the index of its first document.
        terms: Its terms.
        identifiers: The ids of its documents.
        posting_offsets: Where each term's postings begin, int64, shape (terms + 1,).
        documents: Documents of the postings, from 0 in this segment, int32.
        frequencies: Term frequencies of the postings, uint16, shape (postings, fields).
        totals: Collection frequencies, int64, shape (terms, fields).
        lengths: Terms by document and field, int32, shape (documents, fields).
        live: uint8, 0 for a deleted document, shape (documents,); None when none is deleted.
        store: Its records.
    """

    def __init__(self, folder: Path, entry: SegmentEntry, records: str, base: int):
        self.folder, self.entry, self.base = folder, entry, base
        self._mapped = {
            name: MappedArray(folder / name, stored)
            for name, stored in entry.files.items()
            if stored.dtype
        }
        arrays = {name: mapped.array for name, mapped in self._mapped.items()}
        try:
            self.terms = StoredWords({p: arrays[f"terms_{p}"] for p in WORD_TABLE_PARTS})
            self.identifiers = StoredWords({p: arrays[f"ids_{p}"] for p in WORD_TABLE_PARTS})
            self.posting_offsets = arrays["posting_offsets"]
            self.documents, self.frequencies = arrays["documents"], arrays["frequencies"]
            self.totals, self.lengths = arrays["totals"], arrays["lengths"]
            self.live = arrays[entry.deleted] if entry.deleted else None
            check_size(folder / STORE, entry.files[STORE])
        except KeyError as error:
            raise BrokenIndexError(f"{folder}: its manifest lacks {error}; {REBUILD}") from None
        self.store = DocumentReader(folder / STORE, records)

    def __len__(self) -> int:
        return self.entry.documents

    @cached_property
    def live_count(self) -> int:
        """How many documents are not deleted."""
        return len(self) if self.live is None else int(self.live.sum(dtype=np.int64))

    @cached_property
    def field_totals(self) -> NDArray[np.int64]:
        """Terms of all live documents by field, shape (fields,)."""
        lengths = self.lengths if self.live is None else self.lengths[self.live != 0]
        return lengths.sum(axis=0, dtype=np.int64)  # type: ignore[no-any-return]

    def release(self) -> None:
        """Let the system take back the memory of what was read."""
        for mapped in self._mapped.values():
            mapped.release()

    def damaged_files(self) -> list[str]:
        """The files whose content is not what was written (reads them all)."""
        return [
            str(self.folder / name)
            for name, stored in self.entry.files.items()
            if checksum(self.folder / name) != stored.crc32
        ]
