"""Run a task: read an input directory, write `run.txt` and `ir-metadata.yml`.

The metadata say how a run was made, in the words of ir-metadata 0.1 (Breuer et al., 2022).
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import yaml

from sicetnon._version import VERSION
from sicetnon.cancellation import Cancellation
from sicetnon.cluster.address import Location
from sicetnon.cluster.location import index_store, open_index
from sicetnon.contracts import CONTRACTS
from sicetnon.errors import BrokenIndexError, DataError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.files import write_atomic
from sicetnon.formats.runs import check_tag, run_text
from sicetnon.formats.topics import read_topics, topics_in
from sicetnon.index.manifest import refuse_inside_index
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, Progress
from sicetnon.jit import preload_numba
from sicetnon.operating_system import make_folder
from sicetnon.ranking.system import System
from sicetnon.records import Ranking
from sicetnon.tasks.registry import find_task
from sicetnon.tasks.task import Task
from sicetnon.text.analysis import Analysis, named_analysis
from sicetnon.validation import validate
from sicetnon.validation.validator import is_sound

if TYPE_CHECKING:
    from sicetnon.services.chatnoir import ChatNoirRetriever


_LIBRARIES = ("numpy", "numba", "PyStemmer", "msgspec")


def run_metadata(
    task: Task[Any],
    system: str,
    tag: str,
    index: IndexReader | None,
    seconds: float,
    made: System,
    command: Sequence[str],
) -> str:
    """The metadata of a run, as YAML.

    Args:
        task: The task.
        system: The name of the system.
        tag: The name of the run.
        index: The index, or None for ChatNoir.
        seconds: The time that the run took.
        made: The system.
        command: The command that makes the run.
    """
    description = (task.systems[system].__doc__ or "").strip().split("\n")[0]
    method = {
        "name": f"sicetnon {system}",
        "system": system,
        "description": description,
        "indexing": _indexing(index),
        "retrieval": _parameters(made),
    }
    stance = None if made.labelling is None else made.labelling.method
    searched: dict[str, Any] = {"source": "ClueWeb12 by ChatNoir"}
    if index is not None:
        searched = {"documents": index.document_count}
        if index.missing:
            searched["partial"] = index.missing
    return yaml.safe_dump(
        {
            "schema": {"version": "0.1"},
            "tag": tag,
            "platform": _platform(),
            "implementation": {
                "executable": {"cmd": shlex.join(command)},
                "source": _implementation_source(),
            },
            "data": {"test collection": {"name": task.id} | searched, "topics": "titles"},
            "method": {"automatic": True} | method | ({"stance": stance} if stance else {}),
            "resources": {"runtime": {"seconds": round(seconds, 3)}},
            "actor": {"team": "sicetnon"},
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        sort_keys=False,
        allow_unicode=True,
    )


def _parameters(system: System) -> list[dict[str, str]]:
    """The steps of a system with their parameters."""
    retriever = system.retriever
    if isinstance(retriever, System):
        return [*_parameters(retriever), *map(_step, system.stages)]
    searched = getattr(retriever, "scores", None) or [retriever]
    feedback = getattr(retriever, "feedback", None)
    return list(map(_step, [*searched, *filter(None, [feedback]), *system.stages]))


def _step(step: object) -> dict[str, str]:
    said = repr(step) if is_dataclass(step) else ""
    # others are written with their place in memory
    is_whole = said and " at 0x" not in said
    return {"name": type(step).__name__} | ({"parameters": said} if is_whole else {})


def _implementation_source() -> dict[str, str]:
    """The version, with repository and commit if known."""
    repository, commit = _installed_from()
    commit = os.environ.get("SICETNON_COMMIT") or commit
    checkout = Path(__file__).parents[3]
    if not commit and (checkout / ".git").exists():
        commit = _git(checkout, "rev-parse", "HEAD")
        repository = _git(checkout, "remote", "get-url", "origin") if commit else ""
    # neither passwords nor paths of this machine
    repository = re.sub(r"^(\w+://)[^/@]*@", r"\1", repository)
    is_public = re.match(r"(?:https?|ssh|git)://|[\w.-]+@[\w.-]+:", repository)
    found = {"repository": repository if is_public else "sicetnon", "version": VERSION}
    return found | ({"commit": commit} if commit else {})


def _installed_from() -> tuple[str, str]:
    """The repository and the commit that pip installed from; empty for other origins."""
    try:
        origin = json.loads(distribution("sicetnon").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", ""
    commit = origin.get("vcs_info", {}).get("commit_id", "")
    return (origin["url"], commit) if commit else ("", "")


def _git(checkout: Path, *words: str) -> str:
    try:
        command = ["git", "-C", str(checkout), *words]
        found = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


def _platform() -> dict[str, Any]:
    libraries = [f"{name}=={version(name)}" for name in _LIBRARIES]
    return {
        "hardware": {"cpu": {"model": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.system()},
        "software": {
            "libraries": {"python": libraries},
            "runtime": f"Python {platform.python_version()}",
        },
    }


def _indexing(index: IndexReader | None) -> dict[str, Any]:
    if index is None:
        return {"name": "ChatNoir"}
    models = {name: entry.model for name, entry in index.manifest.annotations.items()}
    return dict(index.manifest.analysis) | ({"annotations": models} if models else {})


MADE_BY = "run"
"""Marks an index that `run` has built, and may build again."""

RUN, METADATA = "run.txt", "ir-metadata.yml"
MAX_RESULTS = 1000

_NAMES = {"processed": "the processed arguments of 2022 (args_processed.csv)", "pages": "web pages"}
"""What people call a kind of documents, where its own name says too little."""

_SECONDS_PER_BYTE = 2e-8
"""About what a search for fifty topics takes per byte of the corpus, without compiled code."""


@dataclass(frozen=True)
class Callbacks:
    """Callbacks for messages and progress.

    Attributes:
        message: Called with a line of text for people.
        indexing: Called with the corpus and the progress of its index.
        fetching: Called with the kind of items fetched from a service, their number so far, and
            their number in all.
        labelling: Called with the number of results that have a stance so far, and in all.
    """

    message: Callable[[str], None] = lambda _: None
    indexing: Callable[[Corpus, Progress], None] = lambda _, __: None
    fetching: Callable[[str, int, int], None] = lambda _, __, ___: None
    labelling: Callable[[int, int], None] = lambda _, __: None


@dataclass(frozen=True)
class RunOptions:
    """Options of `run_task`.

    Attributes:
        system: The name of a system of the task.
        index: The index, in a folder or on a cluster; `OUTPUT.index` beside the output when left
            out. For a task without a corpus: an index of web pages, in place of ChatNoir.
        cache: The file with ChatNoir's answers; `OUTPUT.chatnoir` beside the output when left out.
        tag: The name of the run; made of system and stance classifier when left out.
        k: Largest number of documents per topic.
        callbacks: Callbacks for messages and progress.
        stance: The stance classifier, for a task that asks which of two objects a result favours:
            `rules` or `learned`. The system's own when left out.
        partial: Whether answers of a cluster may lack shards, which the metadata then say.
        ranker: The folder of a ranker for the system `answers`; the shipped one when left out.
    """

    system: str = "default"
    index: Location | None = None
    cache: Path | None = None
    tag: str | None = None
    k: int = MAX_RESULTS
    callbacks: Callbacks = field(default_factory=Callbacks)
    stance: str | None = None
    partial: bool = False
    ranker: Path | None = None

    def command(self, task: str, source: Path, target: Path) -> list[str]:
        """The command that makes the same run as `run_task` with these options."""
        words = ["sicetnon", "run", task, "-i", str(source), "-o", str(target)]
        words += ["--system", self.system, "-k", str(self.k)]
        for name in ("index", "tag", "stance"):
            if (value := getattr(self, name)) is not None:
                words += [f"--{name}", str(value)]
        return [*words, "--partial"] if self.partial else words

    def run_tag(self) -> str:
        """The name of the run: the given one, or one made of system and stance classifier."""
        return self.tag or "-".join(filter(None, ("sicetnon", self.system, self.stance)))


def run_task(task_id: str, source: Path, target: Path, options: RunOptions) -> list[Ranking]:
    """Run a system of a task on an input directory, and write `run.txt` and `ir-metadata.yml`.

    Returns:
        A ranking for each topic.

    Raises:
        DataError: The input cannot be used.
        MissingExtraError: The stance classifier needs an extra that is not installed.
        UsageError: Task, system, stance classifier or tag are not legal, or the target lies in the
            folder of an index.
        OSError: The output cannot be written. None of its files has changed then.
    """
    start = time.monotonic()
    task = find_task(task_id)
    tag = check_tag(options.run_tag())
    # an index takes minutes to build, so that all else is checked first
    system_for = task.prepared(options.system, options.stance, options.ranker)
    if not source.is_dir():
        raise DataError(
            "there is no such input directory" if not source.exists() else "is no directory", source
        )
    topics = read_topics(topics_in(source) or source / "topics.xml")

    def search(documents: Any, index: IndexReader | None) -> _Found:
        system = replace(system_for(documents), progress=options.callbacks.labelling)
        rankings = system.retrieve(topics, options.k)
        run, seconds = run_text(rankings, tag), time.monotonic() - start
        command = options.command(task_id, source, target)
        metadata = run_metadata(task, options.system, tag, index, seconds, system, command)
        return _Found(rankings, run, metadata, index.missing if index is not None else "")

    with _output(target):
        found = _search_documents(task, source, target, options, search)
        if found.missing:
            options.callbacks.message(f"partial: {found.missing}")
        write_atomic({target / RUN: found.run, target / METADATA: found.metadata})
    rankings, numbers = found.rankings, [topic.number for topic in topics]
    # a task of one's own may have no rules for runs
    if task_id in CONTRACTS and not is_sound(rankings, task_id, numbers):
        lines = found.run.splitlines(keepends=True)
        report = validate(lines, task_id, topics, name=str(target / RUN))
        for finding in report.findings:
            options.callbacks.message(str(finding))
    return rankings


@dataclass(frozen=True)
class _Found:
    """A run before it is written."""

    rankings: list[Ranking]
    run: str
    metadata: str
    missing: str


_Search: TypeAlias = Callable[[Any, IndexReader | None], _Found]
"""Searches documents, which may have an index."""


@contextlib.contextmanager
def _output(target: Path) -> Iterator[None]:
    """Make the output folder; an empty one is removed if the block fails."""
    refuse_inside_index(target / RUN)
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    make_folder(target)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _search_documents(
    task: Task[Any], source: Path, target: Path, options: RunOptions, search: _Search
) -> _Found:
    """Search the documents of a task: those of the input, of an index of web pages, or ChatNoir."""
    if task.is_corpus_given:
        return _search_corpus(task, source, target, options, search)
    # they load what speaks to servers
    from sicetnon.services.page_sources import from_chatnoir, from_index

    if options.index is not None:
        with open_index(options.index, partial=options.partial) as index:
            return search(from_index(index), index)
    with contextlib.closing(_chatnoir(target, options)) as service:
        return search(from_chatnoir(service), None)


def _chatnoir(target: Path, options: RunOptions) -> ChatNoirRetriever:
    from sicetnon.services.chatnoir import ChatNoirRetriever

    return ChatNoirRetriever(
        options.cache or _beside(target, "chatnoir"),
        progress=options.callbacks.fetching,
        say=options.callbacks.message,
        # all systems but the default start from plain BM25
        method="default" if options.system == "default" else "bm25",
    )


def _search_corpus(
    task: Task[Any], source: Path, target: Path, options: RunOptions, search: _Search
) -> _Found:
    """Search the corpus of the input, in the present index if it fits, else in a new one."""
    corpus = open_corpus([source])
    if corpus.records != task.records:
        held, wanted = (_NAMES.get(each, each) for each in (corpus.records, task.records))
        raise DataError(f"holds {held}; {task.id} reads {wanted}", source)
    analysis = named_analysis(task.analysis_for(options.system))
    given = (options.index, _beside(target, "index"))
    places = [place for place in given if place is not None]
    with contextlib.ExitStack() as stack:
        computed = stack.enter_context(_computed_checksum(corpus))
        preload_numba(_SECONDS_PER_BYTE * corpus.size())
        for place in places:
            found = _search_early(place, corpus, analysis, computed, search)
            if found is not None:
                return found
        checksum = computed.result()
        folder = _corpus_index(corpus, checksum, analysis, places, options, stack)
        with open_index(folder, partial=options.partial) as index:
            return search(index, index)


@contextlib.contextmanager
def _computed_checksum(corpus: Corpus) -> Iterator[Future[str]]:
    """The checksum of a corpus, which a thread computes within the block."""
    stop = Cancellation()

    def compute() -> str:
        with stop.watched():
            return corpus.checksum()

    with ThreadPoolExecutor(1) as beside:
        try:
            yield beside.submit(compute)
        finally:
            stop.now()  # an interrupted command does not wait for it


def _search_early(
    place: Location, corpus: Corpus, analysis: Analysis, computed: Future[str], search: _Search
) -> _Found | None:
    """The results of a search of a folder's index; None if it is no index of this corpus.

    The checksum is computed meanwhile. The search counts only if it fits in the end, and is stopped
    as soon as it does not.
    """
    if index_store(place).is_remote:
        return None
    try:
        index = open_index(place)
    except BrokenIndexError:
        return None
    with index:
        made_from, stop = index.manifest.source, Cancellation()
        is_likely = made_from.get("files") == corpus.names()
        if not is_likely or index.manifest.analysis != analysis.signature():
            return None

        def fits() -> bool:
            return made_from.get("sha256") == computed.result()

        def stop_wrong(done: Future[str]) -> None:
            if done.exception() is not None or not fits():
                stop.now()

        computed.add_done_callback(stop_wrong)
        try:
            with stop.watched():
                found = search(index, index)
        except Exception:
            # nobody asked about an index of something else
            if fits():
                raise
            return None
        return found if fits() else None


def _corpus_index(
    corpus: Corpus,
    checksum: str,
    analysis: Analysis,
    places: Sequence[Location],
    options: RunOptions,
    stack: contextlib.ExitStack,
) -> Location:
    """The place of an index of a corpus: the present one if it fits, else a new one."""
    for folder in places:
        if _fits(folder, checksum, analysis):
            return folder
        if not _is_free(folder):
            options.callbacks.message(
                f"{folder} is an index of something else, and is left alone: "
                "the input gets an index of its own"
            )
        elif folder is options.index or _is_writable(Path(cast(Path, folder))):
            break
        else:
            options.callbacks.message(f"{folder} cannot be written, so the index will not be kept")
    else:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="sicetnon-"))
        folder = Path(temporary) / "index"
    build = BuildOptions(
        analysis,
        progress=lambda progress: options.callbacks.indexing(corpus, progress),
        source={"sha256": checksum, "files": corpus.names(), "made_by": MADE_BY},
    )
    index_store(folder).build(corpus, build)
    return folder


def _beside(target: Path, ending: str) -> Path:
    """`OUTPUT.ending` beside the output directory."""
    return target.absolute().with_name(f"{target.absolute().name}.{ending}")


def _fits(place: Location, checksum: str, analysis: Analysis) -> bool:
    """Whether a folder holds a sound index of this corpus, made by this analysis."""
    try:
        with open_index(place) as index:
            manifest = index.manifest
    except BrokenIndexError:
        return False
    same = manifest.source.get("sha256") == checksum
    return same and manifest.analysis == analysis.signature()


def _is_free(place: Location) -> bool:
    """Whether an index may be built there: there is none, or one that `run` made."""
    store = index_store(place)
    try:
        return not store.exists() or store.manifest().source.get("made_by") == MADE_BY
    except BrokenIndexError:
        return False


def _is_writable(folder: Path) -> bool:
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)
