"""Shards: indexes of parts of a collection, built apart, and made into one.

An index keeps its documents in segments, and its statistics cover all of them. The segments of
several indexes make an index, then, whose rankings and scores are those of an index that was built
in one go: as they are, since their files never change, or rewritten as a single segment.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import numpy as np

from sicetnon.errors import DataError, UsageError, counted
from sicetnon.index.compaction import BATCH_DOCUMENTS, compact
from sicetnon.index.folder import BUILDING_PREFIX, building, locked, next_segment
from sicetnon.index.manifest import (
    MAX_DOCUMENTS,
    Manifest,
    SegmentEntry,
    read_manifest,
    write_manifest,
)
from sicetnon.index.parts import PartEntry, part_entry
from sicetnon.index.reader import IndexReader
from sicetnon.index.storage import damaged

_LOG = logging.getLogger("sicetnon.index")


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
        link: Whether the segments of the shards are taken as they are. Their files are shared by
            hard links, or copied where the file system has none. Left out, all live documents are
            rewritten as one segment, which is searched a little faster.
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
        return _merge(shards, folder, link, batch_documents)


def build_shards(
    folder: Path, count: int, build: Callable[[Sequence[Path]], None], link: bool = True
) -> Manifest:
    """Build shards at one time, and make one index of them.

    Args:
        folder: The index to make, in place of the one that may be there.
        count: The number of shards.
        build: Builds an index in each of some folders.
        link: As in `merge_indexes`.

    Raises:
        SicetnonError: As in `merge_indexes`, and what `build` raises. Nothing has changed then.
    """
    with locked(folder, may_create=True):
        # a process that outlives a kill of this one writes to no folder of another build
        unlike = f"{BUILDING_PREFIX}{os.getpid():06}"
        folders = [folder / f"{unlike}{number:04}" for number in range(1, count + 1)]
        build(folders)
        return _merge(folders, folder, link)


def _merge(
    shards: Sequence[Path], folder: Path, link: bool, batch: int = BATCH_DOCUMENTS
) -> Manifest:
    with ExitStack() as opened:
        readers = [opened.enter_context(IndexReader.open(shard)) for shard in shards]
        _refuse_other_kinds(readers)
        with _joined(_in_order(readers), folder) as index:
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
def _joined(shards: Sequence[IndexReader], folder: Path) -> Iterator[IndexReader]:
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
    is_whole = len(shards) == 1 or part_entry(first.source) is not None
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


def _in_order(shards: Sequence[IndexReader]) -> list[IndexReader]:
    """Parts of one source in their order, none missing; other shards as they are named."""
    entries = [part_entry(shard.manifest.source) for shard in shards]
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


def _refuse_gaps(entries: Sequence[PartEntry], parts: dict[int, IndexReader]) -> None:
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
