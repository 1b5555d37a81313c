"""Stored numbers and vectors of documents on a cluster: written with them, read for candidates.

A vector lies beside the terms of its document as bytes, in the form in which a folder has it, so
that both give the same scores.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.cluster.layout import annotation_field
from sicetnon.errors import BrokenIndexError
from sicetnon.index.annotations import BLOCK_ROWS, Annotation, Annotator, packed, unpacked
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.manifest import AnnotationEntry

if TYPE_CHECKING:
    from sicetnon.cluster.reader import ClusterReader

_SCRIPT = (
    "def f=doc[params.field];if(f.size()==0){return 0;}def v=f.value;double s=0;double n=0;"
    "for(int i=0;i<v.length;++i){double c=v.bytes[v.offset+i];s+=c*params.question[i];n+=c*c;}"
    "return 1+s/Math.max(1,Math.sqrt(n))"
)
"""The cosine and 1, since the engine takes no score below 0."""

_ROUNDING = 1e-5
"""Of a cosine in single precision, generously."""

_MOST_CANDIDATES = 10_000
_AT_ONCE = 1000
Best = tuple[NDArray[np.int64], NDArray[np.float32]]


def annotated(
    annotators: Sequence[Annotator], kind: str, records: Sequence[bytes]
) -> list[dict[str, str]]:
    """The stored numbers of documents, by the field of each annotation.

    Args:
        annotators: Compute them.
        kind: The kind of the records.
        records: The records as JSON.
    """
    rows: list[dict[str, str]] = [{} for _ in records]
    if not annotators:
        return rows
    decode = msgspec.json.Decoder(RECORD_TYPES[kind]).decode
    read = [decode(record) for record in records]
    for each in annotators:
        for first in range(0, len(read), each.batch_documents):
            texts = [each.text(record) for record in read[first : first + each.batch_documents]]
            for place, row in enumerate(packed(each.numbers(texts)), start=first):
                rows[place][annotation_field(each.name)] = base64.b64encode(row.tobytes()).decode()
    return rows


class ClusterAnnotation(Annotation):
    """An annotation of the documents of an index on a cluster; see `Annotation`.

    Args:
        index: The index.
        name: Its name.
        entry: Its origin.
        width: Numbers of a vector; 0 for single numbers.
    """

    def __init__(self, index: ClusterReader, name: str, entry: AnnotationEntry, width: int):
        self.name, self.model, self.reads = name, entry.model, entry.reads
        self._index, self._field = index, annotation_field(name)
        shape: tuple[int, ...] = (width,) if width else ()
        self._nothing: NDArray[Any] = np.zeros(shape, np.int8 if width else np.float32)
        self.shape = (index.size, *self._nothing.shape)

    def __getitem__(self, numbers: ArrayLike) -> NDArray[np.float32]:
        """See `Annotation.__getitem__`."""
        wanted = np.asarray(numbers, dtype=np.int64).reshape(-1)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"documents from {wanted.min()} to {wanted.max()} of {len(self)}")
        stored = np.zeros((len(wanted), *self._nothing.shape), dtype=self._nothing.dtype)
        distinct = sorted(set(wanted.tolist()))
        rows: dict[int, NDArray[Any]] = {}
        for first in range(0, len(distinct), _AT_ONCE):
            part = distinct[first : first + _AT_ONCE]
            rows |= self._rows(self._index.hits("number", part, ["number", self._field]))
        for place, number in enumerate(wanted.tolist()):
            # a deleted document has none
            stored[place] = rows.get(number, self._nothing)
        return unpacked(stored)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """See `Annotation.blocks`."""
        for first in range(0, len(self), rows):
            yield first, self[np.arange(first, min(first + rows, len(self)))]

    def nearest(self, question: NDArray[np.float64], k: int) -> Best:
        """The k documents whose vectors are nearest to one, best first.

        A script finds candidates among all documents; their vectors are compared as in a folder.
        """
        k, size = min(k, self._index.document_count), k + max(20, k // 8)
        while size <= _MOST_CANDIDATES:
            hits = self._candidates(question, size)
            numbers, scores = self._compared(self._rows(hits), question, k)
            if len(hits) < size or (
                len(scores) >= k and scores[-1] > hits[-1]["_score"] - 1 + _ROUNDING
            ):
                return numbers, scores
            size *= 4
        # so many are nearly as near that all are compared
        found: dict[int, NDArray[Any]] = {}
        for first in range(0, len(self), _AT_ONCE):
            part = list(range(first, min(first + _AT_ONCE, len(self))))
            found |= self._rows(self._index.hits("number", part, ["number", self._field]))
        return self._compared(found, question, k)

    def _candidates(self, question: NDArray[np.float64], size: int) -> list[dict[str, Any]]:
        params = {"field": self._field, "question": question.tolist()}
        script = {"source": _SCRIPT, "params": params}
        query = {"script_score": {"query": {"match_all": {}}, "script": script}}
        return self._index.best_hits(query, size, ["number", self._field])

    def _compared(
        self, rows: Mapping[int, NDArray[Any]], question: NDArray[np.float64], k: int
    ) -> Best:
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        numbers = np.array(sorted(rows), dtype=np.int64)
        vectors = unpacked(np.stack([rows[number] for number in numbers.tolist()]))
        scores = (vectors.astype(np.float64) @ question).astype(np.float32)
        order = np.lexsort((numbers, -scores))[:k]
        return numbers[order], scores[order]

    def _rows(self, hits: Sequence[Mapping[str, Any]]) -> dict[int, NDArray[Any]]:
        """The stored numbers in hits, by the number of the document."""
        found = {}
        for hit in hits:
            found[hit["fields"]["number"][0]] = self._decoded(hit)
        return found

    def _decoded(self, hit: Mapping[str, Any]) -> NDArray[Any]:
        try:
            text = hit["fields"][self._field][0]
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
            row = np.frombuffer(data, dtype=self._nothing.dtype).reshape(self._nothing.shape)
        except (LookupError, TypeError, ValueError) as error:
            raise BrokenIndexError(
                f"{self._index.folder}: the {self.name} of a document is damaged: {error}; "
                "annotate the index again"
            ) from None
        return row


def width_of(annotator: Annotator) -> int:
    """The width of an annotator's vectors; 0 where it gives single numbers."""
    form = packed(annotator.numbers(["a"]))
    return form.shape[1] if form.ndim > 1 else 0
