"""The index as people use it: build it from anything, search it, make systems of it; the sample."""

from __future__ import annotations

import contextlib
import functools
import itertools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from sicetnon._version import VERSION
from sicetnon.app.answers import Answer, Answers, answers, with_sides
from sicetnon.app.search import checked_topic, nearest_headings, shown_answers
from sicetnon.argument_checks import check_text, check_texts
from sicetnon.cluster.address import Location, is_address
from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.index.manifest import FORMAT_VERSION
from sicetnon.index.reader import IndexReader
from sicetnon.notebook import shown_progress
from sicetnon.operating_system import cache_folder, check_plain, wait_for_lock
from sicetnon.ranking.system import System
from sicetnon.tasks.registry import analysis_for, search_system, shown_system
from sicetnon.tasks.task import ANSWERS
from sicetnon.text.analysis import named_analysis

if TYPE_CHECKING:
    from sicetnon.cluster.build import ClusterOptions
    from sicetnon.formats.corpora import Corpus, Document
    from sicetnon.formats.entries import EntryFields
    from sicetnon.index.writing import BuildOptions
    from sicetnon.retrieval.feedback import Feedback
    from sicetnon.retrieval.searcher import LocalRetriever
    from sicetnon.retrieval.weighting import WeightingModel

Source: TypeAlias = "str | Path | Iterable[Document] | Iterable[Path]"


class Index(IndexReader):
    """An index of documents: build or open it, search it, make systems of it.

    For example::

        index = sicetnon.Index.build(["Tenure protects academic freedom.", "Tenure costs money."])
        for answer in index.search("Should teachers get tenure?"):
            print(answer.rank, answer.id, answer.snippet.text)

    It can be used in a `with` block, which closes it. Threads may share it.

    Attributes:
        ranker: The folder of a ranker that `sicetnon train ranker` wrote, which the system
            `answers` reads; the shipped one if None.
    """

    ranker: Path | str | None = None

    @classmethod
    def open(
        cls,
        folder: Location,
        *,
        partial: bool = False,
        postings_memory: int | None = None,
    ) -> Self:
        """Open an index in a folder, or on a cluster: `opensearch+https://host:9200/NAME`.

        Args:
            folder: The folder or the address.
            partial: Whether answers of a cluster may lack the documents of shards that do not
                answer in time; `missing` then says so. Such an answer is an error otherwise.
            postings_memory: Bytes for postings of a folder that queries unpacked, which are kept
                for the next queries; a quarter of the memory of the machine or container when
                left out.

        An index in a folder stays readable, even if writers change the folder. One on a
        cluster follows the changes; every answer is of one state of it.

        Raises:
            BrokenIndexError: There is none, or it is damaged, or was made with an analysis that
                would give other terms now.
            ClusterError: A cluster gives no answer.
        """
        if not is_address(folder):
            return super().open(cast(Path, folder), postings_memory=postings_memory)
        # it is an index, if not of a class that is derived from this one
        return cast(Self, _cluster_index().open(folder, partial=partial))

    @classmethod
    def build(
        cls,
        source: Source,
        folder: Location | None = None,
        *,
        cluster: ClusterOptions | None = None,
        analysis: str | None = None,
        fields: Sequence[str] = (),
        id_field: str | None = None,
        stance_field: str | None = None,
        claim_field: str | None = None,
        on_error: Callable[[DataError], None] | None = None,
    ) -> Self:
        """Build an index and open it.

        Args:
            source: An iterable of texts, of dictionaries with named fields, or of records; or a
                path (`str` or `Path`) or an iterable of `Path`s in any format that `sicetnon index
                build` reads; or an id of ir_datasets.
            folder: Where the index is kept, in place of the one that may be there; or an address
                on a cluster: `opensearch+https://host:9200/NAME`. Left out, a temporary folder.
            cluster: How documents are loaded into a cluster.
            analysis: How texts become terms; the one that suits the documents when left out.
            fields: For dictionaries, JSON Lines and CSV: the fields to index; all texts but links
                when left out. The other fields are kept beside them. Of documents that are no
                list, the first 100 tell the fields.
            id_field: Likewise: the field with the id.
            stance_field: Likewise: the field with the side, `PRO` or `for`, `CON` or `against`.
            claim_field: Likewise: the field with the claim that a document is for or against.
            on_error: Called with the error of a document that cannot be used, else it is raised.

        Raises:
            DataError: The documents cannot be read, or there is none.
            UsageError: The folder is a file or holds something else, or there is no such analysis.
            MissingExtraError: An id of ir_datasets is named, which needs an extra.
            OSError: The disk is full or not writable. Nothing has changed in any of these cases.
        """
        # reading takes more libraries than searching
        from sicetnon.formats.entries import EntryFields
        from sicetnon.formats.files import Reading
        from sicetnon.index.writing import BuildOptions

        _check_fields(fields)
        _check_names(id_field=id_field, stance_field=stance_field, claim_field=claim_field)
        if analysis is not None:
            check_text(analysis, "the analysis")
        corpus = corpus_of(
            source, EntryFields(tuple(map(str, fields)), id_field, stance_field, claim_field)
        )
        chosen = named_analysis(analysis or analysis_for(corpus.records))
        on_error = on_error or Reading().on_error
        options = BuildOptions(chosen, on_error=on_error, progress=shown_progress(corpus.size))
        return cls._built(corpus, folder, options, cluster)

    _temporary: _TemporaryFolder | None = None

    @classmethod
    def _built(
        cls,
        corpus: Corpus,
        folder: Location | None,
        options: BuildOptions,
        cluster: ClusterOptions | None,
    ) -> Self:
        """Build an index and open it, in a temporary folder where none is named."""
        from sicetnon.cluster.location import index_store

        temporary = None
        if folder is None:
            temporary = _TemporaryFolder()
            folder = temporary.path / "index"
        index_store(folder, cluster).build(corpus, options)
        index = cls.open(folder)
        index._temporary = temporary
        return index

    @classmethod
    def merge(cls, shards: Sequence[Path | str], folder: Path | str, *, link: bool = False) -> Self:
        """Make one index of several, and open it.

        Its rankings and scores are those of an index of the same documents that was built in one
        go.

        Args:
            shards: The folders of the indexes, in the order of their documents.
            folder: Where the index is kept, in place of the one that may be there.
            link: Whether files of the shards are shared by hard links instead of rewritten.

        Raises:
            BrokenIndexError: A shard is missing or damaged.
            DataError: The shards hold documents of several kinds, or an id occurs twice.
            UsageError: The folder holds something else, or no shard is named, or an address is.
        """
        from sicetnon.index.compaction import merge_indexes

        if isinstance(shards, str) or not isinstance(shards, Iterable):
            raise UsageError(f"found the shards {shards!r}; expected a list of folders")
        parts = list(shards)
        if any(map(is_address, [*parts, folder])):
            raise UsageError("found the address of a cluster; indexes in folders alone are merged")
        merge_indexes([Path(shard) for shard in parts], Path(folder), link)
        return cls.open(Path(folder))

    def __len__(self) -> int:
        return self.document_count

    def __repr__(self) -> str:
        return f"<Index of {len(self):,} {self.manifest.records} in {self.folder}>"

    def add(
        self,
        source: Source,
        *,
        replace: bool = False,
        id_field: str | None = None,
        stance_field: str | None = None,
        claim_field: str | None = None,
    ) -> Self:
        """Add documents, and open the changed index. This one stays unchanged.

        Args:
            source: As in `build`; documents of the same kind and fields. Texts and dictionaries
                without an id get the next numbers that are free.
            replace: Whether a document whose id is there already takes the place of that one.
            id_field: As in `build`, like the other fields.
            stance_field: Likewise.
            claim_field: Likewise.

        Raises:
            DataError: The documents are of another kind, or an id is taken and `replace` is false.
        """
        from sicetnon.cluster.location import index_store
        from sicetnon.formats.entries import EntryFields
        from sicetnon.index.writing import BuildOptions

        self.check_open()
        _check_names(id_field=id_field, stance_field=stance_field, claim_field=claim_field)
        texts = self.fields if self.manifest.records == "entries" else ()
        named = EntryFields(texts, id_field, stance_field, claim_field)
        free = (number for number in count(self.size) if self.number(str(number)) is None)
        corpus = corpus_of(source, named, free)
        options = BuildOptions(self.analysis, progress=shown_progress(corpus.size))
        index_store(self.folder).add(corpus, options, replace)
        return self._reopened()

    def delete(self, ids: Iterable[str]) -> Self:
        """Delete documents by id, and open the changed index. Unknown ids are passed over.

        Raises:
            UsageError: `ids` is no list, or no document would be left.
        """
        from sicetnon.cluster.location import index_store
        from sicetnon.evaluation.inputs import identifier

        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise UsageError(f"found {ids!r}; expected a list of ids, such as [{str(ids)!r}]")
        self.check_open()
        texts = [each if isinstance(each, str) else identifier(each) for each in ids]
        index_store(self.folder).delete(texts)
        return self._reopened()

    def search(
        self,
        question: str,
        k: int = 10,
        *,
        objects: Sequence[str] = (),
        system: str | System | None = None,
        stance: str | None = None,
        sides: bool = True,
        balance: bool = True,
        snippets: bool = True,
    ) -> list[Answer]:
        """The best answers to a question.

        Unless a system is named, near duplicates are folded into the first of them; spam, the
        housekeeping of debates and arguments that are not about the question are left out; and both
        sides are shown. None is left where the index has nothing about the question;
        `nearest_topics` then tells what it has.

        Args:
            question: Any text; its first 10,000 characters are read.
            k: Number of answers.
            objects: The two objects of a question that compares. Left out, the question
                names them.
            system: The name of a system, as in `system`, or a system of this index, whose first
                results are given unchanged. Left out, it is `answers` for arguments, else
                `default`.
            stance: The stance classifier, as in `system`.
            sides: Whether sides are judged, which takes the model a few milliseconds per answer.
            balance: Whether the side with fewer answers gets a third of the places, if it has
                enough.
            snippets: Whether the answers have snippets, which take less than a millisecond each.

        Raises:
            UsageError: The question is no text, k is below 1, the objects are not two names, or
                there is no such system or stance classifier for this index.
        """
        topic = checked_topic(question, k, objects)
        if system is None:
            chosen = self.system(shown_system(self), stance=stance)
            found = shown_answers(self, chosen, topic, k, sides, balance, snippets)
            return Answers(topic.title, found)
        chosen = system if isinstance(system, System) else self.system(system, stance=stance)
        best = answers(self, chosen.retrieve([topic], k)[0], snippets)
        return Answers(topic.title, with_sides(topic.title, best) if sides else best)

    def nearest_topics(self, question: str, k: int = 5) -> list[str]:
        """Headings of the documents nearest to a question, each once, the nearest first.

        Args:
            question: Any text; its first 10,000 characters are read.
            k: Number of headings.

        Raises:
            UsageError: The question is no text, or k is below 1.
        """
        topic = checked_topic(question, k)
        return nearest_headings(self, self.system(shown_system(self)), topic, k)

    def system(self, name: str = "default", *, stance: str | None = None) -> System:
        """A system by its name, such as `default`, `bm25`, `dirichlet`, `dense` or `hybrid`.

        Args:
            name: One of the systems of the task that the documents belong to, or of the general
                ones.
            stance: The stance classifier of passages: `rules` or `learned`. The
                system's own way when left out.

        Raises:
            UsageError: There is no such system or stance classifier for this index.
        """
        self.check_open()
        check_text(name, "the system")
        return search_system(name, self, stance, self.ranker if name == ANSWERS else None)

    def retriever(
        self,
        model: WeightingModel | None = None,
        *,
        fields: Mapping[str, float] | None = None,
        feedback: Feedback | None = None,
    ) -> LocalRetriever:
        """A retriever with a weighting model.

        Args:
            model: `BM25()` when left out; `DirichletLM`, `DPH`, … or a model of one's own.
            fields: Names of fields with their weights; all fields with weight 1 when left out.
            feedback: Expands the query, such as `RM3()`.

        Raises:
            UsageError: This is no weighting model, or the index has no such field.
        """
        from sicetnon.retrieval.scoring import FieldScore
        from sicetnon.retrieval.searcher import LocalRetriever
        from sicetnon.retrieval.weighting import BM25, WeightingModel

        self.check_open()
        model = BM25() if model is None else model
        if not isinstance(model, WeightingModel):
            raise UsageError(f"found {model!r}; expected a weighting model, such as BM25()")
        if feedback is not None and not hasattr(feedback, "expand"):
            raise UsageError(f"found {feedback!r:.80} as the feedback; expected one, such as RM3()")
        if fields is not None and not isinstance(fields, Mapping):
            raise UsageError(f"found the fields {fields!r}; expected weights: {{'text': 1.0}}")
        if unknown := [name for name in fields or () if name not in self.fields]:
            raise UsageError(
                f"the index has no field {', '.join(map(str, unknown))}; its fields are "
                f"{', '.join(self.fields)}"
            )
        score = FieldScore(model, dict(fields or {}))
        return LocalRetriever(self, [score], feedback)

    def close(self) -> None:
        """Close the index; a temporary folder is removed when its last index is closed."""
        super().close()
        self._temporary = None

    def _reopened(self) -> Self:
        changed = self.open(self.folder)
        changed._temporary, changed.ranker = self._temporary, self.ranker
        return changed


@functools.cache
def _cluster_index() -> type[Index]:
    """The class of an index on a cluster, which takes more libraries than one in a folder."""
    from sicetnon.cluster.remote_index import ClusterReader

    class ClusterIndex(ClusterReader, Index):  # type: ignore[misc]  # `open` of both
        # a search, the records of its answers included, waits as long as one request may

        def __reduce__(self) -> tuple[Any, ...]:
            # the address alone; user and password are of the environment
            self.check_open()
            return functools.partial(Index.open, partial=self._is_partial), (self.folder,)

        def search(self, question: str, k: int = 10, **options: Any) -> list[Answer]:
            with self.waiting_once():
                return super().search(question, k, **options)

        def nearest_topics(self, question: str, k: int = 5) -> list[str]:
            with self.waiting_once():
                return super().nearest_topics(question, k)

    return ClusterIndex


def _check_fields(fields: Sequence[str]) -> None:
    """Refuse anything but a list of names."""
    if isinstance(fields, str):
        raise UsageError(f"found the text {fields!r}; expected a list of fields: [{fields!r}]")
    check_texts(fields, "fields")


def _check_names(**names: str | None) -> None:
    """Refuse names of fields that are no texts."""
    for name, value in names.items():
        if value is not None:
            check_text(value, name)


def check_index(index: object) -> None:
    """Refuse anything but an index.

    Raises:
        UsageError: It is something else.
    """
    if not isinstance(index, Index):
        raise UsageError(
            f"found {type(index).__name__} as the index; expected one, as Index.open gives it"
        )


class _TemporaryFolder:
    """A folder that is removed when nothing refers to this object any more."""

    def __init__(self) -> None:
        import shutil
        import tempfile
        import weakref

        self.path = Path(tempfile.mkdtemp(prefix="sicetnon-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def corpus_of(source: Source, named: EntryFields, places: Iterable[int] | None = None) -> Corpus:
    """The corpus of a source of `Index.build`.

    Raises:
        DataError: A path leads to nothing that can be read.
        UsageError: It is no iterable of documents.
    """
    # reading takes more libraries than searching
    from sicetnon.formats.corpora import memory_corpus, open_corpus

    if isinstance(source, str) and " " in source.strip() and not _is_there(source):
        raise UsageError(
            f"found {source!r:.60}, and no file has this name; expected a path that is there, or a "
            "list of texts, such as ['Tenure protects academic freedom.']"
        )
    if isinstance(source, str | Path):
        return open_corpus([source], named)
    if hasattr(source, "columns"):
        return memory_corpus(_rows(source), named, places)
    if isinstance(source, Mapping):
        raise UsageError("found one dictionary; expected an iterable of documents, or a path")
    if not isinstance(source, Iterable):
        raise UsageError(
            f"found {type(source).__name__}; expected an iterable of documents, or a path"
        )
    documents = iter(source)
    first = next(documents, None)
    if isinstance(first, str) and _is_file(first):
        raise UsageError(f"found the name of a file, {first!r}; expected texts, or a Path of it")
    if isinstance(first, Path):
        return open_corpus([first, *documents], named)  # type: ignore[list-item]
    if isinstance(source, list | tuple):
        return memory_corpus(list(source), named, places)
    together: Any = () if first is None else itertools.chain([first], documents)
    return memory_corpus(together, named, places)


def _is_file(text: str) -> bool:
    return _is_there(text) and Path(text).is_file()


def _is_there(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # a text that is too long for a name
        return False


def _rows(frame: Any) -> Iterable[Document]:
    """The rows of a data frame of pandas or polars."""
    # most sources are no frame
    from sicetnon.evaluation.inputs import check_frame

    check_frame(frame)
    rows: Iterable[Document]
    rows = frame.iter_rows(named=True) if hasattr(frame, "iter_rows") else frame.to_dict("records")
    return rows


def sample_directory() -> Path:
    """The sample's input directory."""
    from sicetnon.tasks.touche_2020_task_1 import TASK

    return Path(__file__).parents[1] / "examples" / TASK.id / "input"


def sample_index(say: Callable[[str], None] = lambda _: None) -> Index:
    """The index of the sample, built where it is not there yet (a moment).

    Args:
        say: Called with a line for people where another process is building it.
    """
    from sicetnon.formats.files import checksum

    files = sorted(sample_directory().iterdir())
    contents = "".join(f"{checksum(file):08x}" for file in files)
    known = f"{zlib.crc32(contents.encode()):08x}"
    folder = cache_folder() / f"sample-{VERSION}-{FORMAT_VERSION}-{known}"
    with contextlib.suppress(BrokenIndexError):
        return Index.open(folder)
    lock_path = folder.with_name(f"{folder.name}.lock")
    check_plain(lock_path)
    with lock_path.open("a") as lock:
        wait_for_lock(lock, lambda: say("another process builds the sample's index; waiting"))
        with contextlib.suppress(BrokenIndexError):
            return Index.open(folder)
        _build_sample(folder)
        return Index.open(folder)


def _build_sample(folder: Path) -> None:
    # what builds takes longer to load than what searches
    from sicetnon.formats.corpora import open_corpus
    from sicetnon.index.writing import BuildOptions, build_index
    from sicetnon.tasks.touche_2020_task_1 import TASK

    corpus = open_corpus([sample_directory()])
    analysis = named_analysis(TASK.analysis)
    build_index(corpus, folder, BuildOptions(analysis, source={"sha256": corpus.checksum()}))


def opened_index(folder: Location | None, say: Callable[[str], None] = lambda _: None) -> Index:
    """An index; that of the sample when none is named.

    Raises:
        BrokenIndexError: There is no usable index in the folder.
    """
    return Index.open(folder) if folder else sample_index(say)
