"""Annotate an index: a model reads all documents, and its numbers are stored with them.

This may take hours, so an interrupted file is resumed: beside it lies a log of its checkpoints. A
file counts once the manifest names it.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.formats.files import ResumableFile
from sicetnon.index.annotations import Annotator, packed
from sicetnon.index.folder import LOG_SUFFIX, locked
from sicetnon.index.manifest import (
    AnnotationEntry,
    Manifest,
    SegmentEntry,
    annotation_file,
    write_manifest,
)
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.storage import StoredFile
from sicetnon.index.store import STORE, DocumentReader, opened_store
from sicetnon.platforms import reserve, sync_folder
from sicetnon.records import Record

_STORE_STEP = 64


@dataclass(frozen=True)
class AnnotationProgress:
    """The number of documents that are annotated so far.

    Attributes:
        names: The names of the annotations that are being made.
        documents: Documents that are annotated, with those of an interrupted start.
        total: Documents to annotate.
    """

    names: tuple[str, ...]
    documents: int
    total: int


Callback = Callable[[AnnotationProgress], None]


@dataclass(frozen=True)
class _SegmentDocuments:
    """The documents of a segment.

    Attributes:
        folder: The segment's folder.
        store: Its records.
        count: The number of its records, deleted ones included.
        live: uint8, 0 for a deleted document, shape (count,); None when none is deleted.
    """

    folder: Path
    store: DocumentReader
    count: int
    live: NDArray[np.uint8] | None = None

    def batches(self, first: int, annotators: Sequence[Annotator]) -> Iterator[list[Record]]:
        """The records from number `first` on, deleted ones too, as many as annotators take."""
        most = min(each.batch_documents for each in annotators)
        most_characters = min(each.batch_characters for each in annotators)
        records: list[Record] = []
        characters = 0
        for begin in range(first, self.count, _STORE_STEP):
            for record in self.store.between(begin, min(begin + _STORE_STEP, self.count)):
                if len(records) >= most or characters >= most_characters:
                    yield records
                    records, characters = [], 0
                records.append(record)
                characters += len(record.default_text())
        if records:
            yield records


def annotate_index(
    folder: Path,
    annotators: Sequence[Annotator],
    progress: Callback = lambda _: None,
    save_seconds: float = 10.0,
) -> Manifest:
    """Give every document of an index the numbers of some annotators.

    The index is changed as a whole or not at all; an interrupted annotation is resumed. An
    annotation by the same model is kept, one by another model is replaced. The annotators get the
    same batches in turn, so that annotators of one model can share the reading.

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
        wanted = [each for each in annotators if manifest.annotations.get(each.name) != each.entry]
        if not wanted:
            return manifest
        verify_index(folder, STORE, "live-")
        entries = []
        names = tuple(each.name for each in wanted)
        for segment in index.segments:
            _delete_unfinished(segment.folder, segment.entry, wanted)

            def told(done: int, base: int = segment.base) -> None:
                progress(AnnotationProgress(names, base + done, index.size))

            documents = _SegmentDocuments(segment.folder, segment.store, len(segment), segment.live)
            written = _write(documents, wanted, told, save_seconds)
            entries.append(_with_annotations(segment.entry, manifest, names, written))
        annotations = manifest.annotations | {each.name: each.entry for each in wanted}
        changed = msgspec.structs.replace(
            manifest, segments=tuple(entries), annotations=annotations
        )
        write_manifest(folder, changed)
        return changed


def _with_annotations(
    entry: SegmentEntry, manifest: Manifest, names: Sequence[str], written: dict[str, StoredFile]
) -> SegmentEntry:
    """A segment's entry with new annotations, in place of older ones of the same names."""
    older = {
        annotation_file(name, annotation)
        for name, annotation in manifest.annotations.items()
        if name in names
    }
    files = {name: file for name, file in entry.files.items() if name not in older}
    return msgspec.structs.replace(entry, files=files | written)


def annotate_segment(
    folder: Path,
    entry: SegmentEntry,
    records: str,
    annotators: Sequence[Annotator],
    progress: Callback = lambda _: None,
) -> SegmentEntry:
    """Annotate a new segment, which no manifest names yet; returns its entry with the new files.

    Args:
        folder: The segment's folder.
        entry: The segment's entry.
        records: The kind of its records.
        annotators: The annotators.
        progress: Called after every batch.
    """
    if not annotators:
        return entry
    names = tuple(each.name for each in annotators)
    with contextlib.closing(opened_store(folder, entry.files, records)) as store:
        documents = _SegmentDocuments(folder, store, entry.documents)
        written = _write(
            documents,
            annotators,
            lambda done: progress(AnnotationProgress(names, done, entry.documents)),
        )
    return msgspec.structs.replace(entry, files=entry.files | written)


def fitting(
    place: object, known: Mapping[str, AnnotationEntry], annotators: Sequence[Annotator]
) -> list[Annotator]:
    """The annotators for documents that are added to an index: one for each of its annotations.

    Args:
        place: The folder or the address of the index, for messages.
        known: The origin of each annotation of the index, by its name.
        annotators: The annotators to choose from.

    Raises:
        UsageError: One is missing, or has another model than the index.
    """
    at_hand = {annotator.name: annotator for annotator in annotators}
    for name, entry in known.items():
        other = at_hand.get(name)
        if other is None or other.entry != entry:
            here = "there is none here" if other is None else f"here it is {_made(other.entry)}"
            raise UsageError(
                f"{place}: the {name} of its documents is {_made(entry)}, and that of what "
                f"is added must be too; {here}. To make all anew first: "
                f"sicetnon index annotate {place} --with {name}"
            )
    return [at_hand[name] for name in known]


def _made(entry: AnnotationEntry) -> str:
    return f"by {entry.model} from {entry.reads}"


def _delete_unfinished(folder: Path, entry: SegmentEntry, annotators: Sequence[Annotator]) -> None:
    """Delete the unfinished files of other models for the same names."""
    for annotator in annotators:
        own = annotation_file(annotator.name, annotator.entry)
        for path in folder.glob(f"{own.rpartition('-')[0]}-*"):
            if path.name not in entry.files and not path.name.startswith(own):
                path.unlink()


def _write(
    documents: _SegmentDocuments,
    annotators: Sequence[Annotator],
    progress: Callable[[int], None],
    save_seconds: float = math.inf,
) -> dict[str, StoredFile]:
    """Write the annotations of a segment; unfinished files are resumed."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(_AnnotationFile(documents, each)) for each in annotators]
        saved = time.monotonic()
        first = min(each.rows for each in files)
        for records in documents.batches(first, annotators):
            for each in files:
                each.extend(first, records)
            first += len(records)
            progress(first)
            if time.monotonic() - saved >= save_seconds:
                for each in files:
                    each.save()
                saved = time.monotonic()
        return {each.path.name: each.finish() for each in files}


class _AnnotationFile:
    """The unfinished file of one annotation of one segment. Use as a context manager.

    Attributes:
        path: The file.
        rows: Documents that are annotated.

    Raises:
        SicetnonError: The annotator gives no usable numbers.
        OSError: The disk has no space for the whole file.
    """

    def __init__(self, documents: _SegmentDocuments, annotator: Annotator):
        self._documents, self._annotator = documents, annotator
        self.path = documents.folder / annotation_file(annotator.name, annotator.entry)
        # one text shows the shape of all rows, before hours are spent
        self._form = packed(annotator.numbers(["a"]))
        self._file = self._opened()
        self.rows = self._file.last.items
        try:
            reserve(self._file.file, documents.count * self._form.nbytes)
        except BaseException:
            self._file.close()
            raise

    def _opened(self) -> ResumableFile:
        log = self.path.with_name(self.path.name + LOG_SUFFIX)
        form = self._form
        work = {"dtype": form.dtype.name, "row": str(form.shape[1:])}
        with contextlib.suppress(DataError):
            file = ResumableFile(self.path, log, work)
            rows = file.last.items
            if rows <= self._documents.count and file.last.size == rows * form.nbytes:
                return file
            file.close()
        # a damaged file is written anew
        log.unlink()
        return ResumableFile(self.path, log, work)

    def __enter__(self) -> _AnnotationFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and self.rows:
                with contextlib.suppress(OSError, ValueError):
                    self.save()
        finally:
            self._file.close()

    def extend(self, first: int, records: Sequence[Record]) -> None:
        """Annotate a batch, but for documents that are done. Deleted ones are not read, and get 0.

        Args:
            first: The number of the batch's first document in the segment, at most `rows`.
            records: The documents.
        """
        records = records[self.rows - first :]
        form, live = self._form, np.ones(len(records), bool)
        if self._documents.live is not None:
            live = self._documents.live[self.rows : self.rows + len(records)] != 0
        numbers = np.zeros((len(records), *form.shape[1:]), dtype=form.dtype)
        texts = [self._annotator.text(records[place]) for place in np.flatnonzero(live).tolist()]
        if texts:
            found = packed(self._annotator.numbers(texts))
            if found.shape[1:] != form.shape[1:]:
                raise SicetnonError(
                    f"{self._annotator.model} gave rows of shape {found.shape[1:]} for the "
                    f"{self._annotator.name}, after rows of shape {form.shape[1:]}"
                )
            numbers[live] = found
        self._file.append(numbers.tobytes())
        self.rows += len(records)

    def save(self) -> None:
        """Make a checkpoint."""
        self._file.save(self.rows)

    def finish(self) -> StoredFile:
        """Make the last checkpoint. The log stays, since other segments may take long, too."""
        self.save()
        sync_folder(self.path.parent)
        last, form = self._file.last, self._form
        return StoredFile(last.size, last.crc32, form.dtype.name, (self.rows, *form.shape[1:]))
