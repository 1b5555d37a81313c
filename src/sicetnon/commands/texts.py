"""The command `annotate`: a model says what texts do in a debate."""

from __future__ import annotations

import argparse

from sicetnon.commands.values import Commands, positive

TASKS = ("quality", "argumentativeness", "stance", "comparison")


def add_annotate(commands: Commands) -> None:
    """Add `annotate`: records with what a model says of their texts."""
    command = commands.add_parser(
        "annotate",
        help="say how good texts are, whether they argue, and for which side",
        description="Add what a model says of each record's text, offline. Records are JSON Lines "
        "with the field text; stance reads topic as well, comparison first and second, or "
        "question. Files may be gzipped; - is standard input or output. A command that was "
        "stopped goes on when it is given again.",
    )
    command.add_argument("task", choices=TASKS)
    command.add_argument("input", metavar="INPUT", help="JSON Lines")
    command.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where to (default: standard output)"
    )
    command.add_argument(
        "--model",
        metavar="MODEL",
        help="a folder, or a Hugging Face classifier's name, in place of the shipped model",
    )
    command.add_argument(
        "--threads", type=positive, metavar="N", help="processor cores to use (default: all)"
    )
    command.set_defaults(command=_annotate)


def _annotate(options: argparse.Namespace) -> None:
    from sicetnon.arguments.model import annotating

    annotating.command(options)
