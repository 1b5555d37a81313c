"""The folder of an index: held by one writer, and cleaned of what a killed writer left."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.index.manifest import (
    ANNOTATION_PREFIX,
    MANIFEST,
    SEGMENT_PREFIX,
    SegmentEntry,
    read_manifest,
)
from sicetnon.platforms import check_plain, make_folder, sync_folder, try_lock

LOCK = "lock"
BUILDING_PREFIX = "building-"
LOG_SUFFIX = ".unfinished"
"""Ends the name of the log beside an unfinished annotation."""
_OWN_NAMES = re.compile(
    rf"{LOCK}|{re.escape(MANIFEST)}|\.{re.escape(MANIFEST)}\..+"
    rf"|({SEGMENT_PREFIX}|{BUILDING_PREFIX})\d{{6,}}"
)


@contextlib.contextmanager
def locked(folder: Path, may_create: bool = False) -> Iterator[None]:
    """Hold an index for one writer; leftovers of a killed one are removed first.

    Raises:
        SicetnonError: Another process holds it.
        BrokenIndexError: There is no index, unless one may be created.
        UsageError: One may be, but the folder holds something else, or lies in another index.
    """
    created = not folder.exists()
    if may_create:
        if not created and not folder.is_dir():
            raise UsageError(f"{folder}: is no folder; choose another place for the index")
        if not folder.name.startswith(BUILDING_PREFIX):
            refuse_inside_index(folder)
        make_folder(folder)
        _refuse_foreign(folder)
    else:
        # leaves a folder alone that is no index, were it only by a file to lock
        read_manifest(folder)
    check_plain(folder / LOCK)
    with (folder / LOCK).open("a") as lock:
        if not try_lock(lock):
            raise SicetnonError(f"{folder}: another process is changing this index")
        try:
            _clean(folder)
            yield
        finally:
            with contextlib.suppress(OSError):
                _clean(folder)
            if created and not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def building(folder: Path, number: int) -> Iterator[tuple[Path, str]]:
    """A folder for a new segment; renamed to its name at the end, removed on an error."""
    unfinished = folder / f"{BUILDING_PREFIX}{number:06}"
    name = f"{SEGMENT_PREFIX}{number:06}"
    unfinished.mkdir()
    try:
        yield unfinished, name
        sync_folder(unfinished)
        unfinished.rename(folder / name)
        sync_folder(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def next_segment(folder: Path) -> int:
    """The number after that of the last segment that lies in the folder, counted or not."""
    numbers = [
        int(path.name.removeprefix(SEGMENT_PREFIX))
        for path in folder.glob(f"{SEGMENT_PREFIX}*")
        if path.name.removeprefix(SEGMENT_PREFIX).isdecimal()
    ]
    return max(numbers, default=0) + 1


def _clean(folder: Path) -> None:
    """Remove what the manifest does not count: other segments, unfinished files, old masks.

    Beside a manifest that cannot be read here all segments stay: another version may read it.
    """
    counted: dict[str, SegmentEntry] = {}
    readable = True
    if (folder / MANIFEST).exists():
        try:
            counted = {entry.name: entry for entry in read_manifest(folder).segments}
        except BrokenIndexError:
            readable = False
    _refuse_links(folder)
    for path in filter(_is_own, folder.iterdir()):
        if path.name in counted:
            _clean_segment(path, counted[path.name])
        elif path.name.startswith(BUILDING_PREFIX) or (
            path.name.startswith(SEGMENT_PREFIX) and readable
        ):
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.startswith(f".{MANIFEST}."):
            path.unlink()


def _refuse_links(folder: Path) -> None:
    """Refuse links among segments and their files: what is written or removed there lies elsewhere.

    So are pipes and devices, which nobody could open without waiting.

    Raises:
        BrokenIndexError: There is one; nothing was changed.
    """
    segments = [p for p in folder.iterdir() if p.name.startswith((SEGMENT_PREFIX, BUILDING_PREFIX))]
    real = [path for path in segments if path.is_dir() and not path.is_symlink()]
    for path in itertools.chain(segments, *(path.iterdir() for path in real)):
        if path.is_symlink():
            raise BrokenIndexError(f"{path}: found a link, which leads out of the index; remove it")
        if not path.is_dir() and not path.is_file():
            raise BrokenIndexError(f"{path}: is a pipe or a device; remove it")


def _clean_segment(folder: Path, entry: SegmentEntry) -> None:
    """Remove from a segment the files that the manifest does not name: masks, old annotations.

    An unfinished annotation stays with its log: making it may have taken hours, and it is resumed
    when the annotation is asked for again.
    """
    for file in folder.glob("live-*"):
        if file.name != entry.deleted:
            file.unlink()
    for file in folder.glob(f"{ANNOTATION_PREFIX}*"):
        name = file.name.removesuffix(LOG_SUFFIX)
        has_log = (folder / f"{name}{LOG_SUFFIX}").exists()
        is_log = name != file.name
        if (name in entry.files) if is_log else not (name in entry.files or has_log):
            file.unlink()


def _is_own(path: Path) -> bool:
    return _OWN_NAMES.fullmatch(path.name) is not None


def refuse_inside_index(path: Path) -> None:
    """Refuse to write into the folder of an index, which could then not be built anew.

    Raises:
        UsageError: The path lies in such a folder.
    """
    # `resolve` has no answer to a link that leads to itself
    for parent in Path(os.path.realpath(path)).parents:
        if (parent / MANIFEST).is_file() and any(parent.glob(f"{SEGMENT_PREFIX}*")):
            raise UsageError(f"{path}: lies in the index {parent}; choose a place outside of it")


def _refuse_foreign(folder: Path) -> None:
    """Refuse to build among files that are not an index's."""
    foreign = sorted(path.name for path in folder.iterdir() if not _is_own(path))
    if foreign:
        raise UsageError(
            f"{folder}: is not empty and no index (it holds {foreign[0]!r}); choose another folder"
        )
