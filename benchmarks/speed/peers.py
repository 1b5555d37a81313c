"""Sic et Non and its peers, bm25s, Tantivy and PISA, behind one small interface (and `lucene`).

`build` takes the whole path, from the five JSON files on disk to a finished index on
disk; `open` makes it ready; `search` answers one query at a time with document ids.
Each build, and each set of queries, is timed in a process of its own, with nothing
else in it. Every peer gets the fastest settings that its own interface offers.

What is equal: the text (conclusion, premises, discussion title, in one field), the
reader (msgspec, typed, the fastest at hand), two cores, lower case, tokens of letters
and digits, the stop list `generate.STOP_WORDS`, Porter2 stems, BM25 with k1 = 1.2 and
b = 0.75, queries as a plain OR, and the answer: a list of ids in the corpus's own form.
What is not is said in each class.
"""

from __future__ import annotations

import gc
import re
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from benchmarks.speed.generate import PORTALS, STOP_WORDS, Portal
from sicetnon.cli import ENVIRONMENT

K1, B = 1.2, 0.75
THREADS = 2
IDS = "ids.txt"  # external ids in corpus order, beside the indexes that number documents
WORD = re.compile(r"\w+")


def read_corpus(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the whole text of every argument, in file order."""
    decoder = msgspec.json.Decoder(Portal)
    for portal in PORTALS:
        arguments = decoder.decode((directory / f"{portal}.json").read_bytes()).arguments
        arguments.reverse()
        while arguments:  # what has been read is freed, or it would count for the peer
            argument = arguments.pop()
            premises = " ".join([premise.text for premise in argument.premises])
            yield argument.id, f"{argument.conclusion} {premises} {argument.title}"


def analyzer() -> Callable[[str], list[str]]:
    """Return a function from a text to its stems, each distinct word stemmed once."""
    import Stemmer

    stem = Stemmer.Stemmer("english").stemWord

    look_up = cache(lambda word: "" if word in STOP_WORDS else stem(word))
    return lambda text: [stem for stem in map(look_up, WORD.findall(text.lower())) if stem]


class Peer(ABC):
    """One peer. An object opens one index at a time."""

    name: str
    beside_bytes = 0
    """Peak memory of another process that takes part in the build."""
    environment: ClassVar[Mapping[str, str]] = {}
    """Environment variables that its own program sets for a build."""

    @classmethod
    def unavailable(cls) -> str | None:
        """The requirement that this machine lacks; None if the peer can run."""
        return None

    def prepare(self) -> None:  # noqa: B027  # most peers have nothing to prepare
        """Do what belongs to no build before the clock runs."""

    @abstractmethod
    def index(self, corpus: Path, work: Path) -> None:
        """Build an index of `corpus` in the empty directory `work`."""

    @abstractmethod
    def open(self, work: Path) -> None:
        """Make the index in `work` ready to search."""

    @abstractmethod
    def search(self, query: str, k: int) -> Sequence[str]:
        """Up to `k` document ids by falling BM25 score; any string is a query."""

    def milliseconds(self, query: str, k: int) -> float:
        """The time of a search."""
        started = time.perf_counter_ns()
        self.search(query, k)
        return (time.perf_counter_ns() - started) / 1e6

    def build(self, corpus: Path, work: Path) -> float:
        """Build afresh in this process and return the seconds, imports included."""
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self.prepare()
        gc.disable()  # millions of small lists and no cycles: a help to every peer
        started = time.perf_counter()
        self.index(corpus, work)
        return time.perf_counter() - started


class Bm25s(Peer):
    """bm25s, its matrix built by scipy, numba for retrieval, all held in memory.

    Its builders by scipy and by numba take equal time here. One core is used: release
    0.3.16 has no parallel tokeniser, and its threads serve batches of queries only.
    Scores are computed at build time, so one index serves one model and one set of
    parameters.
    """

    name = "bm25s"
    builder = "scipy"

    def index(self, corpus: Path, work: Path) -> None:
        """Tokenise in one stream and index token ids; nothing but ids is kept."""
        import bm25s
        import Stemmer
        from bm25s.tokenization import Tokenizer

        names: list[str] = []

        def texts() -> Iterator[str]:
            for name, text in read_corpus(corpus):
                names.append(name)
                yield text

        tokenizer = Tokenizer(
            splitter=WORD.pattern, stopwords=STOP_WORDS, stemmer=Stemmer.Stemmer("english")
        )
        tokens = list(tokenizer.streaming_tokenize(texts()))
        retriever = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
        if self.builder == "numba":
            retriever.activate_numba_csc()
        else:
            retriever.csc_backend = self.builder
        retriever.index((tokens, tokenizer.get_vocab_dict()), show_progress=False)
        retriever.save(work, show_progress=False)
        (work / IDS).write_text("\n".join(names), encoding="utf-8")

    def open(self, work: Path) -> None:
        """Load all arrays into memory; mapping them is slower to search."""
        import bm25s
        import numpy as np

        self._retriever = bm25s.BM25.load(work, mmap=False, show_progress=False)
        self._analyze = analyzer()
        self._ids = np.array((work / IDS).read_text("utf-8").split("\n"), dtype=object)

    def search(self, query: str, k: int) -> Sequence[str]:
        """Analysed here, without the progress bars and sets of `bm25s.tokenize`."""
        known = self._retriever.vocab_dict
        terms = [known[stem] for stem in self._analyze(query) if stem in known]
        if not terms:
            return []
        numbers, scores = self._retriever.retrieve(
            [terms], k=min(k, len(self._ids)), show_progress=False
        )
        found: list[str] = self._ids[numbers[0][scores[0] > 0]].tolist()
        return found


class Bm25sNumba(Bm25s):
    """bm25s as above, its matrix built by its newest builder, compiled by numba.

    It has to be switched on by hand (`auto_compile` does not in 0.3.16), and it is
    compiled anew in every process, which takes two seconds.
    """

    name = "bm25s-numba"
    builder = "numba"


class Tantivy(Peer):
    """Tantivy with two writer threads, term frequencies and no positions.

    A third thread, Python's, reads and feeds. Field norms are one byte, as in Lucene,
    so scores differ a little from exact BM25. Texts are not stored: only a number a
    document, in a column. Terms are put into a boolean query directly: the parser
    rejects some strings. No hit count is asked for, so that block-max WAND can skip.
    """

    name = "tantivy"
    heap = 1_000_000_000  # bytes for both writer threads together

    @staticmethod
    def _analyzer() -> Any:
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
        builder = builder.filter(Filter.custom_stopword(sorted(STOP_WORDS)))
        return builder.filter(Filter.stemmer("english")).build()

    def index(self, corpus: Path, work: Path) -> None:
        """One document at a time, one commit, and wait for the merges."""
        from tantivy import Document, Index, SchemaBuilder

        schema = SchemaBuilder().add_integer_field("number", fast=True)
        schema.add_text_field("text", tokenizer_name="porter2", index_option="freq")
        index = Index(schema.build(), path=str(work))
        index.register_tokenizer("porter2", self._analyzer())
        writer = index.writer(heap_size=self.heap, num_threads=THREADS)
        names: list[str] = []
        for number, (name, text) in enumerate(read_corpus(corpus)):
            names.append(name)
            writer.add_document(Document(number=number, text=text))
        writer.commit()
        writer.wait_merging_threads()
        (work / IDS).write_text("\n".join(names), encoding="utf-8")

    def open(self, work: Path) -> None:
        """Open memory-mapped, as Tantivy always does."""
        from tantivy import Index, Occur, Query

        index = Index.open(str(work))
        self._fields, self._searcher = index.schema, index.searcher()
        self._analyze = self._analyzer().analyze
        self._should, self._query = Occur.Should, Query
        self._ids = (work / IDS).read_text("utf-8").split("\n")

    def search(self, query: str, k: int) -> Sequence[str]:
        """Search with a boolean OR of analysed terms; numbers come from the column."""
        terms = self._analyze(query.encode("utf-8", "replace").decode("utf-8"))
        one, fields = self._query.term_query, self._fields
        parts = [(self._should, one(fields, "text", term, "freq")) for term in terms]
        hits = self._searcher.search(self._query.boolean_query(parts), k, count=False).hits
        numbers = self._searcher.fast_field_values("number", [place for _, place in hits])
        return [self._ids[int(number or 0)] for number in numbers]


class Pisa(Peer):
    """PISA through pyterrier_pisa's compiled module, without PyTerrier's data frames.

    No JVM is started. PISA alone would stem but keep stop words in its index; given
    words already analysed here (each distinct word stemmed once) it is both equal to
    the others and faster. Its tokeniser still sees them and splits words at letters
    beyond ASCII. The build includes the BM25 bounds and the compressed index that PISA
    makes before its first query. Peak memory counts the files that it maps.
    """

    name = "pisa"
    batch = 100_000  # documents inverted at a time
    encoding = "block_simdbp"
    algorithm = "block_max_maxscore"  # the fastest of the five tested at both depths here

    def index(self, corpus: Path, work: Path) -> None:
        """Feed analysed words through PISA's pipe, invert, then compress."""
        from pyterrier_pisa import PisaIndexer

        analyze = analyzer()
        documents = (
            {"docno": name, "text": " ".join(analyze(text))} for name, text in read_corpus(corpus)
        )
        indexer = PisaIndexer(
            str(work), "text", stemmer="none", threads=THREADS, batch_size=self.batch
        )
        indexer.index(documents)
        self.open(work)

    def open(self, work: Path) -> None:
        """Map the compressed index; compress it first where that is still to be done."""
        import numpy as np
        from pyterrier_pisa import _pisathon

        self._numpy, self._retrieve = np, _pisathon.retrieve
        self._analyze = analyzer()
        self._context = _pisathon.RetrievalContext()
        _pisathon.prepare_index(
            self._context, str(work), self.encoding, "bm25", "", bm25_k1=K1, bm25_b=B
        )

    def search(self, query: str, k: int) -> Sequence[str]:
        """One query on one thread; the module fills arrays given to it."""
        empty, narrow = self._numpy.empty, self._numpy.int32
        names = empty(k, dtype=object)
        found = self._retrieve(
            self._context, self.algorithm, [(0, " ".join(self._analyze(query)))],
            k=k, threads=1, pretokenised=False, query_weighted=0,
            result_qidxs=empty(k, dtype=narrow), result_docnos=names,
            result_ranks=empty(k, dtype=narrow),
            result_scores=empty(k, dtype=self._numpy.float32),
        )  # fmt: skip
        ids: list[str] = names[:found].tolist()
        return ids


class SicEtNon(Peer):
    """The product as a user has it: texts stored, fields kept apart, one index for every model.

    Its own stop list has other words than the peers', so it is given theirs.
    """

    name = "sicetnon"
    environment = ENVIRONMENT

    def index(self, corpus: Path, work: Path) -> None:
        """Build the index that `sicetnon index build` builds, but for the stop list."""
        from sicetnon.cli import tune_process
        from sicetnon.formats.corpora import open_corpus
        from sicetnon.index.writing import BuildOptions, build_index

        tune_process()
        self._share_stop_words()
        shutil.rmtree(work)
        build_index(open_corpus([corpus]), work, BuildOptions(self._analysis()))

    def open(self, work: Path) -> None:
        """Map the index."""
        from sicetnon.index.reader import IndexReader
        from sicetnon.retrieval.scoring import FieldScore
        from sicetnon.retrieval.searcher import LocalRetriever
        from sicetnon.retrieval.weighting import BM25

        self._share_stop_words()
        self._index = IndexReader.open(work)
        self._retriever = LocalRetriever(self._index, [FieldScore(BM25(K1, B))], threads=1)

    def search(self, query: str, k: int) -> Sequence[str]:
        """One query on one thread."""
        found, _ = self._retriever.search(self._retriever.terms(query), k)
        return self._index.identifiers(found)

    @staticmethod
    def _analysis() -> Any:
        from sicetnon.text.analysis import Analysis

        return Analysis("benchmark", "porter2", "benchmark")

    @staticmethod
    def _share_stop_words() -> None:
        from sicetnon.text.analysis import STOP_LISTS

        STOP_LISTS["benchmark"] = frozenset(STOP_WORDS)


PEERS: dict[str, type[Peer]] = {p.name: p for p in (SicEtNon, Bm25s, Bm25sNumba, Tantivy, Pisa)}
