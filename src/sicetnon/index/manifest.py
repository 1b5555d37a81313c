"""manifest.json describes an index. A rename that replaces it commits a change."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from sicetnon._version import VERSION
from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.formats.files import write_whole
from sicetnon.index.documents import RECORD_TYPES
from sicetnon.index.storage import REBUILD, StoredFile
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


class Manifest(msgspec.Struct, frozen=True):
    """The whole description of an index.

    Attributes:
        records: The kind of its documents: `arguments`, `processed`, `passages`, `pages` or
            `entries`.
        fields: The indexed fields, in the order of all arrays.
        analysis: The signature of the analysis.
        segments: In the order of their document numbers.
        next_segment: The number that the next segment will have.
        source: The origin of the documents, as far as it is known (names, checksum).
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


class _Sealed(msgspec.Struct):
    manifest: msgspec.Raw
    sha256: str


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Commit: put the manifest in place of the old one, all or nothing."""
    body = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    seal = hashlib.sha256(body).hexdigest()
    write_whole({folder / MANIFEST: f'{{"manifest": {body.decode()},\n"sha256": "{seal}"}}\n'})


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index.

    Raises:
        BrokenIndexError: The folder holds no index, an unfinished, damaged or newer one.
    """
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
        sealed = msgspec.json.decode(data, type=_Sealed)
        if hashlib.sha256(bytes(sealed.manifest)).hexdigest() != sealed.sha256:
            raise ValueError("its checksum does not fit")
        kind = msgspec.json.decode(sealed.manifest, type=dict[str, Any])
        if kind.get("format") != FORMAT or kind.get("version") != FORMAT_VERSION:
            found = f"{kind.get('format')} version {kind.get('version')}"
            raise ValueError(f"found {found}, expected {FORMAT} version {FORMAT_VERSION}")
        manifest = msgspec.json.decode(sealed.manifest, type=Manifest)
        _check(manifest)
        return manifest
    except (ValueError, RecursionError) as error:
        raise BrokenIndexError(f"{path}: damaged or foreign: {error}; {REBUILD}") from None


def _check(manifest: Manifest) -> None:
    """Refuse names that lead out of the folder, and what contradicts itself.

    Raises:
        ValueError: There is some of it.
    """
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
    """The analysis that an index was made with, if this installation still works the same way.

    Raises:
        BrokenIndexError: It does not: the same text would now give other terms.
    """
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
