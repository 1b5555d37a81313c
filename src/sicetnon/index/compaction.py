"""Several segments or indexes become one: compaction, and merging of shards.

An index keeps its documents in segments, and its statistics cover all of them. The segments of
several indexes make an index, then, whose rankings and scores are those of an index that was built
in one go: with their files unchanged, or rewritten as a single segment without deleted documents.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError, counted
from sicetnon.index.array_files import ArrayWriter, StoredFile, damaged
from sicetnon.index.document_store import DocumentWriter
from sicetnon.index.manifest import (
    BUILDING_PREFIX,
    MAX_DOCUMENTS,
    Manifest,
    SegmentEntry,
    SliceEntry,
    annotation_file,
    building,
    locked,
    next_segment,
    read_manifest,
    slice_entry,
    write_manifest,
)
from sicetnon.index.merge import PackedSource, merge_postings
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import LengthWriter, Segment, write_forms
from sicetnon.index.term_table import IdentifierWriter, write_words
from sicetnon.text.analysis import encode_each
from sicetnon.text.words import WordTable

MAX_SEGMENTS = 8
"""Segments an index may have before adding to it merges them: each costs every query a little."""

BATCH_DOCUMENTS = 4096
"""Number of documents that are copied at a time."""


_LOG = logging.getLogger("sicetnon.index")


def compact(
    index: IndexReader, folder: Path, name: str, batch_documents: int = BATCH_DOCUMENTS
) -> SegmentEntry:
    """Write all live documents of an index as one segment.

    Args:
        index: The index.
        folder: An empty folder.
        name: The name that the folder will have.
        batch_documents: The number of documents that are copied at a time.
    """
    index.verify()
    terms = WordTable()
    term_maps = [terms.insert(segment.terms.words()) for segment in index.segments]
    renumbered = _renumber(index.segments)
    sources = [
        _packed_source(segment, term_map, len(terms), numbers)
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


def _packed_source(
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


def merge_indexes(
    shards: Sequence[Path],
    folder: Path,
    link: bool = False,
    batch_documents: int = BATCH_DOCUMENTS,
) -> Manifest:
    """Make one index of several, in place of the one that may be there.

    Documents keep their order, shard by shard. Parts of one source are put into the order of the
    source, wherever they are named. The folder may be one of the shards; the others stay as they
    are.

    Args:
        shards: The indexes.
        folder: The index to make.
        link: Whether the files of the shards' segments are shared by hard links, or copied where
            the file system has none. Left out, all live documents are rewritten as one segment,
            which is searched a little faster.
        batch_documents: The number of documents that are rewritten at a time.

    Raises:
        BrokenIndexError: A shard is missing or damaged.
        DataError: The shards hold documents of several kinds, an id occurs twice, or a part of
            their source is missing.
        UsageError: The folder holds something else, or no shard is named.
        OSError: The disk is full or not writable. In each case nothing has changed.
    """
    if not shards:
        raise UsageError("name the shards to merge")
    for shard in shards:
        # before a folder is made for the index, which may be this one
        read_manifest(shard)
    is_shard = os.path.realpath(folder) in map(os.path.realpath, shards)
    with locked(folder, may_create=not is_shard):
        return merge_locked(shards, folder, link, batch_documents)


def merge_locked(
    shards: Sequence[Path], folder: Path, link: bool, batch: int = BATCH_DOCUMENTS
) -> Manifest:
    """Merge as `merge_indexes` does, into a folder that the caller holds."""
    with ExitStack() as opened:
        readers = [opened.enter_context(IndexReader.open(shard)) for shard in shards]
        _refuse_other_kinds(readers)
        with _concatenated(_ordered(readers), folder) as index:
            index.verify()
            _refuse_common_ids(index)
            number = next_segment(folder)
            segments = _linked(index, number) if link else _rewritten(index, number, batch)
            changed = msgspec.structs.replace(
                index.manifest, segments=segments, next_segment=number + len(segments)
            )
            write_manifest(folder, changed)
            _LOG.info("merged %s into %s", counted(len(shards), "shard"), folder)
            return changed


@contextmanager
def _concatenated(shards: Sequence[IndexReader], folder: Path) -> Iterator[IndexReader]:
    """The segments of several indexes, where they lie, as one index that is not on disk."""
    segments = tuple(
        # an absolute path, which no manifest on disk may hold
        msgspec.structs.replace(entry, name=str((shard.folder / entry.name).resolve()))
        for shard in shards
        for entry in shard.manifest.segments
    )
    if (documents := sum(entry.documents for entry in segments)) > MAX_DOCUMENTS:
        raise UsageError(f"found {documents:,} documents; an index holds {MAX_DOCUMENTS:,} at most")
    first = shards[0].manifest
    # all parts of a source, in their order, are that source
    is_whole = len(shards) == 1 or slice_entry(first.source) is not None
    source = {key: value for key, value in first.source.items() if key != "part" and is_whole}
    manifest = msgspec.structs.replace(first, segments=segments, source=source)
    with IndexReader(folder, manifest, shards[0].analysis) as index:
        yield index


def _refuse_other_kinds(shards: Sequence[IndexReader]) -> None:
    first = shards[0].manifest
    for shard in shards[1:]:
        found = shard.manifest
        if (found.records, found.fields) != (first.records, first.fields):
            raise DataError(
                f"holds {found.records} ({', '.join(found.fields)}), but {shards[0].folder} holds "
                f"{first.records} ({', '.join(first.fields)}); merge shards of one kind",
                shard.folder,
            )
        for name in ("analysis", "annotations"):
            if getattr(found, name) != getattr(first, name):
                raise DataError(
                    f"has another {name.removesuffix('s') if name != 'analysis' else name} than "
                    f"{shards[0].folder}; build and annotate all shards in the same way",
                    shard.folder,
                )


def _ordered(shards: Sequence[IndexReader]) -> list[IndexReader]:
    """Slices of one source in their order, none missing; other shards in the given order."""
    entries = [slice_entry(shard.manifest.source) for shard in shards]
    parts = {entry.number: shard for entry, shard in zip(entries, shards, strict=True) if entry}
    first = next((entry for entry in entries if entry), None)
    if first is None:
        return list(shards)
    for entry, shard in zip(entries, shards, strict=True):
        if entry is None or (entry.sha256, entry.of) != (first.sha256, first.of):
            raise DataError(
                f"is no part of the source that {parts[first.number].folder} is part "
                f"{first.number} of; merge the {first.of} parts of one source, unchanged",
                shard.folder,
            )
    for entry, shard in zip(entries, shards, strict=True):
        if entry and (other := parts[entry.number]) is not shard:
            raise DataError(
                f"is part {entry.number} of {first.of}, and so is {other.folder}; name each part "
                "once",
                shard.folder,
            )
    if missing := [n for n in range(1, first.of + 1) if n not in parts]:
        raise DataError(
            f"part {missing[0]} of {first.of} is missing; build it with: "
            f"sicetnon index build SOURCE --shard {missing[0]}/{first.of} -o DIR"
        )
    _refuse_gaps(sorted((e for e in entries if e), key=lambda e: e.number), parts)
    return [parts[number] for number in sorted(parts)]


def _refuse_gaps(entries: Sequence[SliceEntry], parts: dict[int, IndexReader]) -> None:
    expected = 0
    for entry in entries:
        if entry.first != expected:
            raise DataError(
                f"begins with document {entry.first:,} of its source; expected {expected:,}; "
                "build all parts with one version of sicetnon and of Python",
                parts[entry.number].folder,
            )
        expected = entry.end


def _refuse_common_ids(index: IndexReader) -> None:
    """Refuse an id that two live documents have."""
    # shape (documents of the segment,) each
    live = [np.ones(len(s), bool) if s.live is None else s.live != 0 for s in index.segments]
    hashes = [s.identifiers.hashes() for s in index.segments]
    ordered = np.sort(np.concatenate([h[kept] for h, kept in zip(hashes, live, strict=True)]))
    common = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(common):
        return
    found: dict[str, Path] = {}
    for segment, known, kept in zip(index.segments, hashes, live, strict=True):
        for local in np.flatnonzero(np.isin(known, common) & kept).tolist():
            identifier = segment.identifiers.word(local)
            if found.get(identifier) == segment.folder.parent:
                raise damaged(segment.folder / "ids_letters", "found an id more than once")
            if identifier in found:
                shards = found[identifier].name, segment.folder.parent.name
                raise DataError(_common_id(identifier, *shards), index.folder)
            found[identifier] = segment.folder.parent


def _common_id(identifier: str, first: str, second: str) -> str:
    """The message for an id that two shards have."""
    if first.startswith(BUILDING_PREFIX):
        # of `build_shards`, which removes them
        return (
            f"the id {identifier!r} occurs more than once in the source; every document needs its "
            "own; to leave out the others, build without --shards, with --skip-invalid"
        )
    return (
        f"the id {identifier!r} is in two shards, {first} and {second}; every document needs its "
        "own"
    )


def _rewritten(index: IndexReader, number: int, batch: int) -> tuple[SegmentEntry]:
    with building(index.folder, number) as (unfinished, name):
        return (compact(index, unfinished, name, batch),)


def _linked(index: IndexReader, number: int) -> tuple[SegmentEntry, ...]:
    entries = []
    for place, segment in enumerate(index.segments, start=number):
        with building(index.folder, place) as (unfinished, name):
            for file in segment.entry.files:
                _link(segment.folder / file, unfinished / file)
            entries.append(msgspec.structs.replace(segment.entry, name=name))
    return tuple(entries)


def _link(file: Path, link: Path) -> None:
    try:
        link.hardlink_to(file)
    except OSError:
        # another file system, or one without links
        shutil.copyfile(file, link)
        with link.open("rb+") as copied:
            os.fsync(copied.fileno())
