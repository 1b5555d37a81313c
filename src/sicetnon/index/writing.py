"""Changing an index: build, add, delete. Every change is whole or has not happened.

A change writes new files beside the old ones; replacing the manifest makes it count; only then
are files that no longer count removed. A kill leaves the old manifest, and stray files that the
next change removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.builder import DEFAULT_MEMORY, Batch, SegmentBuilder
from sicetnon.index.compaction import MAX_SEGMENTS, compact
from sicetnon.index.documents import encode_record
from sicetnon.index.index import Index
from sicetnon.index.manifest import (
    MANIFEST,
    Manifest,
    SegmentEntry,
    read_manifest,
    write_manifest,
)
from sicetnon.index.storage import sync_folder, write_array
from sicetnon.text.analysis import Analysis, encode

LOCK = "lock"
SEGMENT_PREFIX, BUILDING_PREFIX = "segment-", "building-"
BATCH_DOCUMENTS, BATCH_BYTES = 8192, 8 << 20


@dataclass(frozen=True)
class Progress:
    """How far a build is.

    Attributes:
        documents: Documents read.
        bytes_read: Bytes read from the corpus' files.
        seconds: Since the start.
    """

    documents: int
    bytes_read: int
    seconds: float


@dataclass(frozen=True)
class BuildOptions:
    """What a build may be told.

    Attributes:
        analysis: How texts become terms.
        memory: Bytes for postings before they are spilled to disk.
        on_error: Called with the error of every document that can't be used; raises it by
            default.
        progress: Called now and then.
        source: What the manifest shall say of the corpus.
    """

    analysis: Analysis
    memory: int = DEFAULT_MEMORY
    on_error: Callable[[DataError], None] = Reading().on_error
    progress: Callable[[Progress], None] = lambda _: None
    source: dict[str, Any] | None = None


def build_index(corpus: Corpus, folder: Path, options: BuildOptions) -> Manifest:
    """Build an index, in place of the one that may be there.

    Raises:
        DataError: The corpus cannot be read or is empty.
        UsageError: The folder holds something else.
        OSError: The disk is full or not writable. In each case nothing has changed.
    """
    with _locked(folder, may_create=True):
        number = _next_segment(folder)
        entry = _build_segment(corpus, folder, number, options, lambda _: False)
        manifest = Manifest(
            corpus.records,
            corpus.fields,
            options.analysis.signature(),
            (entry,),
            number + 1,
            options.source or {},
        )
        _commit(folder, manifest)
        return manifest


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
        DataError: As `build_index`, and for an id that is taken unless `replace`.
        BrokenIndexError: There is no such index, or it is of another kind.
    """
    with _locked(folder), Index.open(folder) as index:
        manifest = index.manifest
        if (corpus.records, corpus.fields) != (manifest.records, manifest.fields):
            raise DataError(
                f"holds {corpus.records} ({', '.join(corpus.fields)}), but {folder} is an index "
                f"of {manifest.records} ({', '.join(manifest.fields)})",
                str(corpus.files[0]),
            )
        replaced: set[int] = set()

        def is_taken(identifier: str) -> bool:
            number = index.number(identifier)
            if replace and number is not None:
                replaced.add(number)
                return False
            return number is not None

        entry = _build_segment(corpus, folder, manifest.next_segment, options, is_taken)
        segments = (*_with_deleted(index, replaced), entry)
        changed = msgspec.structs.replace(
            manifest, segments=segments, next_segment=manifest.next_segment + 1, source={}
        )
        _commit(folder, changed)
    return compact_index(folder) if len(segments) > MAX_SEGMENTS else changed


def delete_documents(folder: Path, identifiers: Sequence[str]) -> int:
    """Delete documents by id; how many there were is returned, unknown ids counting nothing.

    Raises:
        BrokenIndexError: There is no such index.
        UsageError: No document would be left.
    """
    with _locked(folder), Index.open(folder) as index:
        found = {index.number(identifier) for identifier in identifiers} - {None}
        if len(found) == index.document_count:
            raise UsageError(f"{folder}: no document would be left; remove the folder instead")
        if found:
            segments = _with_deleted(index, {n for n in found if n is not None})
            changed = msgspec.structs.replace(index.manifest, segments=segments, source={})
            _commit(folder, changed)
        return len(found)


def compact_index(folder: Path) -> Manifest:
    """Merge all segments into one, leaving deleted documents out."""
    with _locked(folder), Index.open(folder) as index:
        number = index.manifest.next_segment
        with _building(folder, number) as (building, name):
            entry = compact(index, building, name)
        changed = msgspec.structs.replace(
            index.manifest, segments=(entry,), next_segment=number + 1
        )
        _commit(folder, changed)
        return changed


def _build_segment(
    corpus: Corpus,
    folder: Path,
    number: int,
    options: BuildOptions,
    is_taken: Callable[[str], bool],
) -> SegmentEntry:
    with (
        _building(folder, number) as (building, name),
        SegmentBuilder(
            building,
            len(corpus.fields),
            options.analysis,
            options.memory,
            options.on_error,
            is_taken,
        ) as builder,
    ):
        for batch in _batches(corpus, options):
            builder.add(batch)
        if not len(builder):
            raise DataError("holds no document", str(corpus.files[0]))
        return builder.finish(name)


def _batches(corpus: Corpus, options: BuildOptions) -> Iterator[Batch]:
    reading = Reading(options.on_error)
    start, documents = time.monotonic(), 0
    for file in corpus.files:
        batch, size = Batch(file=str(file)), 0
        for record in corpus.read(file, reading):
            texts = [encode(text) for text in corpus.texts(record)]
            try:
                stored = encode_record(record)
            except ValueError as error:
                options.on_error(
                    DataError(f"document {record.id!r} cannot be stored: {error}", str(file))
                )
                continue
            batch.ids.append(encode(record.id))
            batch.texts.extend(texts)
            batch.records.append(stored)
            size += sum(map(len, texts))
            if size >= BATCH_BYTES or len(batch.ids) >= BATCH_DOCUMENTS:
                documents += len(batch.ids)
                yield batch
                batch, size = Batch(file=str(file)), 0
                options.progress(Progress(documents, reading.bytes_read, time.monotonic() - start))
        documents += len(batch.ids)
        yield batch
    options.progress(Progress(documents, reading.bytes_read, time.monotonic() - start))


def _with_deleted(index: Index, numbers: set[int]) -> tuple[SegmentEntry, ...]:
    """The segments' entries with some documents deleted; new deletion masks are written."""
    entries = []
    for segment in index.segments:
        local = [n - segment.base for n in numbers if 0 <= n - segment.base < len(segment)]
        entry = segment.entry
        if local:
            live = np.ones(len(segment), np.uint8) if segment.live is None else segment.live.copy()
            live[local] = 0
            name = f"live-{len(segment) - int(live.sum())}"
            files = {n: file for n, file in entry.files.items() if n != entry.deleted}
            files[name] = write_array(segment.folder / name, live)
            sync_folder(segment.folder)
            entry = msgspec.structs.replace(entry, files=files, deleted=name)
        entries.append(entry)
    return tuple(entries)


@contextlib.contextmanager
def _building(folder: Path, number: int) -> Iterator[tuple[Path, str]]:
    """A folder to write a segment in, renamed to its name at the end, removed on an error."""
    building = folder / f"{BUILDING_PREFIX}{number:06}"
    name = f"{SEGMENT_PREFIX}{number:06}"
    building.mkdir()
    try:
        yield building, name
        sync_folder(building)
        building.rename(folder / name)
        sync_folder(folder)
    except sqlite3.Error as error:
        raise SicetnonError(f"{building}: the document store cannot be written: {error}") from None
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _commit(folder: Path, manifest: Manifest) -> None:
    write_manifest(folder, manifest)
    _clean(folder, manifest)


def _clean(folder: Path, manifest: Manifest | None) -> None:
    """Remove what no manifest counts: unfinished and replaced segments, old deletion masks."""
    counted = {entry.name: entry for entry in manifest.segments} if manifest else {}
    for path in folder.iterdir():
        if path.name.startswith((SEGMENT_PREFIX, BUILDING_PREFIX)) and path.name not in counted:
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.startswith(f".{MANIFEST}."):
            path.unlink()
        elif path.name in counted:
            for file in path.glob("live-*"):
                if file.name != counted[path.name].deleted:
                    file.unlink()


def _next_segment(folder: Path) -> int:
    numbers = [
        int(path.name.removeprefix(SEGMENT_PREFIX))
        for path in folder.glob(f"{SEGMENT_PREFIX}*")
        if path.name.removeprefix(SEGMENT_PREFIX).isdecimal()
    ]
    return max(numbers, default=0) + 1


@contextlib.contextmanager
def _locked(folder: Path, may_create: bool = False) -> Iterator[None]:
    """Hold an index for one writer; leftovers of a killed one are removed first."""
    created = not folder.exists()
    if may_create:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_foreign(folder)
    elif created:
        read_manifest(folder)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SicetnonError(f"{folder}: another process is changing this index") from None
        try:
            _clean(folder, _manifest_if_any(folder))
            yield
        finally:
            manifest = _manifest_if_any(folder)
            with contextlib.suppress(OSError):
                _clean(folder, manifest)
            if manifest is None and created:
                shutil.rmtree(folder, ignore_errors=True)


def _manifest_if_any(folder: Path) -> Manifest | None:
    """The manifest; None for none, and for a damaged one, whose segments nobody can read."""
    try:
        return read_manifest(folder)
    except BrokenIndexError:
        return None


def _refuse_foreign(folder: Path) -> None:
    """Refuse to build among files that are not an index's."""
    known = (SEGMENT_PREFIX, BUILDING_PREFIX, MANIFEST, f".{MANIFEST}", LOCK)
    foreign = [entry.name for entry in os.scandir(folder) if not entry.name.startswith(known)]
    if foreign:
        raise UsageError(
            f"{folder}: is not empty and no index (it holds {sorted(foreign)[0]!r}); "
            "choose another folder with -o"
        )
