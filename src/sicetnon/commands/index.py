"""`index`: build an index, change it, look at it."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import (
    Commands,
    Run,
    describe,
    existing_folder,
    folder,
    fraction,
    natural,
    notices,
    place,
    positive,
    words,
)
from sicetnon.errors import DataError, EndedError, TerminatedError, UsageError, counted

if TYPE_CHECKING:
    from sicetnon.cluster.address import Location
    from sicetnon.cluster.build import ClusterOptions
    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotations import Annotator
    from sicetnon.index.writing import BuildOptions
    from sicetnon.text.analysis import Analysis

_SHOWN_ERRORS = 5
_CLUSTER_SHARDS = 3
_MOST_SHARDS = 256
_OF_DOCUMENTS = (
    "fields", "id_field", "stance_field", "claim_field", "page_ranks", "spam_ranks", "skip_invalid",
)  # fmt: skip
"""Options that say how documents are read."""
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
_CIFF = (
    "A single FILE.ciff is an index of another search engine; --analysis names how questions "
    "become its terms."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the verbs of `index`, each with its arguments."""
    command.description = "Build an index, change it, look at it. Each verb explains itself."
    verbs = command.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_build(verbs)
    _add_add(verbs)
    _add_delete(verbs)
    _add_merge(verbs)
    _add_export(verbs)
    _add_annotate(verbs)
    _add_existing(verbs, "info", "show what an index is", _info)
    _add_existing(verbs, "verify", "compare all files of an index with their checksums", _verify)


def _add_build(verbs: Commands) -> None:
    """Add the verb `build`."""
    verb = verbs.add_parser("build", help="build an index")
    describe(
        verb,
        _build,
        f"Build an index, in place of the one that may be there. {_SOURCES} {_CIFF}",
        "sicetnon index build examples/touche-2020-task-1/input -o my-index",
        "sicetnon index build docs.csv -o my-index --fields title,body --id-field docno --shards 4",
    )
    _add_sources(verb, "forms for arguments, porter for web pages, else porter-stop")
    shards = verb.add_mutually_exclusive_group()
    shards.add_argument(
        "--shards",
        type=positive,
        metavar="N",
        help="build N shards, one after the other, as one index (default: 1); "
        f"on a cluster the shards of the index (default: {_CLUSTER_SHARDS})",
    )
    shards.add_argument(
        "--shard",
        type=fraction,
        metavar="I/N",
        help="build the I-th of N parts of the SOURCE alone; `index merge` makes one index of all",
    )
    verb.add_argument(
        "--merge",
        action="store_true",
        help="rewrite the shards as one segment; on a cluster each shard as one",
    )
    loading = verb.add_argument_group("on a cluster (extra cluster)")
    loading.add_argument(
        "--replicas",
        type=natural,
        default=1,
        metavar="N",
        help="further copies of each shard (default: 1)",
    )


def _add_add(verbs: Commands) -> None:
    """Add the verb `add`."""
    verb = verbs.add_parser("add", help="add documents to an index")
    describe(
        verb,
        _add,
        f"Add documents to an index; what is annotated there is annotated here too. {_SOURCES}",
        "sicetnon index add more.jsonl -o my-index --replace",
    )
    _add_sources(verb, "the index's own")
    verb.add_argument("--replace", action="store_true", help="replace documents of known ids")


def _add_sources(verb: argparse.ArgumentParser, analysis: str) -> None:
    verb.add_argument("sources", nargs="+", metavar="SOURCE", help="what to index")
    verb.add_argument(
        "-o",
        "--output",
        type=place,
        metavar="INDEX",
        required=True,
        help="the index: a folder, or opensearch+https://host:9200/NAME",
    )
    verb.add_argument(
        "--analysis",
        metavar="NAME",
        help=f"how texts become terms: plain, porter, porter-stop or forms (default: {analysis})",
    )
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
        "--memory",
        type=positive,
        default=400,
        metavar="MB",
        help="memory for postings, words and ids (default: 400)",
    )
    verb.add_argument(
        "--skip-invalid", action="store_true", help="leave out documents that can't be used"
    )


def _add_delete(verbs: Commands) -> None:
    verb = verbs.add_parser("delete", help="delete documents by id")
    describe(
        verb,
        _delete,
        "Delete documents from an index by their ids.",
        "sicetnon index delete S1-A1 S1-A2 -o my-index",
    )
    verb.add_argument("ids", nargs="+", metavar="ID", help="ids of documents")
    verb.add_argument(
        "-o", "--output", type=place, metavar="INDEX", required=True, help="the index to change"
    )


def _add_merge(verbs: Commands) -> None:
    verb = verbs.add_parser("merge", help="make one index of several")
    describe(
        verb,
        _merge,
        "Make one index of several shards. It gives the rankings and scores of an index that was "
        "built in one go. Parts of one SOURCE (`index build --shard I/N`) are put into its order; "
        "other shards follow one another in the order given. An index alone is rewritten without "
        "its deleted documents.",
        "sicetnon index merge shard-1 shard-2 shard-3 -o my-index",
    )
    verb.add_argument("shards", nargs="+", type=existing_folder, metavar="SHARD", help="an index")
    verb.add_argument(
        "-o", "--output", type=folder, metavar="DIR", required=True, help="the index to make"
    )
    verb.add_argument(
        "--link",
        action="store_true",
        help="share the files of the shards instead of rewriting them as one segment, which takes "
        "hardly any time and disk space; queries take a little longer",
    )


def _add_export(verbs: Commands) -> None:
    verb = verbs.add_parser("export", help="write an index for other search engines")
    describe(
        verb,
        _export,
        "Write an index in the Common Index File Format (CIFF), which PISA, Terrier, Anserini and "
        "others exchange: terms, frequencies, ids and lengths, no texts. `index build` reads such "
        "files.",
        "sicetnon index export my-index -o my-index.ciff",
    )
    verb.add_argument("index", type=folder, metavar="DIR", help="the index")
    verb.add_argument(
        "-o", "--output", type=Path, metavar="FILE", required=True, help="the file to write"
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
    verb.add_argument("index", type=place, metavar="INDEX", help="the index")
    verb.add_argument(
        "--with",
        dest="names",
        type=words,
        required=True,
        metavar="A,B",
        help="the models: quality, argumentativeness, embedding",
    )


def _add_existing(verbs: Commands, name: str, line: str, run: Run) -> None:
    verb = verbs.add_parser(name, help=line)
    describe(verb, run, f"{line.capitalize()}.", f"sicetnon index {name} my-index")
    verb.add_argument("index", type=place, metavar="INDEX", help="the index")


def _loading(options: argparse.Namespace) -> ClusterOptions | None:
    """How documents are loaded into a cluster; None for a folder."""
    from sicetnon.cluster.address import is_address

    if not is_address(options.output):
        return None
    from sicetnon.cluster.build import ClusterOptions

    say = notices(options)
    if options.command is _add:
        return ClusterOptions(workers=options.workers, message=say)
    return ClusterOptions(
        shards=options.shards or _CLUSTER_SHARDS,
        replicas=options.replicas,
        workers=options.workers,
        merge=options.merge,
        message=say,
    )


class _Skipped:
    """Counts unusable documents; names the first few, and all that a cluster may have refused."""

    def __init__(self, say: Callable[[str], None], place: Location):
        from sicetnon.cluster.address import is_address

        self.count, self._say = 0, say
        self._most = math.inf if is_address(place) else _SHOWN_ERRORS

    def __call__(self, error: DataError) -> None:
        self.count += 1
        if self.count <= self._most:
            self._say(f"left out: {error}")


def _build(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import index_store
    from sicetnon.index.writing import build_shards

    loading = _loading(options)
    if loading and options.shard:
        raise UsageError("--shard is for an index in a folder; leave it out")
    if is_ciff := _is_ciff(options):
        _check_import(options)
    if not loading and (options.shards or 1) > _MOST_SHARDS:
        raise UsageError(f"found {options.shards:,} shards; expected at most {_MOST_SHARDS}")
    replaced = _documents_there(options.output)
    note = f"an index of {counted(replaced, 'document')} (`sicetnon index add` adds to it)"
    notes = [("replaced", note)] if replaced else []
    if not loading and is_ciff:
        start = time.monotonic()
        _import(options)
        if not options.quiet:
            _sum_up(options.output, start, notes)
        return

    def build(corpus: Corpus, settings: BuildOptions) -> None:
        if not loading and (options.shards or 1) > 1:
            build_shards(corpus, options.output, settings, options.shards, link=not options.merge)
        else:
            index_store(options.output, loading).build(corpus, settings)

    _write(options, build, (), notes)


def _is_ciff(options: argparse.Namespace) -> bool:
    """Whether a source is a CIFF file: an index that another search engine exported."""
    names = [name.lower().removesuffix(".gz") for name in options.sources]
    return any(name.endswith(".ciff") for name in names)


def _check_import(options: argparse.Namespace) -> None:
    """Refuse options that do not apply to a CIFF file."""
    from sicetnon.cluster.address import is_address

    if is_address(options.output):
        raise UsageError("an index of another search engine is imported into a folder; name one")
    if len(options.sources) > 1 or options.shard or options.shards:
        raise UsageError("name one FILE.ciff alone; make one index of several by `index merge`")
    given = [f"--{name.replace('_', '-')}" for name in _OF_DOCUMENTS if getattr(options, name)]
    if given:
        raise UsageError(
            f"{' and '.join(given)}: for documents; found {options.sources[0]}, an index of "
            "another search engine; leave the option out"
        )


def _import(options: argparse.Namespace) -> None:
    """Build an index from the index of another search engine."""
    from sicetnon.index.import_export import build_from_ciff
    from sicetnon.text.analysis import named_analysis

    analysis = named_analysis(options.analysis) if options.analysis else None
    build_from_ciff(Path(options.sources[0]), options.output, analysis)


def _add(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import index_store

    if _is_ciff(options):
        raise UsageError(
            "an index of another search engine holds no texts that could be added; build it apart: "
            "sicetnon index build FILE.ciff -o DIR"
        )

    store = index_store(options.output, _loading(options))

    def add(corpus: Corpus, settings: BuildOptions) -> None:
        store.add(corpus, settings, options.replace)

    _write(options, add, _ready_annotators(list(store.manifest().annotations)))


def _write(
    options: argparse.Namespace,
    write: Callable[[Corpus, BuildOptions], None],
    annotators: Sequence[Annotator],
    notes: Sequence[tuple[str, str]] = (),
) -> None:
    """Write documents into an index, and print a summary of the index."""
    from sicetnon.formats.corpora import open_corpus
    from sicetnon.formats.entries import EntryFields
    from sicetnon.formats.files import Reading
    from sicetnon.formats.page_scores import SideFiles
    from sicetnon.index.writing import BuildOptions
    from sicetnon.operating_system import allow_many_files
    from sicetnon.terminal.console import ProgressBar, console, line_printer

    start = time.monotonic()
    allow_many_files()  # little memory for postings makes many runs, which are merged at once
    ranks = SideFiles(options.page_ranks, options.spam_ranks)
    side_files = ranks if ranks.files else None
    named = EntryFields(
        tuple(options.fields), options.id_field, options.stance_field, options.claim_field
    )
    corpus = open_corpus(options.sources, named, side_files)
    if ranks.files and not corpus.side_files:
        raise UsageError(
            f"--page-ranks and --spam-ranks are for web pages; found {corpus.records}; leave the "
            "option out"
        )
    screen = console(stderr=True, quiet=options.quiet)
    skipped = _Skipped(line_printer(screen), options.output)
    with ProgressBar(screen) as bar:
        settings = BuildOptions(
            _analysis(options, corpus.records),
            memory=options.memory << 20,
            part=getattr(options, "shard", None),
            on_error=skipped if options.skip_invalid else Reading().on_error,
            annotators=annotators,
            annotated=bar.annotating,
            progress=lambda progress: bar.indexing(corpus, progress),
            source={"sha256": corpus.checksum(), "files": corpus.names()},
        )
        write(corpus, settings)
    left_out = [("left out", f"{skipped.count:,}")] if skipped.count else []
    if not options.quiet:
        _sum_up(options.output, start, [*notes, *left_out])


def _ready_annotators(names: Sequence[str]) -> list[Annotator]:
    """The annotators of some names; each is tried on one word before long work begins."""
    from sicetnon.arguments.models.index_annotators import annotators

    found = annotators(names)
    for annotator in found:
        annotator.numbers(["a"])
    return found


def _documents_there(index: Location) -> int:
    """Number of documents of the index in a folder; 0 where there is none to read."""
    from sicetnon.cluster.location import open_index
    from sicetnon.errors import BrokenIndexError

    try:
        with open_index(index) as opened:
            return opened.document_count
    except BrokenIndexError:
        return 0


def _analysis(options: argparse.Namespace, records: str) -> Analysis:
    """The analysis that is named, else the index's when adding, else that of the records' task."""
    from sicetnon.cluster.location import open_index
    from sicetnon.tasks.registry import analysis_for
    from sicetnon.text.analysis import named_analysis

    if options.analysis:
        return named_analysis(options.analysis)
    if options.command is _add:
        with open_index(options.output) as index:
            return index.analysis
    return named_analysis(analysis_for(records))


def _sum_up(index: Location, start: float, notes: Sequence[tuple[str, str]] = ()) -> None:
    """Print the description of an index, some notes, and the time since the start."""
    from sicetnon.terminal.console import console, show_facts

    first, *others = _facts(index)
    seconds = f"{time.monotonic() - start:,.1f} s"
    show_facts([first, *notes, *others, ("time", seconds)], console())


def _facts(index: Location) -> list[tuple[str, str]]:
    """The description of an index, for people."""
    from sicetnon.cluster.location import index_store, open_index

    with open_index(index) as opened:
        manifest = opened.manifest
        return [
            ("index", str(index)),
            ("documents", counted(opened.document_count, *_NOUNS[manifest.records])),
            ("fields", ", ".join(opened.fields)),
            ("analysis", opened.analysis.name),
            *((name, f"by {entry.model}") for name, entry in manifest.annotations.items()),
            ("tokens", f"{int(opened.field_totals.sum()):,}"),
            *index_store(index).facts(),
        ]


def _delete(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import index_store

    count = index_store(options.output).delete(options.ids)
    unknown = len(set(options.ids)) - count
    note = f"; not in the index: {unknown:,}" if unknown else ""
    if not options.quiet:
        print(f"deleted: {count:,}{note}")  # noqa: T201


def _merge(options: argparse.Namespace) -> None:
    from sicetnon.index.compaction import merge_indexes

    start = time.monotonic()
    merge_indexes(options.shards, options.output, options.link)
    if not options.quiet:
        _sum_up(options.output, start)


def _export(options: argparse.Namespace) -> None:
    from sicetnon.index.import_export import export_ciff
    from sicetnon.terminal.console import console, line_printer

    export_ciff(options.index, options.output)
    line_printer(console(quiet=options.quiet))(f"{options.output}: written")


def _annotate(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import index_store
    from sicetnon.terminal.console import ProgressBar, console

    start = time.monotonic()
    store = index_store(options.index)
    store.manifest()  # an index that is missing is named before the models are loaded
    annotators = _ready_annotators(options.names)
    try:
        with ProgressBar(console(stderr=True, quiet=options.quiet)) as bar:
            store.annotate(annotators, bar.annotating)
    except KeyboardInterrupt as stop:
        raise EndedError(
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
    from sicetnon.cluster.location import index_store
    from sicetnon.terminal.console import console, line_printer

    what = index_store(options.index).verify()
    say = line_printer(console(quiet=options.quiet))
    say(f"{options.index}: all {what} are as they were written")
