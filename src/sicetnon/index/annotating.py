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

from sicetnon.errors import SicetnonError, UsageError
from sicetnon.formats.files import write_whole
from sicetnon.index.annotations import Annotator, packed
from sicetnon.index.documents import DocumentReader
from sicetnon.index.folder import NOTE_SUFFIX, locked
from sicetnon.index.manifest import (
    AnnotationEntry,
    Manifest,
    SegmentEntry,
    annotation_file,
    write_manifest,
)
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import STORE, Segment
from sicetnon.index.storage import ArrayWriter, StoredFile, checksum, sync_folder
from sicetnon.records import Record

BATCH_DOCUMENTS, BATCH_LETTERS = 256, 1 << 20
"""What an annotator is given at a time at most: enough to sort by length, some seconds of work."""

SAVE_SECONDS = 10.0
_STEP = 64


@dataclass(frozen=True)
class Annotated:
    """How far annotating is.

    Attributes:
        names: What is being given to the documents.
        documents: How many have it, those of an interrupted time before included.
        total: How many there are.
    """

    names: tuple[str, ...]
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

    All is whole or has not happened; what was interrupted goes on where it was. What the index has
    of the same model already is left as it is, of another model is replaced. The annotators get the
    same batches one after the other, so that those that read the same may share the reading.

    Args:
        folder: The index.
        annotators: What reads the documents; no two of a name.
        tell: Called after every batch.

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
        entries = []
        for segment in index.segments:
            _forget_others(segment.folder, segment.entry, wanted)
            entries.append(_annotated_segment(segment, manifest, wanted, tell, index.size))
        annotations = manifest.annotations | {each.name: each.entry for each in wanted}
        changed = msgspec.structs.replace(
            manifest, segments=tuple(entries), annotations=annotations
        )
        write_manifest(folder, changed)
        return changed


def _annotated_segment(
    segment: Segment, manifest: Manifest, annotators: Sequence[Annotator], tell: Tell, total: int
) -> SegmentEntry:
    """A segment's entry with new annotations, in place of older ones of the names."""
    documents = _Documents(segment.folder, segment.store, len(segment), segment.live)
    names = tuple(each.name for each in annotators)
    stored = _write(
        documents, annotators, lambda done: tell(Annotated(names, segment.base + done, total))
    )
    older = {
        annotation_file(name, entry)
        for name, entry in manifest.annotations.items()
        if name in names
    }
    files = {name: file for name, file in segment.entry.files.items() if name not in older}
    return msgspec.structs.replace(segment.entry, files=files | stored)


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
    if not annotators:
        return entry
    names = tuple(each.name for each in annotators)
    with contextlib.closing(DocumentReader(folder / STORE, records)) as store:
        documents = _Documents(folder, store, entry.documents)
        stored = _write(
            documents, annotators, lambda done: tell(Annotated(names, done, entry.documents))
        )
    return msgspec.structs.replace(entry, files=entry.files | stored)


def fitting(index: IndexReader, annotators: Sequence[Annotator]) -> list[Annotator]:
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


def _forget_others(folder: Path, entry: SegmentEntry, annotators: Sequence[Annotator]) -> None:
    """Remove what other models left unfinished of the same names."""
    for annotator in annotators:
        own = annotation_file(annotator.name, annotator.entry)
        for path in folder.glob(f"{own.rpartition('-')[0]}-*"):
            if path.name not in entry.files and not path.name.startswith(own):
                path.unlink()


def _write(
    documents: _Documents, annotators: Sequence[Annotator], tell: Callable[[int], None]
) -> dict[str, StoredFile]:
    """Write the numbers of a segment's documents, going on where an earlier try has ended."""
    with contextlib.ExitStack() as stack:
        growing = [stack.enter_context(_Growing(documents, each)) for each in annotators]
        saved = time.monotonic()
        for first, records in documents.batches(min(each.rows for each in growing)):
            for each in growing:
                each.extend(first, records)
            tell(first + len(records))
            if time.monotonic() - saved > SAVE_SECONDS:
                for each in growing:
                    each.save()
                saved = time.monotonic()
        return {each.path.name: each.finish() for each in growing}


class _Growing:
    """The file of one annotation of one segment, while it grows. Use as a context manager.

    Raises:
        SicetnonError: The annotator gives no usable numbers.
        OSError: There is no room for the whole of it.
    """

    def __init__(self, documents: _Documents, annotator: Annotator):
        self._documents, self._annotator = documents, annotator
        self.path = documents.folder / annotation_file(annotator.name, annotator.entry)
        # one text tells the form of all, before hours are spent
        self._form = packed(annotator.numbers(["a"]))
        row, dtype = self._form.shape[1:], self._form.dtype
        self._writer = ArrayWriter(self.path, dtype, row, self._begun())
        try:
            self._writer.reserve(documents.count)
        except BaseException:
            self._writer.abandon()
            raise

    def __enter__(self) -> _Growing:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and self.rows:
                with contextlib.suppress(OSError, ValueError):
                    self.save()
        finally:
            self._writer.abandon()

    @property
    def rows(self) -> int:
        """How many documents are done."""
        return self._writer.rows

    def extend(self, first: int, records: Sequence[Record]) -> None:
        """Do some documents, but for those done. Deleted ones are not read, and get 0.

        Args:
            first: The number of the first in the segment, at most `rows`.
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
        self._writer.append(numbers)

    def save(self) -> StoredFile:
        """Flush what is done to the disk, and note how much that is."""
        good = self._writer.save()
        write_whole({_note_path(self.path): msgspec.json.encode(good)})
        return good

    def finish(self) -> StoredFile:
        """Save all and close. The note stays: other segments may take long, too."""
        self.save()
        sync_folder(self.path.parent)
        return self._writer.close()

    def _begun(self) -> StoredFile | None:
        """What is good of an unfinished file; None without one, or where its note does not fit."""
        form = self._form
        try:
            good = msgspec.json.decode(_note_path(self.path).read_bytes(), type=StoredFile)
            is_alike = good.dtype == form.dtype.name and good.shape[1:] == form.shape[1:]
            is_good = is_alike and 0 < good.shape[0] <= self._documents.count
            return good if is_good and checksum(self.path, good.size) == good.crc32 else None
        except (OSError, msgspec.MsgspecError, IndexError):
            return None


def _note_path(path: Path) -> Path:
    return path.with_name(path.name + NOTE_SUFFIX)
