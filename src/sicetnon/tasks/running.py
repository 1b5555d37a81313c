"""`run`: the contract of the tasks. An input directory in, `run.txt` out."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sicetnon.errors import BrokenIndexError, DataError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.files import write_whole
from sicetnon.formats.runs import check_tag, run_text
from sicetnon.formats.topics import read_topics
from sicetnon.index.manifest import MANIFEST, read_manifest
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, Progress, build_index
from sicetnon.records import Ranking
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.tasks.metadata import run_metadata
from sicetnon.tasks.registry import find_task
from sicetnon.tasks.sources import from_chatnoir, from_index
from sicetnon.tasks.task import Task
from sicetnon.text.analysis import named_analysis
from sicetnon.validation import validate

MADE_BY = "run"
"""Marks an index that `run` made for itself, and may make anew."""

RUN, METADATA = "run.txt", "ir-metadata.yml"
MAX_RESULTS = 1000


@dataclass(frozen=True)
class Listener:
    """Who is told how a run goes.

    Attributes:
        say: Called with a line for people.
        building: Called now and then while the index is built, with the corpus.
        fetching: Called with what is fetched from a service, how many are done, and of how many.
        labelling: Called with how many results have their stance, and of how many.
    """

    say: Callable[[str], None] = lambda _: None
    building: Callable[[Corpus, Progress], None] = lambda _, __: None
    fetching: Callable[[str, int, int], None] = lambda _, __, ___: None
    labelling: Callable[[int, int], None] = lambda _, __: None


@dataclass(frozen=True)
class RunOptions:
    """What a run may be told.

    Attributes:
        system: Which of the task's systems.
        index: The folder of the index; beside the output when left out. For tasks without a corpus
            an index of web pages, which takes the place of ChatNoir.
        cache: Where ChatNoir's answers are kept; beside the output when left out.
        tag: The name of the run; made of system and stance when left out.
        k: Documents a topic at most.
        listener: Who is told how it goes.
        stance: Who says which of two objects a result favours, where the task asks for that:
            `rules` or `learned` (extra `model`). The system's own way when left out.
    """

    system: str = "default"
    index: Path | None = None
    cache: Path | None = None
    tag: str | None = None
    k: int = MAX_RESULTS
    listener: Listener = field(default_factory=Listener)
    stance: str | None = None

    def named(self) -> str:
        """The name of the run: as it was given, else made of system and stance."""
        return self.tag or "-".join(filter(None, ("sicetnon", self.system, self.stance)))


def run_task(task_id: str, source: Path, target: Path, options: RunOptions) -> list[Ranking]:
    """Run a system of a task on an input directory, and write `run.txt` and `ir-metadata.yml`.

    Args:
        task_id: The task.
        source: The input directory.
        target: The output directory; made when there is none.
        options: The rest.

    Returns:
        The rankings, one a topic.

    Raises:
        DataError: The input cannot be used.
        MissingExtraError: What says the stance is not installed.
        UsageError: Task, system, stance or tag are not legal.
        OSError: Something cannot be written. No file of the output has changed then.
    """
    start = time.monotonic()
    task = find_task(task_id)
    tag = check_tag(options.named())
    task.check_system(options.system)
    if not source.is_dir():
        raise DataError("there is no such input directory", source)
    topics = read_topics(source / "topics.xml")
    stance = task.stance(options.stance)
    opening = _corpus_index if task.is_corpus_given else _web_pages
    with opening(task, source, target, options) as documents:
        system = task.system(options.system, documents.source, stance)
        system = replace(system, progress=options.listener.labelling)
        rankings = system.retrieve(topics, options.k)
        run = run_text(rankings, tag)
        seconds = time.monotonic() - start
        says = None if system.labelling is None else system.labelling.method
        metadata = run_metadata(task, options.system, tag, documents.index, seconds, says)
    write_whole({target / RUN: run, target / METADATA: metadata})
    report = validate(run.splitlines(keepends=True), task_id, topics, name=str(target / RUN))
    for finding in report.findings:
        options.listener.say(str(finding))
    return rankings


@dataclass(frozen=True)
class _Documents:
    """What a system is made for, and the index behind it, where there is one."""

    source: Any
    index: IndexReader | None = None


@contextlib.contextmanager
def _corpus_index(
    task: Task[Any], source: Path, target: Path, options: RunOptions
) -> Iterator[_Documents]:
    """The index of the corpus in the input: the one that is there if it fits, else a new one."""
    corpus = open_corpus([source])
    if corpus.records != task.records:
        raise DataError(f"holds {corpus.records}; {task.id} reads {task.records}", source)
    target.mkdir(parents=True, exist_ok=True)
    checksum, analysis = corpus.checksum(), task.analysis_for(options.system)
    with contextlib.ExitStack() as stack:
        folder, fits = _place(target, checksum, analysis, options, stack)
        if not fits:
            build = BuildOptions(
                named_analysis(analysis),
                progress=lambda progress: options.listener.building(corpus, progress),
                source={
                    "sha256": checksum,
                    "files": [Path(f).name for f in corpus.files],
                    "made_by": MADE_BY,
                },
            )
            build_index(corpus, folder, build)
        index = stack.enter_context(IndexReader.open(folder))
        yield _Documents(index, index)


@contextlib.contextmanager
def _web_pages(
    task: Task[Any], source: Path, target: Path, options: RunOptions
) -> Iterator[_Documents]:
    """The user's own index of web pages, or ChatNoir where none is named."""
    target.mkdir(parents=True, exist_ok=True)
    if options.index is not None:
        with IndexReader.open(options.index) as index:
            yield _Documents(from_index(index), index)
        return
    listener = options.listener
    cache = options.cache or target.absolute().with_name(f"{target.absolute().name}.chatnoir")
    # all systems but the default start from plain BM25
    method = "default" if options.system == "default" else "bm25"
    service = ChatNoirRetriever(cache, progress=listener.fetching, say=listener.say, method=method)
    with contextlib.closing(service):
        yield _Documents(from_chatnoir(service))


def _place(
    target: Path, checksum: str, analysis: str, options: RunOptions, stack: contextlib.ExitStack
) -> tuple[Path, bool]:
    """Where the index is or goes, and whether it is there and fits.

    The folder that the user names comes first, then `OUTPUT.index` beside `OUTPUT`, then a passing
    one; an index of something else, and a folder that cannot be written, are passed over.
    """
    beside = target.absolute().with_name(f"{target.absolute().name}.index")
    for folder in filter(None, (options.index, beside)):
        if _fits(folder, checksum, analysis):
            return folder, True
        if not _is_free(folder):
            options.listener.say(f"{folder} is an index of something else, and is left alone")
        elif folder is options.index or os.access(
            folder if folder.exists() else folder.parent, os.W_OK
        ):
            return folder, False
        else:
            options.listener.say(f"{folder} cannot be written, so the index will not be kept")
    passing = stack.enter_context(tempfile.TemporaryDirectory(prefix="sicetnon-"))
    return Path(passing) / "index", False


def _fits(folder: Path, checksum: str, analysis: str) -> bool:
    """Whether a folder holds a sound index of this corpus, made by this analysis."""
    try:
        with IndexReader.open(folder) as index:
            manifest = index.manifest
    except BrokenIndexError:
        return False
    same = manifest.source.get("sha256") == checksum
    return same and manifest.analysis == named_analysis(analysis).signature()


def _is_free(folder: Path) -> bool:
    """Whether an index may be built there: nothing is, or what a run made for itself."""
    if not (folder / MANIFEST).exists():
        return True
    try:
        return read_manifest(folder).source.get("made_by") == MADE_BY
    except BrokenIndexError:
        return False
