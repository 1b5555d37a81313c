"""`index`: build an index, change it, look at it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from sicetnon.commands.arguments import (
    Commands,
    Run,
    describe,
    existing_folder,
    folder,
    place,
    words,
)
from sicetnon.commands.indexing import add_add, add_build, facts, ready, sum_up
from sicetnon.errors import EndedError, TerminatedError


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the verbs of `index`, each with its arguments."""
    command.description = "Build an index, change it, look at it. Each verb explains itself."
    verbs = command.add_subparsers(title="verbs", metavar="VERB", required=True)
    add_build(verbs)
    add_add(verbs)
    _add_delete(verbs)
    _add_merge(verbs)
    _add_export(verbs)
    _add_annotate(verbs)
    _add_existing(verbs, "info", "show what an index is", _info)
    _add_existing(verbs, "verify", "compare all files of an index with their checksums", _verify)


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
        "other shards follow one another as they are named. An index alone is rewritten without "
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


def _delete(options: argparse.Namespace) -> None:
    from sicetnon.cluster.places import delete_at

    count = delete_at(options.output, options.ids)
    unknown = len(set(options.ids)) - count
    note = f"; not in the index: {unknown:,}" if unknown else ""
    if not options.quiet:
        print(f"deleted: {count:,}{note}")  # noqa: T201


def _merge(options: argparse.Namespace) -> None:
    from sicetnon.index.shards import merge_indexes

    start = time.monotonic()
    merge_indexes(options.shards, options.output, options.link)
    if not options.quiet:
        sum_up(options.output, start)


def _export(options: argparse.Namespace) -> None:
    from sicetnon.index.ciff import export_ciff
    from sicetnon.terminal.console import console, line_printer

    export_ciff(options.index, options.output)
    line_printer(console(quiet=options.quiet))(f"{options.output}: written")


def _annotate(options: argparse.Namespace) -> None:
    from sicetnon.cluster.places import annotate_at, manifest_at
    from sicetnon.terminal.console import ProgressBar, console

    start = time.monotonic()
    manifest_at(options.index)
    annotators = ready(options.names)
    try:
        with ProgressBar(console(stderr=True, quiet=options.quiet)) as bar:
            annotate_at(options.index, annotators, bar.annotating)
    except KeyboardInterrupt as stop:
        raise EndedError(
            "interrupted; what was read is kept, and the same command resumes: "
            f"sicetnon index annotate {options.index} --with {','.join(options.names)}",
            stop.exit_status if isinstance(stop, TerminatedError) else 130,
        ) from None
    if not options.quiet:
        sum_up(options.index, start)


def _info(options: argparse.Namespace) -> None:
    from sicetnon.terminal.console import console, show_facts

    show_facts(facts(options.index), console())


def _verify(options: argparse.Namespace) -> None:
    from sicetnon.cluster.address import is_address
    from sicetnon.cluster.places import verify_at
    from sicetnon.terminal.console import console, line_printer

    verify_at(options.index)
    say = line_printer(console(quiet=options.quiet))
    what = "documents" if is_address(options.index) else "files"
    say(f"{options.index}: all {what} are as they were written")
