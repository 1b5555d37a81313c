"""A segment: some documents with their postings, in files that never change."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.documents import DocumentReader
from sicetnon.index.forms import OFFSETS, StoredForms
from sicetnon.index.manifest import SegmentEntry
from sicetnon.index.storage import REBUILD, MappedArray, check_size
from sicetnon.index.words import StoredWords

STORE = "documents.sqlite"


class Segment:
    """An opened segment.

    Attributes:
        entry: Its entry in the manifest.
        base: The number in the index of its first document.
        terms: Its terms.
        identifiers: The ids of its documents.
        forms: The terms that are forms of one stem; None where terms are stems.
        posting_offsets: The beginning of each term's postings, int64, shape (terms + 1,).
        documents: Documents of the postings, from 0 in this segment, int32.
        frequencies: Term frequencies of the postings, uint16, shape (postings, fields).
        sums: The same over all fields, uint16, shape (postings, 1).
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
            self.terms = StoredWords(arrays, "terms")
            self.identifiers = StoredWords(arrays, "ids")
            self.forms = StoredForms(arrays) if OFFSETS in arrays else None
            self.posting_offsets = arrays["posting_offsets"]
            self.documents, self.frequencies = arrays["documents"], arrays["frequencies"]
            self.sums = arrays["sums"]
            self.totals, self.lengths = arrays["totals"], arrays["lengths"]
            self.live = arrays[entry.deleted] if entry.deleted else None
            check_size(folder / STORE, entry.files[STORE])
        except KeyError as error:
            raise BrokenIndexError(f"{folder}: its manifest lacks {error}; {REBUILD}") from None
        self.store = DocumentReader(folder / STORE, records)

    def __len__(self) -> int:
        return self.entry.documents

    def array(self, name: str) -> NDArray[Any]:
        """The array in one of the segment's files, mapped.

        Raises:
            BrokenIndexError: The manifest knows no such file.
        """
        if name not in self._mapped:
            raise BrokenIndexError(f"{self.folder}: its manifest lacks {name!r}; {REBUILD}")
        return self._mapped[name].array

    @cached_property
    def live_count(self) -> int:
        """The number of documents that are not deleted."""
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
