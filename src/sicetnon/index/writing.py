"""Change an index: build, add, delete, annotate. Changes are atomic.

A change writes new files beside the old ones; replacing the manifest makes it count; only then
are files that no longer count removed. A kill leaves the old manifest, and stray files that the
next change removes.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sicetnon.errors import DataError, UsageError, counted
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.formats.identifiers import check_identifier, check_identifiers
from sicetnon.index.annotations import (
    Annotator,
    Callback,
    annotate_segment,
    annotate_segments,
    fitting,
)
from sicetnon.index.array_files import write_array
from sicetnon.index.builder import DEFAULT_MEMORY, Batch, SegmentBuilder
from sicetnon.index.compaction import MAX_SEGMENTS, compact, merge_locked
from sicetnon.index.document_store import STORE, encode_record, encode_records
from sicetnon.index.manifest import (
    BUILDING_PREFIX,
    Manifest,
    SegmentEntry,
    SliceEntry,
    building,
    locked,
    next_segment,
    write_manifest,
)
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.segment import mask_name
from sicetnon.jit import announce_work
from sicetnon.operating_system import sync_folder
from sicetnon.records import Record
from sicetnon.text.analysis import Analysis, encode_each

_BATCH_BYTES, _GROUP_CHARACTERS, _GROUP_RECORDS = 4 << 20, 1 << 16, 512
# what the plain way takes, in seconds per byte of a corpus
_PLAINLY = 1e-7


_LEAST_BYTES, _READS_PER_SLICE = 1 << 12, 64
# shards lie in folders with higher numbers than any segment
_FIRST_SHARD = 10**9
_LOG = logging.getLogger("sicetnon.index")


@dataclass(frozen=True)
class Progress:
    """The progress of a build.

    Attributes:
        documents: Documents read.
        bytes_read: Bytes read from the corpus' files.
        seconds: Since the start.
        is_read: Whether all is read, and postings are being merged.
    """

    documents: int
    bytes_read: int
    seconds: float
    is_read: bool = False


@dataclass(frozen=True)
class BuildOptions:
    """The options of a build.

    Attributes:
        analysis: Turns texts into terms.
        memory: Bytes for postings, words, ids and lengths before postings are spilled to disk.
        on_error: Called with the error of every document that can't be used; raises it by
            default.
        progress: Called after every batch.
        source: The origin of the corpus, for the manifest.
        part: The number of the part of the corpus to build from, and the number of all parts;
            the whole corpus when left out.
        annotators: Annotate documents that are added to an index with annotations.
        annotated: Called after every annotated batch.
        batch_documents: Maximum number of documents that are analysed at a time.
    """

    analysis: Analysis
    memory: int = DEFAULT_MEMORY
    on_error: Callable[[DataError], None] = Reading().on_error
    progress: Callable[[Progress], None] = lambda _: None
    source: dict[str, Any] | None = None
    part: tuple[int, int] | None = None
    annotators: Sequence[Annotator] = ()
    annotated: Callback = lambda _: None
    batch_documents: int = 8192


def build_index(corpus: Corpus, folder: Path, options: BuildOptions) -> Manifest:
    """Build an index, in place of the one that may be there.

    Raises:
        DataError: The corpus, or the part of it, cannot be read or is empty.
        UsageError: The folder holds something else, or there is no such part.
        OSError: The disk is full or not writable. In each case nothing has changed.
    """
    part = CorpusSlice(corpus, *options.part) if options.part else None
    source = dict(options.source or {})
    with locked(folder, may_create=True):
        number = next_segment(folder)
        entry = _build_segment(part.corpus if part else corpus, folder, number, options)
        if part:
            source["part"] = msgspec.to_builtins(part.entry(source.get("sha256", "")))
        manifest = Manifest(
            corpus.records,
            corpus.fields,
            options.analysis.signature(),
            (entry,),
            number + 1,
            source,
        )
        write_manifest(folder, manifest)
        _LOG.info("built %s: %s", folder, counted(entry.documents, "document"))
        return manifest


def build_shards(
    corpus: Corpus, folder: Path, options: BuildOptions, count: int, link: bool = True
) -> Manifest:
    """Build shards of a corpus, one after the other, and make one index of them.

    Args:
        corpus: The corpus.
        folder: The index to make, in place of the one that may be there.
        options: The options of each shard.
        count: The number of shards.
        link: As in `merge_indexes`.

    Raises:
        SicetnonError: As in `build_index` and `merge_indexes`. Nothing has changed then.
    """
    with locked(folder, may_create=True):
        shards = [folder / f"{BUILDING_PREFIX}{_FIRST_SHARD + n}" for n in range(count)]
        for number, shard in enumerate(shards, start=1):
            build_index(corpus, shard, dataclasses.replace(options, part=(number, count)))
        return merge_locked(shards, folder, link)


def add_documents(
    corpus: Corpus, folder: Path, options: BuildOptions, replace: bool = False
) -> Manifest:
    """Add documents to an index, in time that grows with them and not with the index.

    Args:
        corpus: The documents; of the same kind and fields as those of the index.
        folder: The index.
        options: Its analysis must be that of the index.
        replace: Whether a document whose id is in the index takes the place of that one.

    Raises:
        DataError: As `build_index`, for documents of another kind, and for an id that is taken
            unless `replace`.
        UsageError: The analysis is another, or there is no annotator of the model that the index
            has annotations by.
        BrokenIndexError: There is no such index.
        OSError: As `build_index`.
    """
    with locked(folder):
        with IndexReader.open(folder) as index:
            corpus = _of_same_kind(corpus, index, options.analysis)
            fitting(folder, index.manifest.annotations, options.annotators)
            crowded = len(index.segments) >= MAX_SEGMENTS
        if crowded:
            # first, so that a failure means that nothing was added
            _compact(folder)
        _verify_deleted(folder)
        with IndexReader.open(folder) as index:
            options = dataclasses.replace(options, analysis=index.analysis)
            return _add(corpus, index, options, replace)


def _add(corpus: Corpus, index: IndexReader, options: BuildOptions, replace: bool) -> Manifest:
    manifest = index.manifest
    replaced: set[int] = set()

    def is_taken(identifier: str) -> bool:
        number = index.number(identifier)
        if replace and number is not None:
            replaced.add(number)
            return False
        return number is not None

    annotators = fitting(index.folder, manifest.annotations, options.annotators)
    number = manifest.next_segment
    entry = _build_segment(corpus, index.folder, number, options, is_taken, annotators)
    segments = (*_with_deleted(index, replaced), entry)
    changed = msgspec.structs.replace(
        manifest, segments=segments, next_segment=number + 1, source={}
    )
    write_manifest(index.folder, changed)
    added = counted(entry.documents, "document")
    _LOG.info("added to %s: %s, %d replaced", index.folder, added, len(replaced))
    return changed


def _of_same_kind(corpus: Corpus, index: IndexReader, analysis: Analysis) -> Corpus:
    """The corpus with its fields in the order of those of the index."""
    manifest = index.manifest
    if (corpus.records, set(corpus.fields)) != (manifest.records, set(manifest.fields)):
        raise DataError(
            f"holds {corpus.records} ({', '.join(corpus.fields)}), but {index.folder} is an index "
            f"of {manifest.records} ({', '.join(manifest.fields)})",
            str(corpus.files[0]),
        )
    if not analysis.is_same_as(index.analysis):
        raise UsageError(
            f"{index.folder} was made with the analysis {index.analysis.name!r}, and what is "
            f"added must be too; found {analysis.name!r}"
        )
    return dataclasses.replace(corpus, fields=manifest.fields)


def delete_documents(folder: Path, identifiers: Sequence[str]) -> int:
    """Delete documents by id, and return their number. Unknown ids are ignored.

    Raises:
        BrokenIndexError: There is no such index.
        UsageError: No document would be left.
    """
    with locked(folder), IndexReader.open(folder) as index:
        _verify_deleted(folder)
        found = {index.number(identifier) for identifier in identifiers} - {None}
        if len(found) == index.document_count:
            raise UsageError(f"{folder}: no document would be left; remove the folder instead")
        if found:
            segments = _with_deleted(index, {n for n in found if n is not None})
            changed = msgspec.structs.replace(index.manifest, segments=segments, source={})
            write_manifest(folder, changed)
            _LOG.info("deleted from %s: %s", folder, counted(len(found), "document"))
        return len(found)


def annotate_index(
    folder: Path,
    annotators: Sequence[Annotator],
    progress: Callback = lambda _: None,
    save_seconds: float = 10.0,
) -> Manifest:
    """Give every document of an index the numbers of some annotators.

    The change is atomic; an interrupted annotation is resumed. An annotation by the same model
    stays, one by another model is replaced. The annotators get the same batches in turn, so that
    annotators of one model can share the reading.

    Args:
        folder: The index.
        annotators: The annotators, each of another name.
        progress: Called after every batch.
        save_seconds: Seconds between two checkpoints.

    Raises:
        BrokenIndexError: There is no such index.
        SicetnonError: Another process is changing it, or an annotator gives no usable numbers.
        OSError: The disk is full or not writable. In each case the index is as it was.
    """
    with locked(folder), IndexReader.open(folder) as index:
        manifest = index.manifest
        missing = [each for each in annotators if manifest.annotations.get(each.name) != each.entry]
        if not missing:
            return manifest
        verify_index(folder, STORE, "live-")
        segments = annotate_segments(index.segments, manifest, missing, progress, save_seconds)
        annotations = manifest.annotations | {each.name: each.entry for each in missing}
        changed = msgspec.structs.replace(manifest, segments=segments, annotations=annotations)
        write_manifest(folder, changed)
        return changed


def _compact(folder: Path) -> Manifest:
    with IndexReader.open(folder) as index:
        number = index.manifest.next_segment
        with building(folder, number) as (unfinished, name):
            entry = compact(index, unfinished, name)
        changed = msgspec.structs.replace(
            index.manifest, segments=(entry,), next_segment=number + 1
        )
        write_manifest(folder, changed)
        _LOG.info("merged %s of %s", counted(len(index.segments), "segment"), folder)
        return changed


def _build_segment(
    corpus: Corpus,
    folder: Path,
    number: int,
    options: BuildOptions,
    is_taken: Callable[[str], bool] | None = None,
    annotators: Sequence[Annotator] = (),
) -> SegmentEntry:
    with (
        building(folder, number) as (unfinished, name),
        SegmentBuilder(
            unfinished,
            len(corpus.fields),
            options.analysis,
            options.memory,
            options.on_error,
            is_taken,
        ) as builder,
    ):
        for batch in batches(corpus, options):
            builder.add(batch)
        if not len(builder):
            raise DataError("holds no document", str(corpus.files[0]))
        entry = builder.finish(name)
        return annotate_segment(unfinished, entry, corpus.records, annotators, options.annotated)


def batches(corpus: Corpus, options: BuildOptions) -> Iterator[Batch]:
    """Yield batches of documents; report the unusable ones."""
    reading = Reading(options.on_error)
    start, documents = time.monotonic(), 0
    options.progress(Progress(0, 0, 0.0))
    announce_work(_PLAINLY * corpus.size())
    most = options.batch_documents
    for file in corpus.files:
        batch = Batch(file=str(file))
        for records, texts in _groups(corpus, file, reading, most):
            if batch.texts.bytes >= _BATCH_BYTES or len(batch.ids) + len(records) > most:
                documents += len(batch.ids)
                yield batch
                batch = Batch(file=str(file))
                options.progress(Progress(documents, reading.bytes_read, time.monotonic() - start))
            _encode(corpus, records, texts, batch, options)
        documents += len(batch.ids)
        yield batch
    options.progress(Progress(documents, reading.bytes_read, time.monotonic() - start, True))


def _groups(
    corpus: Corpus, file: Path | str, reading: Reading, most: int
) -> Iterator[tuple[list[Record], list[str]]]:
    """The records of a file, so few at a time that they stay in the cache, and their texts."""
    records, texts, size = list[Record](), list[str](), 0
    for record in corpus.read(file, reading):
        records.append(record)
        own = corpus.texts(record)
        texts += own
        size += sum(map(len, own))
        if size >= _GROUP_CHARACTERS or len(records) >= min(most, _GROUP_RECORDS):
            yield records, texts
            records, texts, size = [], [], 0
    yield records, texts


def _encode(
    corpus: Corpus,
    records: list[Record],
    texts: list[str],
    batch: Batch,
    options: BuildOptions,
) -> None:
    """Add records and their texts to a batch; report the unusable ones."""
    try:
        check_identifiers([record.id for record in records])
        stored = encode_records(records)
    except ValueError:
        # a record cannot be used: one after the other, to say which
        kept = [record for record in records if _is_usable(record, batch.file, options.on_error)]
        records, stored = kept, encode_records(kept)
        texts = [text for record in kept for text in corpus.texts(record)]
    batch.ids.extend(encode_each(record.id for record in records))
    batch.texts.extend(options.analysis.encode(texts))
    batch.records.extend(stored)


def _is_usable(record: Record, file: str, on_error: Callable[[DataError], None]) -> bool:
    try:
        check_identifier(record.id)
        encode_record(record)
    except ValueError as error:
        on_error(DataError(f"document {record.id!r} cannot be indexed: {error}", file))
        return False
    return True


def _verify_deleted(folder: Path) -> None:
    """Verify what decides which documents are deleted: the ids and the masks so far."""
    verify_index(folder, "ids_", "live-")


def _with_deleted(index: IndexReader, numbers: set[int]) -> tuple[SegmentEntry, ...]:
    """The segments' entries with some documents deleted; new deletion masks are written."""
    entries = []
    for segment in index.segments:
        local = [n - segment.base for n in numbers if 0 <= n - segment.base < len(segment)]
        entry = segment.entry
        if local:
            live = np.ones(len(segment), np.uint8) if segment.live is None else segment.live.copy()
            live[local] = 0
            name = mask_name(len(segment) - int(live.sum()))
            files = {n: file for n, file in entry.files.items() if n != entry.deleted}
            files[name] = write_array(segment.folder / name, live)
            sync_folder(segment.folder)
            entry = msgspec.structs.replace(entry, files=files, deleted=name)
        entries.append(entry)
    return tuple(entries)


class CorpusSlice:
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

    def entry(self, sha256: str) -> SliceEntry:
        """The description of the part, once it was read."""
        end = self._before + self._own
        return SliceEntry(self._number, self._of, self._before, end, sha256)

    def _read(self, file: Path | str, reading: Reading) -> Iterator[Record]:
        # bytes are counted when they are read, and a small file would be read at once
        share = self._size // (self._of * _READS_PER_SLICE)
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
