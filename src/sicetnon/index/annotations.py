"""Annotations: a number or a vector per document, computed by a model and stored in the index.

An annotator is a named function from texts to an array. Numbers are stored in single precision. Of
vectors, the direction is stored with eight bits per component; `docs/reference/index-format.md` has
the error and the size.

To annotate an index may take hours, so an interrupted file is resumed: beside it lies a log of its
checkpoints. A file counts once the manifest names it.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError, counted
from sicetnon.formats.files import ResumableFile
from sicetnon.index.array_files import REBUILD, StoredFile, damaged
from sicetnon.index.document_store import DocumentReader, opened_store
from sicetnon.index.manifest import (
    LOG_SUFFIX,
    AnnotationEntry,
    Manifest,
    SegmentEntry,
    annotation_file,
)
from sicetnon.index.segment import Segment
from sicetnon.operating_system import reserve, sync_folder
from sicetnon.records import Record

BLOCK_ROWS = 2048
"""Rows that are unpacked at once: some megabytes of vectors, which fit into the cache."""

_NAME = re.compile("[a-z]+")
_LARGEST = 127
_PACKED = {1: np.dtype(np.float32), 2: np.dtype(np.int8)}


_STORE_STEP = 64


@dataclass(frozen=True)
class Annotator:
    """A named function that computes an annotation from texts.

    Attributes:
        name: The name of the annotation, such as `quality`; small letters.
        model: The model with its version. Numbers of two models are never mixed.
        reads: The part of a document that the model reads, in words; never mixed either.
        text: Takes this part from a record.
        compute: Texts to a float array of shape (n,), or (n, width) for vectors, of which the
            direction counts.
        batch_documents: Documents that `compute` gets at once at most: enough to sort by length.
        batch_characters: A batch ends with the document that brings it to so many characters.
    """

    name: str
    model: str
    reads: str
    text: Callable[[Record], str]
    compute: Callable[[Sequence[str]], NDArray[np.floating]]
    batch_documents: int = 256
    batch_characters: int = 1 << 20

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"found the name {self.name!r}; expected small letters")

    @property
    def entry(self) -> AnnotationEntry:
        """The annotator's entry in a manifest."""
        return AnnotationEntry(self.model, self.reads)

    def numbers(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The numbers of some texts, float32, shape (n,) or (n, width)."""
        values = np.asarray(self.compute(texts), dtype=np.float32)
        if values.ndim not in _PACKED or len(values) != len(texts):
            raise SicetnonError(
                f"{self.model} gave an array of shape {values.shape} for the {self.name} of "
                f"{counted(len(texts), 'text')}; expected a number or a vector each"
            )
        if not np.isfinite(values).all():
            raise SicetnonError(f"{self.model} gave a {self.name} that is no finite number")
        return values


def packed(values: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.int8]:
    """Numbers in the form in which they are stored: vectors as directions.

    The largest component of a vector becomes 127 or -127, the others in proportion; a vector of
    nothing but zeros stays one.

    Args:
        values: Finite, shape (n,) or (n, width).
    """
    if values.ndim == 1:
        return values
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
    # divided before multiplied: a tiny divisor must not become an infinite factor
    shares = np.divide(values, largest, out=np.zeros_like(values), where=largest > 0)
    directions: NDArray[np.int8] = np.rint(shares * _LARGEST).astype(np.int8)
    return directions


def unpacked(stored: NDArray[np.float32] | NDArray[np.int8]) -> NDArray[np.float32]:
    """Stored numbers as float32; vectors have length 1, or 0."""
    values = stored.astype(np.float32)
    if values.ndim > 1:
        lengths = np.sqrt(np.einsum("ij,ij->i", values, values))
        values /= np.maximum(lengths, 1)[:, None]
    return values


class Annotation:
    """An annotation of all documents of an index, read from mapped files on demand.

    `annotation[numbers]` reads those of some documents, `numpy.asarray(annotation)` all. The values
    of deleted documents have no meaning.

    Attributes:
        name: Its name.
        model: The model with its version.
        reads: The part of a document that the model read.
        shape: (documents,) or (documents, width), deleted documents included.
    """

    def __init__(self, name: str, entry: AnnotationEntry, segments: Sequence[Segment]):
        self.name, self.model, self.reads = name, entry.model, entry.reads
        file = annotation_file(name, entry)
        self._segments = segments
        self._parts = [_stored_part(segment, file) for segment in segments]
        rows = {part.shape[1:] for part in self._parts}
        if len(rows) != 1:
            places = ", ".join(str(segment.folder / file) for segment in segments)
            raise BrokenIndexError(f"{places}: do not belong together; {REBUILD}")
        self._bases = np.array([segment.base for segment in segments])
        self.shape: tuple[int, ...] = (sum(map(len, self._parts)), *rows.pop())

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, numbers: ArrayLike) -> NDArray[np.float32]:
        """The numbers of documents, float32, shape (n,) or (n, width); vectors of length 1.

        Args:
            numbers: Document numbers, shape (n,).
        """
        wanted = np.asarray(numbers, dtype=np.int64).reshape(-1)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"documents from {wanted.min()} to {wanted.max()} of {len(self)}")
        found = np.empty((len(wanted), *self.shape[1:]), dtype=np.float32)
        self._check_sizes()
        places = np.searchsorted(self._bases, wanted, side="right") - 1
        for place, (part, base) in enumerate(zip(self._parts, self._bases, strict=True)):
            here = places == place
            found[here] = self._unpacked(part[wanted[here] - base])
        return found

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> NDArray:  # type: ignore[type-arg]
        if copy is False:
            raise ValueError("an annotation has to be unpacked to be an array")
        return self[np.arange(len(self))].astype(dtype or np.float32, copy=False)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All values in blocks, each with the number of its first document.

        Args:
            rows: The most rows of a block.
        """
        self._check_sizes()
        for part, base in zip(self._parts, self._bases.tolist(), strict=True):
            for first in range(0, len(part), rows):
                yield base + first, self._unpacked(part[first : first + rows])

    def _check_sizes(self) -> None:
        for segment in self._segments:
            segment.check_sizes()

    def _unpacked(self, stored: NDArray[np.float32] | NDArray[np.int8]) -> NDArray[np.float32]:
        values = unpacked(stored)
        if stored.dtype == np.float32 and not np.isfinite(values).all():
            raise damaged(self._segments[0].folder.parent, f"found a {self.name} that is no number")
        return values


def read_annotations(manifest: Manifest, segments: Sequence[Segment]) -> dict[str, Annotation]:
    """The annotations of an index, by name."""
    return {name: Annotation(name, entry, segments) for name, entry in manifest.annotations.items()}


def _stored_part(segment: Segment, file: str) -> NDArray[np.float32] | NDArray[np.int8]:
    part = segment.array(file)
    if part.dtype != _PACKED.get(part.ndim) or len(part) != len(segment):
        found = f"found an array of {part.dtype}, shape {part.shape}"
        raise BrokenIndexError(
            f"{segment.folder / file}: {found}, for {counted(len(segment), 'document')}; {REBUILD}"
        )
    return part


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


def annotate_segments(
    segments: Sequence[Segment],
    manifest: Manifest,
    annotators: Sequence[Annotator],
    progress: Callback,
    save_seconds: float,
) -> tuple[SegmentEntry, ...]:
    """Annotate the segments of an index; returns their entries with the new files.

    Args:
        segments: The segments.
        manifest: The manifest that names them.
        annotators: The annotators.
        progress: Called after every batch.
        save_seconds: Seconds between two checkpoints.
    """
    names, total = tuple(each.name for each in annotators), sum(map(len, segments))
    entries = []
    for segment in segments:
        _delete_unfinished(segment.folder, segment.entry, annotators)

        def report(done: int, base: int = segment.base) -> None:
            progress(AnnotationProgress(names, base + done, total))

        documents = _SegmentDocuments(segment.folder, segment.store, len(segment), segment.live)
        written = _write_files(documents, annotators, report, save_seconds)
        entries.append(_with_annotations(segment.entry, manifest, names, written))
    return tuple(entries)


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
        written = _write_files(
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
    """
    at_hand = {annotator.name: annotator for annotator in annotators}
    for name, entry in known.items():
        other = at_hand.get(name)
        if other is None or other.entry != entry:
            here = "there is none here" if other is None else f"here it is {_origin(other.entry)}"
            raise UsageError(
                f"{place}: the {name} of its documents is {_origin(entry)}, and that of what "
                f"is added must be too; {here}. To make all anew first: "
                f"sicetnon index annotate {place} --with {name}"
            )
    return [at_hand[name] for name in known]


def _origin(entry: AnnotationEntry) -> str:
    return f"by {entry.model} from {entry.reads}"


def _delete_unfinished(folder: Path, entry: SegmentEntry, annotators: Sequence[Annotator]) -> None:
    """Delete the unfinished files of other models for the same names."""
    for annotator in annotators:
        own = annotation_file(annotator.name, annotator.entry)
        for path in folder.glob(f"{own.rpartition('-')[0]}-*"):
            if path.name not in entry.files and not path.name.startswith(own):
                path.unlink()


def _write_files(
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
