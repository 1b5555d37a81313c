"""The folder of an index: manifest.json describes it, and a rename that replaces it is the commit.

One writer holds a folder at a time, and removes what a killed writer left. The layout of a
segment's arrays is checked against the manifest before any file is opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sicetnon._version import VERSION
from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.formats.files import write_atomic
from sicetnon.index.array_files import REBUILD, StoredFile, damaged
from sicetnon.index.document_store import (
    BLOCKS,
    DICTIONARY,
    FIRSTS,
    OFFSETS,
    RECORD_TYPES,
    STORE,
    STORE_TYPES,
)
from sicetnon.index.posting_file import PATTERNS, POSTING_OFFSETS, POSTINGS
from sicetnon.index.term_table import STEP_TYPES, bases_name, buckets_of, groups_of
from sicetnon.operating_system import check_plain, make_folder, sync_folder, try_lock
from sicetnon.text.analysis import STEMMERS, Analysis
from sicetnon.text.unicode import SCANNER_VERSION

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "sicetnon index", 4
ANNOTATION_PREFIX, SEGMENT_PREFIX = "annotation-", "segment-"
MAX_DOCUMENTS = (1 << 31) - 1
_MAX_BYTES = 64 << 20
_SEGMENT_NAME = re.compile(rf"{SEGMENT_PREFIX}(\d{{6,9}})")
_MASK_NAME = re.compile(r"live-\d{1,10}")
# no name leads out of the folder of its segment
_FILE_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,199}")
_ANNOTATION_NAME = re.compile(r"[a-z]+")


LOCK = "lock"
BUILDING_PREFIX = "building-"
LOG_SUFFIX = ".unfinished"
"""Ends the name of the log beside an unfinished annotation."""
_OWN_NAMES = re.compile(
    rf"{LOCK}|{re.escape(MANIFEST)}|\.{re.escape(MANIFEST)}\..+"
    rf"|({SEGMENT_PREFIX}|{BUILDING_PREFIX})\d{{6,}}"
)


FORM_OFFSETS, FORM_NUMBERS, STEMS = "form_offsets", "form_numbers", "stems"

_Arrays = dict[str, tuple[tuple[str, ...], tuple[int, ...]]]
"""Types that an array may have, and shapes, by name."""
LENGTH_TYPES = ("uint8", "uint16", "int32")
"""The types that lengths can have, the smallest first."""


class SegmentEntry(msgspec.Struct, frozen=True):
    """One segment: a folder of files that never change once written.

    Attributes:
        name: The folder.
        documents: The number of its documents, deleted ones included.
        files: Name to description, for all files of the folder but old deletion masks.
        deleted: The name of the file with the deletion mask, where any document is deleted.
    """

    name: str
    documents: int
    files: dict[str, StoredFile]
    deleted: str | None = None


class AnnotationEntry(msgspec.Struct, frozen=True):
    """The origin of an annotation.

    Attributes:
        model: The model, with its version.
        reads: The part of a document that it read.
    """

    model: str
    reads: str


def annotation_file(name: str, entry: AnnotationEntry) -> str:
    """The file in each segment's folder with the numbers of a name: another model, another file."""
    maker = hashlib.sha256(f"{entry.model}\n{entry.reads}".encode())
    return f"{ANNOTATION_PREFIX}{name}-{maker.hexdigest()[:8]}"


class SliceEntry(msgspec.Struct, frozen=True):
    """The slice of a source that an index was built from.

    Attributes:
        number: The number of the slice, from 1.
        of: The number of all slices.
        first: The position of its first record among all records of the source, from 0, usable or
            not.
        end: The position after its last record.
        sha256: The checksum of the complete source.
    """

    number: int
    of: int
    first: int
    end: int
    sha256: str = ""


def slice_entry(source: Mapping[str, Any]) -> SliceEntry | None:
    """The slice that the description of a source names, or None if it is the complete source."""
    if "part" not in source:
        return None
    try:
        return msgspec.convert(source["part"], SliceEntry)
    except msgspec.ValidationError as error:
        raise BrokenIndexError(f"the description of its source is damaged: {error}") from None


class Manifest(msgspec.Struct, frozen=True):
    """The description of an index.

    Attributes:
        records: The kind of its documents: `arguments`, `processed`, `passages`, `pages` or
            `entries`.
        fields: The indexed fields, in the order of all arrays.
        analysis: The signature of the analysis.
        segments: In the order of their document numbers.
        next_segment: The number that the next segment will have.
        source: The origin of the documents, if known (names, checksum).
        annotations: The origin of each annotation, by its name.
    """

    records: str
    fields: tuple[str, ...]
    analysis: dict[str, str | bool | int]
    segments: tuple[SegmentEntry, ...]
    next_segment: int = 1
    source: dict[str, Any] = {}
    annotations: dict[str, AnnotationEntry] = {}
    generator: str = f"sicetnon {VERSION}"
    format: str = FORMAT
    version: int = FORMAT_VERSION


_MANIFEST = msgspec.json.Decoder(Manifest)


class _Sealed(msgspec.Struct):
    manifest: msgspec.Raw
    sha256: str


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_SEALED = msgspec.json.Decoder(_Sealed)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Commit: put the manifest in place of the old one, all or nothing."""
    body = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    seal = hashlib.sha256(body).hexdigest()
    write_atomic({folder / MANIFEST: f'{{"manifest": {body.decode()},\n"sha256": "{seal}"}}\n'})


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index."""
    path = folder / MANIFEST
    if not folder.is_dir():
        found = "is no folder" if folder.exists() else "there is no such folder"
        raise BrokenIndexError(f"{folder}: {found}; {REBUILD}")
    if path.exists() and not path.is_file():
        raise BrokenIndexError(f"{path}: is no regular file; {REBUILD}")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise BrokenIndexError(
            f"{folder}: holds no finished index (no {MANIFEST}); {REBUILD}"
        ) from None
    except OSError as error:
        raise BrokenIndexError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        if len(data) > _MAX_BYTES:
            raise ValueError(f"found more than {_MAX_BYTES:,} bytes")
        sealed = _SEALED.decode(data)
        if hashlib.sha256(bytes(sealed.manifest)).hexdigest() != sealed.sha256:
            raise ValueError("its checksum does not fit")
        kind = msgspec.json.decode(sealed.manifest, type=dict[str, Any])
        if kind.get("format") != FORMAT or kind.get("version") != FORMAT_VERSION:
            found = f"{kind.get('format')} version {kind.get('version')}"
            raise ValueError(f"found {found}, expected {FORMAT} version {FORMAT_VERSION}")
        manifest = _MANIFEST.decode(sealed.manifest)
        _check_manifest(manifest)
        return manifest
    except (ValueError, RecursionError) as error:
        raise BrokenIndexError(f"{path}: damaged or foreign: {error}; {REBUILD}") from None


def _check_manifest(manifest: Manifest) -> None:
    """Refuse names that lead out of the folder, and what contradicts itself."""
    if manifest.records not in RECORD_TYPES:
        raise ValueError(f"found records of the kind {manifest.records!r}")
    if not manifest.fields or len({*manifest.fields}) < len(manifest.fields):
        raise ValueError(f"found the fields {manifest.fields}")
    for name in manifest.annotations:
        if not _ANNOTATION_NAME.fullmatch(name):
            raise ValueError(f"found the annotation {name!r}")
    names = [entry.name for entry in manifest.segments]
    numbers = [int(n[1]) for name in names if (n := _SEGMENT_NAME.fullmatch(name))]
    if not names or len(numbers) < len(names) or len({*numbers}) < len(names):
        raise ValueError(f"found the segments {names}")
    if not max(numbers) < manifest.next_segment < 10**9:
        raise ValueError(f"found {manifest.next_segment} as the number of the next segment")
    for entry in manifest.segments:
        _check_entry(entry)
    if sum(entry.documents for entry in manifest.segments) > MAX_DOCUMENTS:
        raise ValueError(f"found more than {MAX_DOCUMENTS:,} documents")


def _check_entry(entry: SegmentEntry) -> None:
    if entry.documents < 1:
        raise ValueError(f"found {entry.documents} documents in {entry.name}")
    for name in entry.files:
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"found the file {name!r} in {entry.name}")
    if entry.deleted is not None and not (
        _MASK_NAME.fullmatch(entry.deleted) and entry.deleted in entry.files
    ):
        raise ValueError(f"found the deletion mask {entry.deleted!r} in {entry.name}")


def recorded_analysis(folder: Path, manifest: Manifest) -> Analysis:
    """The analysis that an index was made with, if this installation still works the same way."""
    recorded = manifest.analysis
    # each version of the tokeniser is at hand; before version 2 its Unicode data was Python's, and
    # versions of that differ in characters that Unicode did not have before
    scanner = recorded.get("scanner")
    older = scanner if isinstance(scanner, int) and 0 < scanner < SCANNER_VERSION else None
    try:
        analysis = Analysis(
            str(recorded["name"]),
            str(recorded["stemmer"]),
            str(recorded["stop_words"]),
            bool(recorded["forms"]),
            older,
        )
        if analysis.stemmer not in STEMMERS:
            raise UsageError(f"unknown stemmer {analysis.stemmer!r}")
        now = analysis.signature()
    except (KeyError, SicetnonError) as error:
        raise BrokenIndexError(
            f"{folder}: its analysis is unknown here: {error}; {REBUILD}"
        ) from None
    changed = [key for key in now if now[key] != recorded.get(key)]
    if changed:
        details = "; ".join(
            f"{key} {recorded.get(key)!r} then, {now[key]!r} now" for key in changed
        )
        raise BrokenIndexError(
            f"{folder}: the index was made with another text analysis ({details}), so its terms "
            f"would not match; {REBUILD}, or install the version of then"
        )
    return analysis


@contextlib.contextmanager
def locked(folder: Path, may_create: bool = False) -> Iterator[None]:
    """Hold an index for one writer; leftovers of a killed one are removed first."""
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
    when the annotation is requested again.
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
    """Refuse to write into the folder of an index, which could then not be built anew."""
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


def lengths_name(field: int) -> str:
    """The name of the file with the number of terms that each document has in a field."""
    return f"lengths_{field}"


def check_layout(folder: Path, entry: SegmentEntry, fields: int) -> None:
    """Hold the manifest's description of a segment against the layout of every segment.

    No file is opened.

    Args:
        folder: The segment's folder, for messages.
        entry: Its description.
        fields: The number of indexed fields.
    """
    try:
        expected = _expected(entry.files, entry.documents, fields)
        if entry.deleted:
            expected[entry.deleted] = (("uint8",), (entry.documents,))
        for name, (types, shape) in expected.items():
            _check_array(folder / name, entry.files[name], types, shape)
    except KeyError as error:
        raise BrokenIndexError(f"{folder}: its manifest lacks {error}; {REBUILD}") from None


def _expected(files: dict[str, StoredFile], documents: int, fields: int) -> _Arrays:
    terms = _rows(files, "terms_numbers")
    expected: _Arrays = {
        POSTINGS: (("uint64",), (_rows(files, POSTINGS),)),
        PATTERNS: (("uint16",), (_rows(files, PATTERNS), fields)),
        **_offsets(POSTING_OFFSETS, terms),
        **{lengths_name(field): (LENGTH_TYPES, (documents,)) for field in range(fields)},
        **_word_table(files, "terms", terms),
        **_word_table(files, "ids", documents),
        **_store(files, documents),
    }
    if FORM_OFFSETS in files:
        stems = _rows(files, f"{STEMS}_numbers")
        expected |= _word_table(files, STEMS, stems)
        expected[FORM_OFFSETS] = (("int64",), (stems + 1,))
        expected[FORM_NUMBERS] = (("int32",), (terms,))
    return expected


def _offsets(name: str, things: int) -> _Arrays:
    return {
        name: (STEP_TYPES, (things + 1,)),
        bases_name(name): (("int64",), (groups_of(things),)),
    }


def _store(files: dict[str, StoredFile], documents: int) -> _Arrays:
    rows = {
        STORE: _rows(files, STORE),
        OFFSETS: documents + 1,
        BLOCKS: _rows(files, FIRSTS),
        FIRSTS: max(_rows(files, FIRSTS), 1),
    }
    if DICTIONARY in files:
        rows[DICTIONARY] = _rows(files, DICTIONARY)
    return {name: ((STORE_TYPES[name],), (rows[name],)) for name in rows}


def _word_table(files: dict[str, StoredFile], prefix: str, words: int) -> _Arrays:
    letters = f"{prefix}_letters"
    return {
        letters: (("uint8",), (_rows(files, letters),)),
        **_offsets(f"{prefix}_offsets", words),
        f"{prefix}_numbers": (("int32",), (words,)),
        f"{prefix}_marks": (("uint8",), (words,)),
        f"{prefix}_buckets": (("int32",), (buckets_of(words) + 1,)),
    }


def _rows(files: dict[str, StoredFile], name: str) -> int:
    shape = files[name].shape
    return shape[0] if shape else 0


def _check_array(
    path: Path, stored: StoredFile, types: tuple[str, ...], shape: tuple[int, ...]
) -> None:
    if stored.dtype not in types or stored.shape != shape:
        found = f"found an array of {stored.dtype!r}, shape {stored.shape}"
        raise damaged(path, f"{found}; expected {' or '.join(types)}, shape {shape}")
