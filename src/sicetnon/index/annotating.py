"""Annotating: a model reads all documents of an index, and its numbers are stored with them.

This may take hours, so what is interrupted is gone on with: beside an unfinished file lies a note
that says how much of it is good. Nothing of it counts before the manifest does.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.formats.files import write_whole
from sicetnon.index.annotations import Annotator, packed
from sicetnon.index.documents import DocumentReader
from sicetnon.index.folder import NOTE_SUFFIX, locked
from sicetnon.index.index import Index
from sicetnon.index.manifest import (
    AnnotationEntry,
    Manifest,
    SegmentEntry,
    annotation_file,
    write_manifest,
)
from sicetnon.index.segment import STORE
from sicetnon.index.storage import ArrayWriter, StoredFile, checksum, sync_folder
from sicetnon.records import Record

BATCH_DOCUMENTS, BATCH_LETTERS = 1024, 4 << 20
"""What an annotator is given at a time at most; enough to sort by length."""

SAVE_SECONDS = 10.0
_STEP = 64


@dataclass(frozen=True)
class Annotated:
    """How far annotating is.

    Attributes:
        name: What is being given to the documents.
        documents: How many have it, those of an interrupted time before included.
        total: How many there are.
    """

    name: str
    documents: int
    total: int


Tell = Callable[[Annotated], None]


@dataclass(frozen=True)
class _Documents:
    """Where the documents of a segment are.

    Attributes:
        folder: The segment's folder.
        store: Its records.
        count: How many there are.
        live: uint8, 0 for a deleted one, shape (count,); None when none is.
    """

    folder: Path
    store: DocumentReader
    count: int
    live: NDArray[np.uint8] | None = None

    def batches(self, first: int) -> Iterator[tuple[int, list[Record]]]:
        """The records from one on, with the first one's number; deleted ones too."""
        records: list[Record] = []
        letters = 0
        for begin in range(first, self.count, _STEP):
            for record in self.store.between(begin, min(begin + _STEP, self.count)):
                if len(records) >= BATCH_DOCUMENTS or letters >= BATCH_LETTERS:
                    yield first, records
                    first += len(records)
                    records, letters = [], 0
                records.append(record)
                letters += len(record.default_text())
        if records:
            yield first, records


def annotate_index(
    folder: Path, annotators: Sequence[Annotator], tell: Tell = lambda _: None
) -> Manifest:
    """Give every document of an index the numbers of some annotators.

    Each is whole or has not happened; one that was interrupted goes on where it was. What the
    index already has of the same model is left as it is, of another model is replaced.

    Args:
        folder: The index.
        annotators: What reads the documents, one after the other.
        tell: Called after every batch.

    Raises:
        BrokenIndexError: There is no such index.
        SicetnonError: Another process is changing it, or an annotator gives no usable numbers.
        OSError: The disk is full or not writable. In each case the index is as it was, with those
            annotations that were finished.
    """
    with locked(folder):
        for annotator in annotators:
            with Index.open(folder) as index:
                if index.manifest.annotations.get(annotator.name) != annotator.entry:
                    _annotate(index, annotator, tell)
        with Index.open(folder) as index:
            return index.manifest


def _annotate(index: Index, annotator: Annotator, tell: Tell) -> None:
    manifest, entries = index.manifest, []
    for segment in index.segments:
        documents = _Documents(segment.folder, segment.store, len(segment), segment.live)
        _forget_others(segment.folder, segment.entry, annotator)
        base = segment.base
        stored = _write(
            documents,
            annotator,
            lambda done, base=base: tell(Annotated(annotator.name, base + done, index.size)),  # type: ignore[misc]
        )
        entries.append(_with_file(manifest, segment.entry, annotator, stored))
    annotations = {**manifest.annotations, annotator.name: annotator.entry}
    changed = msgspec.structs.replace(manifest, segments=tuple(entries), annotations=annotations)
    write_manifest(index.folder, changed)


def annotated(
    folder: Path,
    entry: SegmentEntry,
    records: str,
    annotators: Sequence[Annotator],
    tell: Tell = lambda _: None,
) -> SegmentEntry:
    """Annotate a segment that no manifest counts yet; its entry with the files of that.

    Args:
        folder: Where the segment is.
        entry: What is to be said of it.
        records: The kind of its records.
        annotators: What reads the documents.
        tell: Called after every batch.
    """
    files = dict(entry.files)
    with contextlib.closing(DocumentReader(folder / STORE, records)) as store:
        documents = _Documents(folder, store, entry.documents)
        for annotator in annotators:
            files[annotation_file(annotator.name, annotator.entry)] = _write(
                documents,
                annotator,
                lambda done, name=annotator.name: tell(Annotated(name, done, entry.documents)),  # type: ignore[misc]
            )
    return msgspec.structs.replace(entry, files=files)


def fitting(index: Index, annotators: Sequence[Annotator]) -> list[Annotator]:
    """The annotators that an index needs for what is added to it: one for each annotation.

    Args:
        index: The index.
        annotators: Those at hand.

    Raises:
        UsageError: One is missing, or its model is another than that of the index.
    """
    at_hand = {annotator.name: annotator for annotator in annotators}
    for name, entry in index.manifest.annotations.items():
        other = at_hand.get(name)
        if other is None or other.entry != entry:
            here = "there is none here" if other is None else f"here it is {_made(other.entry)}"
            raise UsageError(
                f"{index.folder}: the {name} of its documents is {_made(entry)}, and that of what "
                f"is added must be too; {here}. To make all anew first: "
                f"sicetnon index -o {index.folder} --annotate {name}"
            )
    return [at_hand[name] for name in index.manifest.annotations]


def _made(entry: AnnotationEntry) -> str:
    return f"by {entry.model} from {entry.reads}"


def _with_file(
    manifest: Manifest, entry: SegmentEntry, annotator: Annotator, stored: StoredFile
) -> SegmentEntry:
    """A segment's entry with a new annotation, in place of an older one of the name."""
    files = dict(entry.files)
    older = manifest.annotations.get(annotator.name)
    if older is not None:
        files.pop(annotation_file(annotator.name, older), None)
    files[annotation_file(annotator.name, annotator.entry)] = stored
    return msgspec.structs.replace(entry, files=files)


def _forget_others(folder: Path, entry: SegmentEntry, annotator: Annotator) -> None:
    """Remove what other models left unfinished of the same name."""
    own = annotation_file(annotator.name, annotator.entry)
    for path in folder.glob(f"{own.rpartition('-')[0]}-*"):
        if path.name not in entry.files and not path.name.startswith(own):
            path.unlink()


def _write(documents: _Documents, annotator: Annotator, tell: Callable[[int], None]) -> StoredFile:
    """Write the numbers of a segment's documents, going on where an earlier try has ended."""
    path = documents.folder / annotation_file(annotator.name, annotator.entry)
    # one text tells the form of all, before hours are spent
    form = packed(annotator.numbers(["a"]))
    begun = _begun(path, form, documents.count)
    writer = ArrayWriter(path, form.dtype, form.shape[1:], begun)
    try:
        writer.reserve(documents.count)
        saved = time.monotonic()
        for first, records in documents.batches(writer.rows):
            writer.append(_numbers(documents, annotator, first, records, form))
            tell(writer.rows)
            if time.monotonic() - saved > SAVE_SECONDS:
                _note(path, writer.save())
                saved = time.monotonic()
        stored = writer.close()
        # the other segments may take long, too
        _note(path, stored)
        sync_folder(documents.folder)
        return stored
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            if writer.rows:
                _note(path, writer.save())
        raise
    finally:
        writer.abandon()


def _numbers(
    documents: _Documents,
    annotator: Annotator,
    first: int,
    records: Sequence[Record],
    form: NDArray[np.float32] | NDArray[np.int8],
) -> NDArray[np.float32] | NDArray[np.int8]:
    """The packed numbers of some documents, 0 for deleted ones, which are not read."""
    end = first + len(records)
    live = np.ones(len(records), bool) if documents.live is None else documents.live[first:end] != 0
    numbers = np.zeros((len(records), *form.shape[1:]), dtype=form.dtype)
    texts = [annotator.text(records[place]) for place in np.flatnonzero(live).tolist()]
    if texts:
        numbers[live] = packed(annotator.numbers(texts))
    return numbers


def _note_path(path: Path) -> Path:
    return path.with_name(path.name + NOTE_SUFFIX)


def _note(path: Path, good: StoredFile) -> None:
    """Note how much of a file is good."""
    write_whole({_note_path(path): msgspec.json.encode(good)})


def _begun(
    path: Path, form: NDArray[np.float32] | NDArray[np.int8], count: int
) -> StoredFile | None:
    """What is good of an unfinished file; None without one, or where its note does not fit."""
    try:
        good = msgspec.json.decode(_note_path(path).read_bytes(), type=StoredFile)
        is_alike = good.dtype == form.dtype.name and good.shape[1:] == form.shape[1:]
        is_good = is_alike and 0 < good.shape[0] <= count
        return good if is_good and checksum(path, good.size) == good.crc32 else None
    except (OSError, msgspec.MsgspecError, IndexError):
        return None
