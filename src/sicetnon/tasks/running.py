"""`run`: the contract of the tasks. An input directory in, `run.txt` out."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sicetnon.errors import BrokenIndexError, DataError
from sicetnon.evaluation.validation import validate
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.files import write_whole
from sicetnon.formats.runs import check_tag, run_lines
from sicetnon.formats.topics import read_topics
from sicetnon.index.index import Index
from sicetnon.index.manifest import MANIFEST, read_manifest
from sicetnon.index.writing import BuildOptions, Progress, build_index
from sicetnon.records import Ranking
from sicetnon.tasks.metadata import run_metadata
from sicetnon.tasks.registry import find_task
from sicetnon.text.analysis import named_analysis

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
    """

    say: Callable[[str], None] = lambda _: None
    building: Callable[[Corpus, Progress], None] = lambda _, __: None


@dataclass(frozen=True)
class RunOptions:
    """What a run may be told.

    Attributes:
        system: Which of the task's systems.
        index: The folder of the index; beside the output when left out.
        tag: The name of the run; made of task and system when left out.
        k: Documents a topic at most.
        listener: Who is told how it goes.
    """

    system: str = "default"
    index: Path | None = None
    tag: str | None = None
    k: int = MAX_RESULTS
    listener: Listener = field(default_factory=Listener)


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
        UsageError: Task, system or tag are not legal.
        OSError: Something cannot be written. No file of the output has changed then.
    """
    start = time.monotonic()
    task = find_task(task_id)
    tag = check_tag(options.tag or f"sicetnon-{options.system}")
    if options.system not in task.systems:
        task.system(options.system, None)  # type: ignore[arg-type]  # raises, naming the systems
    if not source.is_dir():
        raise DataError("there is no such input directory", source)
    topics = read_topics(source / "topics.xml")
    corpus = open_corpus([source])
    if corpus.records != task.records:
        raise DataError(f"holds {corpus.records}; {task_id} reads {task.records}", source)
    target.mkdir(parents=True, exist_ok=True)
    with _index(corpus, task.analysis, target, options) as index:
        rankings = task.system(options.system, index).rank(topics, options.k)
        run = "".join(_lines(ranking, index, tag) for ranking in rankings)
        metadata = run_metadata(task, options.system, tag, index, time.monotonic() - start)
    write_whole({target / RUN: run, target / METADATA: metadata})
    report = validate(run.splitlines(keepends=True), task_id, topics, name=str(target / RUN))
    for finding in report.findings:
        options.listener.say(str(finding))
    return rankings


def _lines(ranking: Ranking, index: Index, tag: str) -> str:
    names = ranking.names or index.identifiers(ranking.documents)
    return run_lines(ranking.topic.number, names, ranking.scores, tag, ranking.stances)


@contextlib.contextmanager
def _index(corpus: Corpus, analysis: str, target: Path, options: RunOptions) -> Iterator[Index]:
    """The index of a corpus: the one that is there if it fits, else a new one."""
    checksum = corpus.checksum()
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
        yield stack.enter_context(Index.open(folder))


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
        with Index.open(folder) as index:
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
