"""Parts of a corpus: documents that follow one another, of about as many bytes each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.records import Record

_LEAST_BYTES, _READS_PER_PART = 1 << 12, 64


class PartEntry(msgspec.Struct, frozen=True):
    """The part of a source that an index was built from.

    Attributes:
        number: The number of the part, from 1.
        of: The number of all parts.
        first: The place of its first record among all records of the source, usable or not, from 0.
        end: The place behind its last record.
        sha256: The checksum of the whole source.
    """

    number: int
    of: int
    first: int
    end: int
    sha256: str = ""


def part_entry(source: Mapping[str, Any]) -> PartEntry | None:
    """The part that the description of a source tells of; None where it is the whole source.

    Raises:
        BrokenIndexError: It is no such description.
    """
    if "part" not in source:
        return None
    try:
        return msgspec.convert(source["part"], PartEntry)
    except msgspec.ValidationError as error:
        raise BrokenIndexError(f"the description of its source is damaged: {error}") from None


class CorpusPart:
    """One of several parts of a corpus, for one reading of it.

    The parts are cut by the bytes that were read when a document came up, so that no part has to
    know all documents. All documents up to the end of a part come up; those before it are passed
    over.

    Args:
        corpus: The whole corpus.
        number: The number of the part, from 1.
        of: The number of all parts.

    Raises:
        UsageError: There is no such part, or the corpus consists of no files.
    """

    def __init__(self, corpus: Corpus, number: int, of: int):
        if not 1 <= number <= of:
            raise UsageError(f"found part {number} of {of}; expected a number from 1 to {of}")
        self._corpus, self._number, self._of = corpus, number, of
        self._size = corpus.size()
        if not self._size:
            raise UsageError(f"{corpus.files[0]}: cannot be divided into parts; name files")
        self._before = self._own = 0
        self.corpus = replace(corpus, read=self._read)

    def entry(self, sha256: str) -> PartEntry:
        """The description of the part, once it was read."""
        end = self._before + self._own
        return PartEntry(self._number, self._of, self._before, end, sha256)

    def _read(self, file: Path | str, reading: Reading) -> Iterator[Record]:
        # bytes are counted when they are read, and a small file would be read at once
        share = self._size // (self._of * _READS_PER_PART)
        reading.chunk_bytes = min(reading.chunk_bytes, max(share, _LEAST_BYTES))
        report, passes_over = reading.on_error, reading.passes_over
        # each unusable record is reported for one part alone
        reading.on_error = lambda e: report(e) if self._counted(reading) == self._number else None
        reading.passes_over = lambda: self._passes_over(reading)
        try:
            if self._place(reading) <= self._number:
                yield from self._own_of(self._corpus.read(file, reading), reading)
        finally:
            reading.on_error, reading.passes_over = report, passes_over
        if file == self._corpus.files[-1] and not self._own:
            raise DataError(
                f"part {self._number} of {self._of} has no document; take fewer parts", file
            )

    def _own_of(self, records: Iterator[Record], reading: Reading) -> Iterator[Record]:
        for record in records:
            place = self._counted(reading)
            if place > self._number:
                return
            if place == self._number:
                yield record

    def _passes_over(self, reading: Reading) -> bool:
        """Whether the record that comes up is before the part; it is counted then."""
        is_before = self._place(reading) < self._number
        self._before += is_before
        return is_before

    def _counted(self, reading: Reading) -> int:
        """The part of the record that comes up, usable or not, which is counted."""
        place = self._place(reading)
        self._before += place < self._number
        self._own += place == self._number
        return place

    def _place(self, reading: Reading) -> int:
        return min(reading.bytes_read * self._of // self._size, self._of - 1) + 1
