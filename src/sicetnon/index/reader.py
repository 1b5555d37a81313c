"""An opened index: its segments, documents and annotations."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import (
    check_document_numbers,
    check_number,
    check_ranking,
    check_text,
    check_texts,
)
from sicetnon.errors import BrokenIndexError, DataError, UsageError, counted
from sicetnon.index.annotations import Annotation, read_annotations
from sicetnon.index.array_files import verify_files
from sicetnon.index.manifest import Manifest, read_manifest, recorded_analysis
from sicetnon.index.posting_cache import PostingCache
from sicetnon.index.segment import Segment
from sicetnon.records import Ranking, Record
from sicetnon.text.analysis import Analysis

_LOG = logging.getLogger("sicetnon.index")


class IndexReader:
    """An opened index. Documents are numbered from 0; deleted ones keep their numbers.

    Attributes:
        folder: Its folder.
        manifest: Its description.
        fields: Names of the indexed fields.
        analysis: Turns texts into terms.
        segments: Its parts, in the order of their document numbers.
        document_count: The number of documents that are not deleted.
        field_totals: Terms of all documents by field, int64, shape (fields,).
        missing: The part of the index that an answer so far lacked, in words; empty where all
            answers are whole, as those of a folder are.
    """

    missing = ""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        analysis: Analysis,
        postings_memory: int | None = None,
    ):
        self.folder, self.manifest, self.analysis = folder, manifest, analysis
        self.fields = manifest.fields
        # where the process may go to another folder
        self._place = folder.absolute()
        self.segments: list[Segment] = []
        self.size = 0
        self._is_closed = False
        if postings_memory is not None:
            check_number(postings_memory, "postings_memory", 0)
        self._unpacked = unpacked = PostingCache(postings_memory)
        try:
            for entry in manifest.segments:
                segment = Segment(folder / entry.name, entry, manifest, self.size, unpacked)
                self.segments.append(segment)
                self.size += len(segment)
            self._annotations = read_annotations(manifest, self.segments)
            self.document_count = sum(segment.live_count for segment in self.segments)
            self.field_totals: NDArray[np.int64] = np.sum(
                [segment.field_totals for segment in self.segments], axis=0, dtype=np.int64
            )
        except (BrokenIndexError, OSError):
            self.close()
            raise
        _LOG.debug("opened %s: %s", folder, counted(self.document_count, "document"))

    @classmethod
    def open(cls, folder: Path | str, *, postings_memory: int | None = None) -> Self:
        """Open an index. Nothing is read but its description; the rest is mapped.

        An opened index does not change, even if writers change the folder.

        Args:
            folder: The index.
            postings_memory: Bytes for the cache of decoded postings;
                a quarter of the memory of the machine or container when left out.

        Raises:
            BrokenIndexError: There is none, or it is damaged, or was made with an analysis that
                would give other terms now.
        """
        folder = Path(folder)
        while True:
            manifest = read_manifest(folder)
            try:
                return cls(folder, manifest, recorded_analysis(folder, manifest), postings_memory)
            except (BrokenIndexError, FileNotFoundError):
                # files may be gone because a writer has put another manifest in place meanwhile
                if read_manifest(folder) == manifest:
                    raise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path alone: another process opens the index anew."""
        self.check_open()
        return type(self).open, (self._place,)

    def identifiers(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[str]:
        """The ids of documents, by their numbers.

        Raises:
            UsageError: One is no number of a document.
        """
        self.check_open()
        self.check_sizes()
        wanted = check_document_numbers(numbers, self.size)
        if len(self.segments) == 1:
            return self.segments[0].identifiers.separable_words(wanted)
        located = (self._locate(number) for number in wanted.tolist())
        return [segment.identifiers.word(local) for segment, local in located]

    def number(self, identifier: str) -> int | None:
        """The number of the document with an id, or None; deleted documents have none."""
        self.check_open()
        check_text(identifier, "an id")
        for segment in reversed(self.segments):
            local = segment.identifiers.number(identifier)
            if local is not None and (segment.live is None or segment.live[local]):
                return segment.base + local
        return None

    def numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of documents, by their ids, shape as `ids`.

        Raises:
            DataError: The index has no document of one of these ids.
            UsageError: `ids` is no list of texts.
        """
        self.check_open()
        check_texts(ids, "ids")
        self.check_sizes()
        ids, found = list(ids), np.full(len(ids), -1, np.int64)
        for segment in reversed(self.segments):
            missing = np.flatnonzero(found < 0)
            local = segment.identifiers.numbers([ids[place] for place in missing.tolist()])
            is_there = local >= 0
            if segment.live is not None:
                is_there &= segment.live[local] != 0
            found[missing[is_there]] = segment.base + local[is_there]
        if (found < 0).any():
            raise DataError(
                f"has no document {ids[int(found.argmin())]!r}; expected ids that this index gave",
                self.folder,
            )
        return found

    def records(self, ids: Sequence[str]) -> list[Record]:
        """The records of documents, by their ids.

        Raises:
            DataError: The index has no document of one of these ids.
        """
        return self.records_at(self.numbers(ids))

    def records_of(self, ranking: Ranking) -> list[Record]:
        """The records of the documents in a ranking.

        Raises:
            DataError: The index lacks one of the documents.
            UsageError: It is no ranking.
        """
        check_ranking(ranking, "the caller")
        return self.records(ranking.ids)

    def records_at(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[Record]:
        """The records of documents, by their numbers.

        Raises:
            UsageError: One is no number of a document.
        """
        self.check_open()
        wanted = check_document_numbers(numbers, self.size).tolist()
        found: dict[int, Record] = {}
        for segment in self.segments:
            local = [n - segment.base for n in wanted if 0 <= n - segment.base < len(segment)]
            for number, record in zip(local, segment.store.get(local), strict=True):
                found[number + segment.base] = record
        return [found[number] for number in wanted]

    def annotation(self, name: str) -> Annotation | None:
        """The annotation of a name, such as `quality`, or None.

        Raises:
            UsageError: The name is no text.
        """
        check_text(name, "the annotation")
        self.check_open()
        return self._annotations.get(name)

    def verify(self) -> None:
        """Read the files that this index was opened with, and compare their checksums."""
        self.check_open()
        _verify(self.folder, self.manifest)

    def check_open(self) -> None:
        """Refuse to use a closed index.

        Raises:
            UsageError: It is closed.
        """
        if self._is_closed:
            raise UsageError(f"{self.folder}: the index is closed; open it again")

    def check_sizes(self) -> None:
        """Refuse to use files that were cut short since they were opened.

        Raises:
            BrokenIndexError: One was.
        """
        for segment in self.segments:
            segment.check_sizes()

    def close(self) -> None:
        """Close the index."""
        self._is_closed = True
        self._unpacked.close()
        for segment in self.segments:
            segment.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _locate(self, number: int) -> tuple[Segment, int]:
        for segment in self.segments:
            if number < segment.base + len(segment):
                return segment, number - segment.base
        raise IndexError(f"document {number} of {self.size}")


def verify_index(folder: Path, *prefixes: str) -> None:
    """Read the files of an index and compare their checksums.

    Args:
        folder: The index.
        prefixes: Only files whose names begin with one of these are read; all when left out.

    Raises:
        BrokenIndexError: Some file is not what was written; all such files are named.
    """
    _verify(folder, read_manifest(folder), *prefixes)


def _verify(folder: Path, manifest: Manifest, *prefixes: str) -> None:
    verify_files(
        {
            folder / entry.name / name: stored
            for entry in manifest.segments
            for name, stored in entry.files.items()
            if name.startswith(prefixes or "")
        }
    )
