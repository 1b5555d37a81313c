"""manifest.json describes an index. A rename that replaces it commits a change."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from sicetnon._version import VERSION
from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.formats.files import write_whole
from sicetnon.index.storage import REBUILD, StoredFile
from sicetnon.text.analysis import Analysis
from sicetnon.text.stems import STEMMERS

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "sicetnon index", 1
ANNOTATION_PREFIX = "annotation-"


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
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BrokenIndexError(
            f"{folder}: holds no finished index (no {MANIFEST}); {REBUILD}"
        ) from None
    except OSError as error:
        raise BrokenIndexError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        sealed = msgspec.json.decode(data, type=_Sealed)
        if hashlib.sha256(bytes(sealed.manifest)).hexdigest() != sealed.sha256:
            raise ValueError("its checksum does not fit")
        kind = msgspec.json.decode(sealed.manifest, type=dict[str, Any])
        if kind.get("format") != FORMAT or kind.get("version") != FORMAT_VERSION:
            found = f"{kind.get('format')} version {kind.get('version')}"
            raise ValueError(f"found {found}, expected {FORMAT} version {FORMAT_VERSION}")
        return msgspec.json.decode(sealed.manifest, type=Manifest)
    except ValueError as error:
        raise BrokenIndexError(f"{path}: damaged or foreign: {error}; {REBUILD}") from None


def recorded_analysis(folder: Path, manifest: Manifest) -> Analysis:
    """The analysis that an index was made with, if this installation still works the same way.

    Raises:
        BrokenIndexError: It does not: the same text would now give other terms.
    """
    recorded = manifest.analysis
    try:
        analysis = Analysis(
            str(recorded["name"]),
            str(recorded["stemmer"]),
            str(recorded["stop_words"]),
            bool(recorded["forms"]),
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
