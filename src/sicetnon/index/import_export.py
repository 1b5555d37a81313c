"""Indexes to and from files in the Common Index File Format."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon._version import VERSION
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.ciff import CiffHeader, CiffReader, PostingsLists, write_ciff
from sicetnon.formats.files import checksum
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.json_records import name_of
from sicetnon.index.array_files import ArrayWriter, MappedArray, StoredFile
from sicetnon.index.compaction import merge_indexes
from sicetnon.index.document_store import DocumentWriter, encode_record
from sicetnon.index.manifest import (
    Manifest,
    SegmentEntry,
    building,
    locked,
    next_segment,
    refuse_inside_index,
    write_manifest,
)
from sicetnon.index.merge import Source, blocks, merge_postings
from sicetnon.index.posting_codec import MAX_FREQUENCY
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import LengthWriter, Segment, write_forms
from sicetnon.index.term_table import IdentifierWriter, write_words
from sicetnon.records import Entry
from sicetnon.text.analysis import ANALYSES, Analysis, encode, named_analysis
from sicetnon.text.words import WordTable

_FIELD = "text"
_BLOCK_POSTINGS, _BATCH_DOCUMENTS = 1 << 18, 8192
_OWN_DESCRIPTION = re.compile(r"sicetnon [^;]*; analysis ([a-z-]+);")


def export_ciff(folder: Path, path: Path) -> None:
    """Write an index as a CIFF file: terms, postings, ids and lengths, no texts.

    All fields become one text. Deleted documents are left out. Terms are in the order of their
    bytes, as some programs expect them.

    Args:
        folder: The index.
        path: The file.

    Raises:
        BrokenIndexError: There is no such index, or it is damaged.
        UsageError: The file would lie in the folder of an index.
        OSError: The disk is full or not writable.
    """
    refuse_inside_index(path)
    with tempfile.TemporaryDirectory(prefix="sicetnon-") as scratch:
        with IndexReader.open(folder) as index:
            index.verify()
            is_one = len(index.segments) == 1 and index.segments[0].live is None
        if not is_one:
            merge_indexes([folder], Path(scratch) / "index")
            folder = Path(scratch) / "index"
        with IndexReader.open(folder) as index:
            _export(index, path)


def _export(index: IndexReader, path: Path) -> None:
    (segment,) = index.segments
    words = segment.terms.words()
    counts = segment.postings.counts()
    order = sorted((n for n in range(len(words)) if counts[n]), key=words.__getitem__)
    total = int(index.field_totals.sum())
    fields = ", ".join(index.fields)
    description = f"sicetnon {VERSION}; analysis {index.analysis.name}; fields {fields} as one text"
    header = CiffHeader(
        len(order), index.size, len(order), index.size, total, total / index.size, description
    )
    write_ciff(path, header, _lists(segment, words, counts, order), _documents(segment))


def _lists(
    segment: Segment, words: list[bytes], counts: NDArray[np.int64], order: list[int]
) -> Iterator[PostingsLists]:
    ends = np.append(0, np.cumsum(counts[order]))
    for first, end in blocks(ends, _BLOCK_POSTINGS):
        terms = order[first:end]
        _, documents, frequencies = segment.postings.unpack_all(np.array(terms, np.int32))
        sums = np.minimum(frequencies.sum(axis=1, dtype=np.int64), MAX_FREQUENCY)
        yield PostingsLists(
            [words[each] for each in terms], counts[terms], documents.astype(np.int64), sums
        )


def _documents(segment: Segment) -> Iterator[tuple[str, int]]:
    for first in range(0, len(segment), _BATCH_DOCUMENTS):
        lengths = segment.lengths[first : first + _BATCH_DOCUMENTS].sum(axis=1)
        numbers = np.arange(first, first + len(lengths), dtype=np.int64)
        identifiers = segment.identifiers.separable_words(numbers)
        yield from zip(identifiers, lengths.tolist(), strict=True)


def build_from_ciff(path: Path, folder: Path, analysis: Analysis | None = None) -> Manifest:
    """Build an index from a CIFF file, in place of the one that may be there.

    Its documents have ids and no texts. It scores with the lengths in the file: some programs write
    them rounded.

    Args:
        path: The file.
        folder: The index.
        analysis: Turns questions into the terms of the file. May be left out for files that
            `export_ciff` wrote.

    Raises:
        DataError: The file is damaged, holds no document, or an id that cannot be used.
        UsageError: The folder holds something else, or no analysis is named.
        OSError: The disk is full or not writable. In each case nothing has changed.
    """
    reader = CiffReader(path)
    analysis = analysis or _described_analysis(reader, path)
    if not reader.header.documents:
        raise DataError("holds no document", path)
    with locked(folder, may_create=True):
        number = next_segment(folder)
        with building(folder, number) as (unfinished, name):
            entry = _Import(reader, path, unfinished, analysis).segment(name)
        source = {"files": [name_of(path)], "crc32": checksum(path)}
        fields, signature = (_FIELD,), analysis.signature()
        manifest = Manifest("entries", fields, signature, (entry,), number + 1, source)
        write_manifest(folder, manifest)
        return manifest


def _described_analysis(reader: CiffReader, path: Path) -> Analysis:
    named = _OWN_DESCRIPTION.match(reader.header.description)
    if named and named[1] in ANALYSES:
        return named_analysis(named[1])
    raise UsageError(
        f"{path}: does not tell how its terms were made; name how questions become its terms: "
        f"--analysis {', '.join(ANALYSES)}"
    )


class _Import:
    """Writes the segment of a CIFF file."""

    def __init__(self, reader: CiffReader, path: Path, folder: Path, analysis: Analysis):
        self._reader, self._path, self._folder = reader, path, folder
        self._analysis = analysis
        self._most = 0, ""

    def segment(self, name: str) -> SegmentEntry:
        """Write the files of the segment, and describe them."""
        terms, counts, run = self._read_lists()
        lengths, files = self._read_documents()
        occurrences, term = self._most
        if occurrences > (total := int(lengths.sum(dtype=np.int64))):
            what = f"the term {term!r} occurs {occurrences:,} times in documents of {total:,} terms"
            raise DataError(what, self._path)
        files |= write_words(self._folder, "terms", terms)
        if self._analysis.forms:
            files |= write_forms(self._folder, terms, self._analysis.analyzer().stem)
        written = LengthWriter(self._folder, 1)
        written.append(lengths[:, None])
        files |= written.close()
        documents, frequencies = (
            MappedArray(self._folder / part, stored) for part, stored in run.items()
        )
        same = np.arange(max(len(terms), len(lengths)), dtype=np.int32)
        source = Source(
            np.append(0, np.cumsum(counts)), documents.array, frequencies.array,
            same[: len(terms)], same[: len(lengths)], documents.release, self._folder,
        )  # fmt: skip
        files |= merge_postings([source], len(terms), (len(lengths), 1), self._folder)
        for part in run:
            (self._folder / part).unlink()
        return SegmentEntry(name, len(lengths), files)

    def _read_lists(self) -> tuple[WordTable, NDArray[np.int64], dict[str, StoredFile]]:
        terms, counts = WordTable(), [np.empty(0, np.int64)]
        writers = {
            "run-documents": ArrayWriter(self._folder / "run-documents", np.int32),
            "run-frequencies": ArrayWriter(self._folder / "run-frequencies", np.uint16, (1,)),
        }
        try:
            for lists in self._reader.lists():
                before = len(terms)
                bad = [t.decode() for t in lists.terms if t.decode().split() != [t.decode()]]
                terms.insert(lists.terms)
                if bad or len(terms) - before != len(lists.terms):
                    what = f"the term {bad[0]!r} holds white space" if bad else "a term comes twice"
                    raise DataError(what, self._path)
                counts.append(lists.counts)
                clipped = np.minimum(lists.frequencies, MAX_FREQUENCY)
                totals = np.diff(np.cumsum(clipped)[np.cumsum(lists.counts) - 1], prepend=0)
                most = int(totals.argmax())
                self._most = max(self._most, (int(totals[most]), lists.terms[most].decode()))
                writers["run-documents"].append(lists.documents)
                writers["run-frequencies"].append(clipped[:, None])
            return terms, np.concatenate(counts), {n: w.close() for n, w in writers.items()}
        finally:
            for writer in writers.values():
                writer.abandon()

    def _read_documents(self) -> tuple[NDArray[np.int32], dict[str, StoredFile]]:
        lengths, batch = np.zeros(self._reader.header.documents, np.int32), []
        with ExitStack() as closing:
            ids = IdentifierWriter(self._folder)
            closing.callback(ids.abandon)
            store = DocumentWriter(self._folder)
            closing.callback(store.abandon)
            for number, (identifier, length) in enumerate(self._reader.documents()):
                try:
                    check_identifier(identifier)
                except ValueError as error:
                    raise DataError(str(error), self._path) from None
                if not 0 <= length < 1 << 31:
                    raise DataError(f"document {identifier!r} has {length} terms", self._path)
                lengths[number] = length
                batch.append(identifier)
                if len(batch) == _BATCH_DOCUMENTS or number == len(lengths) - 1:
                    ids.insert(list(map(encode, batch)))
                    store.add(encode_record(Entry(each, {_FIELD: ""})) for each in batch)
                    batch = []
            if len(ids) != len(lengths):
                raise DataError("an id comes twice; every document needs its own", self._path)
            return lengths, ids.close() | store.close()
