"""Annotations: a number or a vector per document, computed by a model and stored in the index.

An annotator is a named function from texts to an array. Numbers are stored in single precision. Of
vectors, the direction is stored with eight bits per component; `docs/reference/index-format.md` has
the error and the size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.errors import BrokenIndexError, SicetnonError, counted
from sicetnon.index.manifest import AnnotationEntry, Manifest, annotation_file
from sicetnon.index.segment import Segment
from sicetnon.index.storage import REBUILD, damaged
from sicetnon.records import Record

BLOCK_ROWS = 2048
"""Rows that are unpacked at once: some megabytes of vectors, which fit into the cache."""

_NAME = re.compile("[a-z]+")
_LARGEST = 127
_PACKED = {1: np.dtype(np.float32), 2: np.dtype(np.int8)}


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

    Raises:
        ValueError: The name has other characters than small letters.
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
        """The numbers of some texts, float32, shape (n,) or (n, width).

        Raises:
            SicetnonError: The function does not return a finite number or vector per text.
        """
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

        Raises:
            IndexError: There is no such document.
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
    """The annotations of an index, by name.

    Raises:
        BrokenIndexError: A segment lacks an annotation that the manifest names.
    """
    return {name: Annotation(name, entry, segments) for name, entry in manifest.annotations.items()}


def _stored_part(segment: Segment, file: str) -> NDArray[np.float32] | NDArray[np.int8]:
    part = segment.array(file)
    if part.dtype != _PACKED.get(part.ndim) or len(part) != len(segment):
        found = f"found an array of {part.dtype}, shape {part.shape}"
        raise BrokenIndexError(
            f"{segment.folder / file}: {found}, for {counted(len(segment), 'document')}; {REBUILD}"
        )
    return part
