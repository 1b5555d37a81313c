"""Building one segment: documents are read, analysed and stored at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sicetnon.errors import DataError
from sicetnon.index.array_files import ByteColumn, StoredFile
from sicetnon.index.background import BackgroundThread
from sicetnon.index.document_store import DocumentWriter
from sicetnon.index.inversion import Inverter
from sicetnon.index.manifest import SegmentEntry
from sicetnon.index.merge import merge_postings
from sicetnon.index.segment import LengthWriter, write_forms
from sicetnon.index.term_table import IdentifierWriter, write_words
from sicetnon.operating_system import give_back_memory
from sicetnon.text.analysis import Analysis, Analyzer

DEFAULT_MEMORY = 400 << 20


@dataclass(frozen=True)
class Batch:
    """Some documents on their way into an index.

    Attributes:
        ids: Their ids.
        texts: UTF-8 texts, document by document, a text per field.
        records: Their records as JSON.
        file: Their file, for messages.
    """

    ids: list[bytes] = field(default_factory=list)
    texts: ByteColumn = field(default_factory=ByteColumn)
    records: ByteColumn = field(default_factory=ByteColumn)
    file: str = ""

    def keep(self, places: Iterable[int], fields: int) -> Batch:
        """Only the documents at some places."""
        kept = list(places)
        texts, records = self.texts.each(), self.records.each()
        return Batch(
            [self.ids[at] for at in kept],
            ByteColumn([text for at in kept for text in texts[at * fields : (at + 1) * fields]]),
            ByteColumn([records[at] for at in kept]),
            self.file,
        )


class SegmentBuilder:
    """Builds a segment in a folder of its own.

    Three things go on at once: the caller reads documents, one thread analyses them, one stores
    them. Use as a context manager, so that an error ends the threads and closes the files.

    Args:
        folder: An empty folder.
        fields: The number of texts per document.
        analysis: Turns texts into terms.
        memory: Bytes for postings, vocabulary, ids and lengths before postings are spilled, which
            have a quarter of it at least.
        on_error: Called with the error of each document whose id is taken; may raise it.
        is_taken: Whether an id is already in another segment.
    """

    def __init__(
        self,
        folder: Path,
        fields: int,
        analysis: Analysis,
        memory: int,
        on_error: Callable[[DataError], None],
        is_taken: Callable[[str], bool] | None = None,
    ):
        self._folder, self._fields = folder, fields
        self._on_error, self._is_taken = on_error, is_taken
        self._analyzer = Analyzer(analysis)
        self._lengths = LengthWriter(folder, fields)
        self._inverter = Inverter(folder, fields, memory, self._taken)
        self._analysing, self._storing = BackgroundThread(), BackgroundThread()
        with ExitStack() as closing:
            self._ids = IdentifierWriter(folder)
            closing.callback(self._ids.abandon)
            self._store = DocumentWriter(folder)
            closing.callback(self._store.abandon)
            closing.callback(self._storing.stop)
            closing.callback(self._analysing.stop)
            self._closing = closing.pop_all()

    def __enter__(self) -> SegmentBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, batch: Batch) -> None:
        """Add documents; those whose id is taken are reported and left out."""
        batch = self._without_duplicates(batch)
        if not batch.ids:
            return
        first = len(self._ids) - len(batch.ids)
        self._analysing.submit(lambda: self._analyse(first, batch.texts))
        self._storing.submit(lambda: self._store.append(batch.records))

    def finish(self, name: str) -> SegmentEntry:
        """Write the rest, and describe the segment.

        Args:
            name: The name that its folder will have.
        """
        self._analysing.finish()
        # free the memory of batches: the merge allocates arrays of other sizes
        give_back_memory()
        stored = self._storing.submit(self._store.close)
        named = self._analysing.submit(self._write_words)
        terms = len(self._analyzer.terms)
        files = self._lengths.close()
        files |= merge_postings(
            self._inverter.sources(terms), terms, (len(self._ids), self._fields), self._folder,
            self._inverter.block_postings,
        )  # fmt: skip
        self._inverter.remove_runs()
        # which raises what went wrong before they were closed, too
        self._storing.finish()
        files |= named.result() | stored.result()
        return SegmentEntry(name, len(self._ids), files)

    def _taken(self) -> int:
        return self._ids.memory + self._lengths.memory + self._analyzer.memory

    def _write_words(self) -> dict[str, StoredFile]:
        files = write_words(self._folder, "terms", self._analyzer.terms)
        files |= self._ids.close()
        if self._analyzer.analysis.forms:
            files |= write_forms(self._folder, self._analyzer.terms, self._analyzer.stem)
        return files

    def _without_duplicates(self, batch: Batch) -> Batch:
        if self._is_taken is not None:
            batch = self._without_taken(batch, self._is_taken)
        before = len(self._ids)
        numbers = self._ids.insert(batch.ids)
        if len(self._ids) == before + len(batch.ids):
            return batch
        kept, expected = [], before
        for place, number in enumerate(numbers.tolist()):
            if number == expected:
                kept.append(place)
                expected += 1
            else:
                self._report(batch, place, "occurs more than once; every document needs its own")
        return batch.keep(kept, self._fields)

    def _without_taken(self, batch: Batch, is_taken: Callable[[str], bool]) -> Batch:
        kept = []
        for place, identifier in enumerate(batch.ids):
            if is_taken(identifier.decode()):
                what = "is already in the index; to replace it: --replace, in Python replace=True"
                self._report(batch, place, what)
            else:
                kept.append(place)
        return batch if len(kept) == len(batch.ids) else batch.keep(kept, self._fields)

    def _report(self, batch: Batch, place: int, what: str) -> None:
        identifier = batch.ids[place].decode("utf-8", "replace")
        self._on_error(DataError(f"the id {identifier!r} {what}", batch.file))

    def _analyse(self, first: int, texts: ByteColumn) -> None:
        words, ends = self._analyzer.word_numbers(*texts.arrays())
        terms = len(self._analyzer.terms)
        self._lengths.append(
            self._inverter.add(words, ends, self._analyzer.term_of_word, terms, first)
        )
