"""A segment: some documents with their postings, in files that never change."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.forms import StoredForms
from sicetnon.index.layout import FORM_OFFSETS, check_layout
from sicetnon.index.manifest import Manifest, SegmentEntry
from sicetnon.index.pairs import MAX_PAIRS, PAIR_FREQUENCIES, PAIR_LENGTHS, PAIR_OFFSETS
from sicetnon.index.storage import REBUILD, MappedArray, damaged, ends_fit
from sicetnon.index.store import DocumentReader
from sicetnon.index.words import StoredWords

_MOST_LENGTH = (1 << 31) - 1

CountedLengths: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Numbers of terms, and the same in 16 bits: 65,535 for all that are higher."""


def counted_lengths(lengths: NDArray[np.int32], fields: tuple[int, ...]) -> CountedLengths | None:
    """The number of terms in some fields of each document; None where it can be no such number.

    Args:
        lengths: Terms by document and field, shape (documents, fields).
        fields: The fields.
    """
    whole = lengths[:, list(fields)].sum(axis=1, dtype=np.int64)
    if whole.min(initial=0) < 0 or whole.max(initial=0) > _MOST_LENGTH:
        return None
    return whole.astype(np.int32), np.minimum(whole, (1 << 16) - 1).astype(np.uint16)


def mask_name(deleted: int) -> str:
    """The name of the file with a deletion mask."""
    return f"live-{deleted}"


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
        codes: For each posting the number of its pair, or its frequency over all fields where its
            term has no pairs, uint16, shape (postings,).
        pair_frequencies: The frequencies of pairs, term after term, uint16, shape (pairs,).
        pair_lengths: The lengths of the documents of pairs, int32, shape (pairs,).
        totals: Collection frequencies, int64, shape (terms, fields).
        lengths: Terms by document and field, int32, shape (documents, fields).
        live: uint8, 0 for a deleted document, shape (documents,); None when none is deleted.
        store: Its records.
    """

    def __init__(self, folder: Path, entry: SegmentEntry, manifest: Manifest, base: int):
        self.folder, self.entry, self.base = folder, entry, base
        check_layout(folder, entry, len(manifest.fields))
        self._mapped = {
            name: MappedArray(folder / name, stored)
            for name, stored in entry.files.items()
            if stored.dtype
        }
        arrays = {name: mapped.array for name, mapped in self._mapped.items()}
        self.terms = StoredWords(folder, arrays, "terms")
        self.identifiers = StoredWords(folder, arrays, "ids")
        self.forms = StoredForms(folder, arrays) if FORM_OFFSETS in arrays else None
        self.posting_offsets = arrays["posting_offsets"]
        self.documents, self.frequencies = arrays["documents"], arrays["frequencies"]
        self.codes, self._pair_offsets = arrays["codes"], arrays[PAIR_OFFSETS]
        self.pair_frequencies = arrays[PAIR_FREQUENCIES]
        self.pair_lengths = arrays[PAIR_LENGTHS]
        self.totals, self.lengths = arrays["totals"], arrays["lengths"]
        self.live = arrays[entry.deleted] if entry.deleted else None
        if not ends_fit(self.posting_offsets, len(self.documents)):
            raise damaged(folder / "posting_offsets", "they do not fit the postings")
        if not ends_fit(self._pair_offsets, len(self.pair_lengths)):
            raise damaged(folder / PAIR_OFFSETS, "they do not fit the pairs")
        self._lengths_of: dict[tuple[int, ...], CountedLengths] = {}
        self.store = DocumentReader(folder, self._mapped, manifest.records)

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

    def postings(self, term: int) -> slice:
        """The places of a term's postings.

        Raises:
            BrokenIndexError: There can be no such places.
        """
        begin, end = self.posting_offsets[term : term + 2].tolist()
        if not (0 <= begin <= end <= len(self.documents) and end - begin <= len(self)):
            raise damaged(
                self.folder / "posting_offsets", f"found postings from {begin:,} to {end:,}"
            )
        return slice(begin, end)

    def pairs(self, term: int) -> slice:
        """The places of a term's pairs of frequency and length; none where a term is rare.

        Raises:
            BrokenIndexError: There can be no such places.
        """
        begin, end = self._pair_offsets[term : term + 2].tolist()
        if not (0 <= begin <= end <= len(self.pair_lengths) and end - begin <= MAX_PAIRS):
            raise damaged(self.folder / PAIR_OFFSETS, f"found pairs from {begin:,} to {end:,}")
        return slice(begin, end)

    def sums(self, term: int) -> NDArray[np.uint16]:
        """The frequencies of a term's postings over all fields, shape (postings, 1).

        Raises:
            BrokenIndexError: A posting has none of the term's pairs.
        """
        codes, pairs = self.codes[self.postings(term)], self.pairs(term)
        if pairs.start == pairs.stop:
            return codes[:, None]
        if codes.max(initial=0) >= pairs.stop - pairs.start:
            raise self.wrong_code()
        found: NDArray[np.uint16] = self.pair_frequencies[pairs][codes]
        return found[:, None]

    def wrong_code(self) -> BrokenIndexError:
        """The error for postings with a pair that their term has not."""
        return damaged(self.folder / "codes", "found a number beyond the pairs of its term")

    def wrong_pair(self) -> BrokenIndexError:
        """The error for a pair with a length that no document has."""
        return damaged(self.folder / PAIR_LENGTHS, "found a length that no document has")

    def wrong_posting(self) -> BrokenIndexError:
        """The error for postings out of order, of no document or with no pair."""
        found = "found postings out of order, or with a code beyond the pairs of their term"
        return damaged(self.folder / "documents", found)

    def occurrences(self, term: int) -> NDArray[np.int64]:
        """The occurrences of a term, shape (fields,); deleted documents are counted.

        Raises:
            BrokenIndexError: It cannot occur that often.
        """
        counts: NDArray[np.int64] = self.totals[term]
        places = self.postings(term)
        # no less than once per document, and no more than all terms together
        if (
            counts.min() < 0
            or counts.sum() < places.stop - places.start
            or (self.live is None and (counts > self.field_totals).any())
        ):
            raise damaged(self.folder / "totals", f"found occurrences of {counts.tolist()}")
        return counts

    def wrong_document(self) -> BrokenIndexError:
        """The error for postings of a document that there is not."""
        return damaged(self.folder / "documents", f"found a document beyond the {len(self):,}")

    def check_sizes(self) -> None:
        """Refuse mapped files that were cut short since they were opened.

        Raises:
            BrokenIndexError: One was.
        """
        for mapped in self._mapped.values():
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
        if self.lengths.min(initial=0) < 0:
            raise damaged(self.folder / "lengths", "found a length below 0")
        lengths = self.lengths if self.live is None else self.lengths[self.live != 0]
        return lengths.sum(axis=0, dtype=np.int64)  # type: ignore[no-any-return]

    def lengths_of(self, fields: tuple[int, ...]) -> CountedLengths:
        """The number of terms in some fields of each document, shape (documents,).

        They are in memory, and made when they are first asked for.

        Returns:
            The numbers, and the same in 16 bits: 65,535 for all that are higher.

        Raises:
            BrokenIndexError: A length is below 0, or no length can be that high.
        """
        if fields not in self._lengths_of:
            counted = counted_lengths(self.lengths, fields)
            if counted is None:
                raise damaged(self.folder / "lengths", "found a length that cannot be")
            self._lengths_of[fields] = counted
        return self._lengths_of[fields]

    def release(self) -> None:
        """Let the system take back the memory of what was read."""
        for mapped in self._mapped.values():
            mapped.release()
