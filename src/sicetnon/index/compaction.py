"""Compaction: the segments of an index as one, without what was deleted."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.forms import write_forms
from sicetnon.index.identifier_writer import IdentifierWriter
from sicetnon.index.length_writer import LengthWriter
from sicetnon.index.manifest import SegmentEntry, annotation_file
from sicetnon.index.merge import PackedSource, merge_postings
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.index.storage import ArrayWriter, StoredFile, damaged
from sicetnon.index.store import DocumentWriter
from sicetnon.index.words import write_words
from sicetnon.text.analysis import encode_each
from sicetnon.text.words import WordTable

MAX_SEGMENTS = 8
"""Segments an index may have before adding to it merges them: each costs every query a little."""

BATCH_DOCUMENTS = 4096
"""Number of documents that are copied at a time."""


def compact(
    index: IndexReader, folder: Path, name: str, batch_documents: int = BATCH_DOCUMENTS
) -> SegmentEntry:
    """Write all live documents of an index as one segment.

    Args:
        index: The index.
        folder: An empty folder.
        name: The name that the folder will have.
        batch_documents: The number of documents that are copied at a time.

    Raises:
        BrokenIndexError: A file of the index is damaged. New checksums would hide that.
    """
    index.verify()
    terms = WordTable()
    term_maps = [terms.insert(segment.terms.words()) for segment in index.segments]
    renumbered = _renumber(index.segments)
    sources = [
        _source(segment, term_map, len(terms), numbers)
        for segment, term_map, numbers in zip(index.segments, term_maps, renumbered, strict=True)
    ]
    files = write_words(folder, "terms", terms)
    if index.analysis.forms:
        files |= write_forms(folder, terms, index.analysis.analyzer().stem)
    files |= _copy_identifiers(index, renumbered, folder, batch_documents)
    lengths = LengthWriter(folder, len(index.manifest.fields))
    for segment, numbers in zip(index.segments, renumbered, strict=True):
        lengths.append(segment.lengths[numbers >= 0])
    files |= lengths.close()
    shape = index.document_count, len(index.manifest.fields)
    files |= merge_postings(sources, len(terms), shape, folder)
    for annotation, entry in index.manifest.annotations.items():
        name_of_file = annotation_file(annotation, entry)
        files[name_of_file] = _copy_rows(index, renumbered, folder / name_of_file, batch_documents)
    files |= _copy_records(index, renumbered, folder, batch_documents)
    return SegmentEntry(name, index.document_count, files)


def _renumber(segments: list[Segment]) -> list[NDArray[np.int32]]:
    numbers, base = [], 0
    for segment in segments:
        live = np.ones(len(segment), np.uint8) if segment.live is None else segment.live
        new = np.where(live != 0, base + np.cumsum(live, dtype=np.int64) - 1, -1)
        numbers.append(new.astype(np.int32))
        base += segment.live_count
    return numbers


def _source(
    segment: Segment, term_map: NDArray[np.int32], terms: int, numbers: NDArray[np.int32]
) -> PackedSource:
    own_terms = np.full(terms, -1, dtype=np.int32)
    own_terms[term_map] = np.arange(len(term_map), dtype=np.int32)
    return PackedSource(segment.postings, own_terms, numbers, segment.release)


def _copy_identifiers(
    index: IndexReader, renumbered: list[NDArray[np.int32]], folder: Path, batch: int
) -> dict[str, StoredFile]:
    writer = IdentifierWriter(folder)
    try:
        for segment, numbers in zip(index.segments, renumbered, strict=True):
            for first in range(0, len(segment), batch):
                kept = first + np.flatnonzero(numbers[first : first + batch] >= 0)
                writer.insert(encode_each(segment.identifiers.separable_words(kept)))
        if len(writer) != index.document_count:
            raise damaged(index.folder, "found an id more than once")
        return writer.close()
    finally:
        writer.abandon()


def _copy_rows(
    index: IndexReader, renumbered: list[NDArray[np.int32]], path: Path, batch: int
) -> StoredFile:
    """Copy an array with a row per document, without the rows of deleted ones."""
    parts = [segment.array(path.name) for segment in index.segments]
    with ArrayWriter(path, parts[0].dtype, parts[0].shape[1:]) as writer:
        for part, numbers in zip(parts, renumbered, strict=True):
            for first in range(0, len(part), batch):
                kept = numbers[first : first + batch] >= 0
                writer.append(part[first : first + batch][kept])
        return writer.close()


def _copy_records(
    index: IndexReader, renumbered: list[NDArray[np.int32]], folder: Path, batch: int
) -> dict[str, StoredFile]:
    writer = DocumentWriter(folder)
    try:
        for segment, numbers in zip(index.segments, renumbered, strict=True):
            for first in range(0, len(segment), batch):
                records = segment.store.raw(first, min(first + batch, len(segment)))
                kept = (numbers[first : first + batch] >= 0).tolist()
                writer.add(itertools.compress(records, kept))
        return writer.close()
    finally:
        writer.abandon()
