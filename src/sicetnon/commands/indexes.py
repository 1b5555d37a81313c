"""The command `index`: an index is built, changed or verified."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.values import Commands, positive, words
from sicetnon.errors import UsageError


def add_index(commands: Commands) -> None:
    """Add `index`: an index built, added to, deleted from, verified."""
    command = commands.add_parser(
        "index",
        help="build an index, add to it, delete from it",
        description="Build an index from a directory or files in any format of the Touché tasks, "
        "from JSON Lines or CSV with named fields, from web pages (WARC, HTML), or from an id of "
        "ir_datasets.",
    )
    command.add_argument("source", nargs="*", help="what to index")
    command.add_argument(
        "-o", "--output", type=Path, metavar="DIR", required=True, help="the index"
    )
    command.add_argument("--analysis", metavar="NAME", help="how texts become terms")
    command.add_argument("--fields", metavar="A,B", help="fields to index (JSON Lines, CSV)")
    command.add_argument("--id-field", metavar="NAME", help="the field with the id")
    command.add_argument(
        "--page-ranks", type=Path, metavar="FILE", help="ids and PageRanks of web pages"
    )
    command.add_argument(
        "--spam-ranks", type=Path, metavar="FILE", help="ids and spam ranks of web pages"
    )
    command.add_argument("--memory", type=positive, metavar="MB", help="for postings (400)")
    command.add_argument(
        "--skip-invalid", action="store_true", help="leave out documents that can't be used"
    )
    change = command.add_argument_group("changing an index")
    change.add_argument("--add", action="store_true", help="add to the index that is there")
    change.add_argument("--replace", action="store_true", help="with --add: replace known ids")
    change.add_argument("--delete", nargs="+", metavar="ID", help="delete documents by id")
    change.add_argument(
        "--annotate",
        type=words,
        metavar="A,B",
        help="store with each document what the model says of it: quality, argumentativeness, "
        "embedding; with a SOURCE, or for the index that is there",
    )
    change.add_argument("--info", action="store_true", help="show what the index is")
    change.add_argument("--verify", action="store_true", help="compare all checksums")
    command.set_defaults(command=_index)


def _index(options: argparse.Namespace) -> None:
    from sicetnon.commands import indexing

    alone = [name for name in ("verify", "delete", "info") if getattr(options, name)]
    if alone:
        others = [*alone[1:], *(["annotate"] if options.annotate else [])]
        if others:
            raise UsageError(f"--{alone[0]} and --{others[0]} are two commands; choose one")
        if options.source:
            raise UsageError(f"--{alone[0]} takes no SOURCE")
        {"verify": indexing.verify, "delete": indexing.delete, "info": indexing.info}[alone[0]](
            options
        )
    elif options.source:
        indexing.build(options)
    elif options.annotate:
        indexing.annotate(options)
    else:
        raise UsageError(
            "name a SOURCE to index, or one of --annotate, --delete, --info and --verify"
        )
