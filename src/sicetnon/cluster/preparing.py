"""Documents of a corpus, analysed and cut into batches for the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sicetnon.cluster.bulk import BulkBatch, BulkDocument
from sicetnon.cluster.layout import (
    LARGEST_RECORD,
    LONGEST_ID,
    document_action,
    document_source,
    form_lines,
)
from sicetnon.cluster.stored import annotated
from sicetnon.errors import DataError
from sicetnon.formats.corpora import Corpus
from sicetnon.index.annotations import AnnotationProgress
from sicetnon.index.array_files import ByteColumn
from sicetnon.index.builder import Batch
from sicetnon.index.writing import BuildOptions, batches
from sicetnon.text.analysis import STOPPED, Analyzer

_MOST_WORDS = 2_000_000


class Preparation:
    """Analyses documents, numbers them, and cuts them into batches.

    Args:
        corpus: The documents.
        options: The analysis, and who is told of documents that cannot be used.
        change: The change that adds them.
        first_number: The number of the first one.
        batch_bytes: Size of a batch; one document may be larger.
    """

    def __init__(
        self,
        corpus: Corpus,
        options: BuildOptions,
        change: int,
        first_number: int,
        batch_bytes: int,
    ):
        self._corpus, self._options, self._change = corpus, options, change
        self._fields, self._batch_bytes = len(corpus.fields), batch_bytes
        self.next_number, self._annotated = first_number, 0
        self._start_anew()

    def groups(self) -> Iterator[tuple[range, Batch]]:
        """Documents as they are read, with their numbers."""
        for batch in batches(self._corpus, self._options):
            kept = self._storable(batch)
            numbers = range(self.next_number, self.next_number + len(kept.ids))
            self.next_number = numbers.stop
            if kept.ids:
                yield numbers, kept

    def batches(self, numbers: list[int], documents: Batch) -> Iterator[BulkBatch]:
        """Documents as they are sent.

        Args:
            numbers: The number of each document.
            documents: The documents.
        """
        terms, records = self._terms(documents.texts), documents.records.each()
        stored = annotated(self._options.annotators, self._corpus.records, records)
        self._tell_of_annotations(len(numbers))
        forms, size, waiting = self._new_forms(), 0, []
        for place, (identifier, number) in enumerate(zip(documents.ids, numbers, strict=True)):
            own = terms[place * self._fields : (place + 1) * self._fields]
            name, record = identifier.decode(), records[place]
            action = document_action(name, self._change, number)
            stems = self._stems_of(own) if self._options.analysis.forms else []
            source = document_source(name, self._change, number, own, record, stems, stored[place])
            waiting.append(BulkDocument(name, number, action + b"\n" + source + b"\n"))
            size += len(waiting[-1].lines)
            if size >= self._batch_bytes:
                yield BulkBatch(waiting, forms, documents.file)
                forms, size, waiting = b"", 0, []
        if waiting:
            yield BulkBatch(waiting, forms, documents.file)

    def _tell_of_annotations(self, documents: int) -> None:
        if names := tuple(each.name for each in self._options.annotators):
            self._annotated += documents
            done = max(self._annotated, self.next_number)
            self._options.annotated(AnnotationProgress(names, self._annotated, done))

    def _storable(self, batch: Batch) -> Batch:
        """Without the documents that the engine could not keep as they are."""
        kept = []
        for place, (identifier, size) in enumerate(
            zip(batch.ids, batch.records.sizes, strict=True)
        ):
            name = identifier.decode()
            if len(identifier) > LONGEST_ID:
                what = f"the id {name[:60]!r}… has {len(identifier)} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LONGEST_ID}", batch.file))
            elif size > LARGEST_RECORD:
                what = f"document {name!r} has {size:,} bytes; a cluster takes at most"
                self._options.on_error(DataError(f"{what} {LARGEST_RECORD:,}", batch.file))
            else:
                kept.append(place)
        return batch if len(kept) == len(batch.ids) else batch.keep(kept, self._fields)

    def _start_anew(self) -> None:
        """Forget the words met so far, so that memory does not grow with the corpus."""
        self._analyzer = Analyzer(self._options.analysis)
        self._words: list[str] = []
        self._stems: dict[str, str] = {}

    def _terms(self, texts: ByteColumn) -> list[list[str]]:
        if len(self._words) > _MOST_WORDS:
            self._start_anew()
        words, ends = self._analyzer.word_numbers(*texts.arrays())
        self._words += self._analyzer.terms.words(len(self._words))
        known = self._words
        numbers = self._analyzer.term_of_word[words].tolist()
        return [
            [known[number] for number in numbers[start:end] if number != STOPPED]
            for start, end in pairwise([0, *ends.tolist()])
        ]

    def _new_forms(self) -> bytes:
        """The lines of forms that were not met before; they must arrive before their documents."""
        if not self._options.analysis.forms:
            return b""
        new = self._words[len(self._stems) :]
        stems = dict(zip(new, self._analyzer.stem(new), strict=True))
        self._stems |= stems
        return form_lines(stems)

    def _stems_of(self, terms: list[list[str]]) -> list[str]:
        return [self._stems[term] for found in terms for term in found]
