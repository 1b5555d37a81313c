"""`index`: build an index, change it, look at it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import (
    Commands,
    Run,
    describe,
    folder,
    natural,
    place,
    positive,
    words,
)
from sicetnon.errors import DataError, SicetnonError, TerminatedError, UsageError, counted

if TYPE_CHECKING:
    from sicetnon.cluster.address import Place
    from sicetnon.cluster.building import ClusterOptions
    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotations import Annotator
    from sicetnon.index.writing import BuildOptions
    from sicetnon.text.analysis import Analysis

_SHOWN_ERRORS = 5
_NOUNS = {
    "arguments": ("argument",),
    "processed": ("processed argument",),
    "passages": ("passage",),
    "pages": ("page",),
    "entries": ("entry", "entries"),
}
_SOURCES = (
    "A SOURCE is a directory or files in any format of the Touché tasks, JSON Lines or CSV with "
    "named fields, web pages (WARC, HTML), or an id of ir_datasets."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the verbs of `index`, each with its arguments."""
    command.description = "Build an index, change it, look at it. Each verb explains itself."
    verbs = command.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_build(verbs)
    _add_add(verbs)
    _add_delete(verbs)
    _add_annotate(verbs)
    _add_existing(verbs, "info", "show what an index is", _info)
    _add_existing(verbs, "verify", "compare all files of an index with their checksums", _verify)


def _add_build(verbs: Commands) -> None:
    verb = verbs.add_parser("build", help="build an index")
    describe(
        verb,
        _build,
        f"Build an index, in place of the one that may be there. {_SOURCES}",
        "sicetnon index build examples/touche-2020-task-1/input -o my-index",
        "sicetnon index build docs.csv -o my-index --fields title,body --id-field docno",
    )
    _add_sources(verb)
    loading = verb.add_argument_group("on a cluster (extra cluster)")
    loading.add_argument(
        "--shards", type=positive, default=3, metavar="N", help="shards (default: 3)"
    )
    loading.add_argument(
        "--replicas",
        type=natural,
        default=1,
        metavar="N",
        help="further copies of each shard (default: 1)",
    )
    loading.add_argument(
        "--merge", action="store_true", help="merge each shard into one segment after loading"
    )


def _add_add(verbs: Commands) -> None:
    verb = verbs.add_parser("add", help="add documents to an index")
    describe(
        verb,
        _add,
        f"Add documents to an index; what is annotated there is annotated here too. {_SOURCES}",
        "sicetnon index add more.jsonl -o my-index --replace",
    )
    _add_sources(verb)
    verb.add_argument("--replace", action="store_true", help="replace documents of known ids")


def _add_delete(verbs: Commands) -> None:
    verb = verbs.add_parser("delete", help="delete documents by id")
    describe(
        verb,
        _delete,
        "Delete documents from an index by their ids.",
        "sicetnon index delete S1-A1 S1-A2 -o my-index",
    )
    verb.add_argument("ids", nargs="+", metavar="ID", help="what to delete")
    verb.add_argument(
        "-o", "--output", type=place, metavar="INDEX", required=True, help="the index to change"
    )


def _add_annotate(verbs: Commands) -> None:
    verb = verbs.add_parser("annotate", help="store what the model says of each document")
    describe(
        verb,
        _annotate,
        "Store with each document of an index what the model says of it. The same "
        "command resumes one that was stopped.",
        "sicetnon index annotate my-index --with quality,embedding",
    )
    verb.add_argument("index", type=folder, metavar="DIR", help="the index")
    verb.add_argument(
        "--with",
        dest="names",
        type=words,
        required=True,
        metavar="A,B",
        help="of quality, argumentativeness, embedding",
    )


def _add_existing(verbs: Commands, name: str, line: str, run: Run) -> None:
    verb = verbs.add_parser(name, help=line)
    describe(verb, run, f"{line.capitalize()}.", f"sicetnon index {name} my-index")
    verb.add_argument("index", type=place, metavar="INDEX", help="the index")


def _add_sources(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("sources", nargs="+", metavar="SOURCE", help="what to index")
    verb.add_argument(
        "-o",
        "--output",
        type=place,
        metavar="INDEX",
        required=True,
        help="the index: a folder, or opensearch+https://host:9200/NAME",
    )
    verb.add_argument("--analysis", metavar="NAME", help="how texts become terms")
    verb.add_argument(
        "--fields", type=words, default=[], metavar="A,B", help="fields to index (JSON Lines, CSV)"
    )
    verb.add_argument("--id-field", metavar="NAME", help="the field with the id")
    verb.add_argument(
        "--stance-field", metavar="NAME", help="the field with the side: PRO, CON, for or against"
    )
    verb.add_argument(
        "--claim-field", metavar="NAME", help="the field with the claim that a side is about"
    )
    verb.add_argument(
        "--page-ranks", type=Path, metavar="FILE", help="ids and PageRanks of web pages"
    )
    verb.add_argument(
        "--spam-ranks", type=Path, metavar="FILE", help="ids and spam ranks of web pages"
    )
    verb.add_argument(
        "--workers",
        type=positive,
        default=2,
        metavar="N",
        help="requests at a time to a cluster (default: 2)",
    )
    verb.add_argument(
        "--memory", type=positive, default=400, metavar="MB", help="for postings (default: 400)"
    )
    verb.add_argument(
        "--skip-invalid", action="store_true", help="leave out documents that can't be used"
    )


def _loading(options: argparse.Namespace) -> ClusterOptions | None:
    """How documents are loaded into a cluster; None for a folder."""
    from sicetnon.cluster.address import is_address

    if not is_address(options.output):
        return None
    from sicetnon.cluster.building import ClusterOptions
    from sicetnon.terminal.console import console, line_printer

    say = line_printer(console(stderr=True, quiet=options.quiet))
    if options.command is _add:
        return ClusterOptions(workers=options.workers, message=say)
    return ClusterOptions(
        shards=options.shards,
        replicas=options.replicas,
        workers=options.workers,
        merge=options.merge,
        message=say,
    )


class _Skipped:
    """Counts unusable documents, and names the first few."""

    def __init__(self, say: Callable[[str], None]):
        self.count, self._say = 0, say

    def __call__(self, error: DataError) -> None:
        self.count += 1
        if self.count <= _SHOWN_ERRORS:
            self._say(f"left out: {error}")


def _build(options: argparse.Namespace) -> None:
    from sicetnon.cluster.places import build_at

    def build(corpus: Corpus, settings: BuildOptions) -> None:
        build_at(corpus, options.output, settings, _loading(options))

    replaced = _documents_there(options.output)
    note = f"an index of {counted(replaced, 'document')} (`sicetnon index add` adds to it)"
    _write(options, build, (), [("replaced", note)] if replaced else [])


def _add(options: argparse.Namespace) -> None:
    from sicetnon.cluster.places import add_at, manifest_at

    def add(corpus: Corpus, settings: BuildOptions) -> None:
        add_at(corpus, options.output, settings, options.replace, _loading(options))

    _write(options, add, _ready(list(manifest_at(options.output).annotations)))


def _write(
    options: argparse.Namespace,
    write: Callable[[Corpus, BuildOptions], None],
    annotators: Sequence[Annotator],
    notes: Sequence[tuple[str, str]] = (),
) -> None:
    """Write documents into an index, and sum up what it is then."""
    from sicetnon.formats.corpora import open_corpus
    from sicetnon.formats.files import Reading
    from sicetnon.formats.page_scores import SideFiles
    from sicetnon.index.writing import BuildOptions
    from sicetnon.terminal.console import console, line_printer
    from sicetnon.terminal.progress import ProgressBar

    start = time.monotonic()
    ranks = SideFiles(options.page_ranks, options.spam_ranks)
    side_files = ranks if ranks.files else None
    corpus = open_corpus(
        options.sources,
        options.fields,
        options.id_field,
        side_files,
        options.stance_field,
        options.claim_field,
    )
    if ranks.files and not corpus.side_files:
        raise UsageError(
            f"--page-ranks and --spam-ranks are for web pages; found {corpus.records}; leave the "
            "option out"
        )
    screen = console(stderr=True, quiet=options.quiet)
    skipped = _Skipped(line_printer(screen))
    with ProgressBar(screen) as bar:
        settings = BuildOptions(
            _analysis(options, corpus.records),
            memory=options.memory << 20,
            on_error=skipped if options.skip_invalid else Reading().on_error,
            annotators=annotators,
            annotated=bar.annotating,
            progress=lambda progress: bar.indexing(corpus, progress),
            source={"sha256": corpus.checksum(), "files": [Path(f).name for f in corpus.files]},
        )
        write(corpus, settings)
    left_out = [("left out", f"{skipped.count:,}")] if skipped.count else []
    if not options.quiet:
        _sum_up(options.output, start, [*notes, *left_out])


def _delete(options: argparse.Namespace) -> None:
    from sicetnon.cluster.places import delete_at

    count = delete_at(options.output, options.ids)
    unknown = len(set(options.ids)) - count
    note = f"; not in the index: {unknown:,}" if unknown else ""
    if not options.quiet:
        print(f"deleted: {count:,}{note}")  # noqa: T201


class _InterruptedError(SicetnonError):
    """Annotating was interrupted or terminated."""

    def __init__(self, message: str, exit_status: int):
        super().__init__(message)
        self.exit_status = exit_status


def _annotate(options: argparse.Namespace) -> None:
    from sicetnon.index.annotation_writer import annotate_index
    from sicetnon.index.manifest import read_manifest
    from sicetnon.terminal.console import console
    from sicetnon.terminal.progress import ProgressBar

    start = time.monotonic()
    read_manifest(options.index)
    annotators = _ready(options.names)
    try:
        with ProgressBar(console(stderr=True, quiet=options.quiet)) as bar:
            annotate_index(options.index, annotators, bar.annotating)
    except KeyboardInterrupt as stop:
        raise _InterruptedError(
            "interrupted; what was read is kept, and the same command resumes: "
            f"sicetnon index annotate {options.index} --with {','.join(options.names)}",
            stop.exit_status if isinstance(stop, TerminatedError) else 130,
        ) from None
    if not options.quiet:
        _sum_up(options.index, start)


def _info(options: argparse.Namespace) -> None:
    from sicetnon.terminal.console import console, show_facts

    show_facts(_facts(options.index), console())


def _verify(options: argparse.Namespace) -> None:
    from sicetnon.cluster.address import is_address
    from sicetnon.cluster.places import verify_at
    from sicetnon.terminal.console import console, line_printer

    verify_at(options.index)
    say = line_printer(console(quiet=options.quiet))
    what = "documents" if is_address(options.index) else "files"
    say(f"{options.index}: all {what} are as they were written")


def _ready(names: Sequence[str]) -> list[Annotator]:
    """The annotators of some names, tried on a word before anything long is begun."""
    from sicetnon.arguments.model.index_annotators import annotators

    found = annotators(names)
    for annotator in found:
        annotator.numbers(["a"])
    return found


def _documents_there(index: Place) -> int:
    """Number of documents of the index in a folder; 0 where there is none to read."""
    from sicetnon.cluster.places import open_index
    from sicetnon.errors import BrokenIndexError

    try:
        with open_index(index) as opened:
            return opened.document_count
    except BrokenIndexError:
        return 0


def _analysis(options: argparse.Namespace, records: str) -> Analysis:
    """The analysis that is named, else the index's when adding, else that of the records' task."""
    from sicetnon.cluster.places import open_index
    from sicetnon.tasks.registry import analysis_for
    from sicetnon.text.analysis import named_analysis

    if options.analysis:
        return named_analysis(options.analysis)
    if options.command is _add:
        with open_index(options.output) as index:
            return index.analysis
    return named_analysis(analysis_for(records))


def _sum_up(index: Place, start: float, notes: Sequence[tuple[str, str]] = ()) -> None:
    from sicetnon.terminal.console import console, show_facts

    first, *facts = _facts(index)
    seconds = f"{time.monotonic() - start:,.1f} s"
    show_facts([first, *notes, *facts, ("time", seconds)], console())


def _facts(index: Place) -> list[tuple[str, str]]:
    """The description of an index, for people."""
    from sicetnon.cluster.places import facts_at, open_index

    with open_index(index) as opened:
        manifest = opened.manifest
        return [
            ("index", str(index)),
            ("documents", counted(opened.document_count, *_NOUNS[manifest.records])),
            ("fields", ", ".join(opened.fields)),
            ("analysis", opened.analysis.name),
            *((name, f"by {entry.model}") for name, entry in manifest.annotations.items()),
            ("terms", f"{int(opened.field_totals.sum()):,}"),
            *facts_at(index),
        ]
