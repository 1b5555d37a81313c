"""The command `annotate`: a model says what texts do in a debate."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

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
    from sicetnon.arguments.model.file_annotation import annotate_file
    from sicetnon.terminal import answers as terminal

    source, output = str(options.input), str(options.output)
    screen = terminal.console(stderr=True)

    def message(line: str) -> None:
        screen.print(terminal.printable(line), soft_wrap=True, markup=False)

    # lines of the output and a progress bar would overwrite each other on one screen
    is_shown = not (output == "-" and sys.stdout.isatty())
    with terminal.annotating(screen, _size(source), is_shown) as progress:
        done = annotate_file(
            options.task,
            source,
            output,
            model=options.model,
            threads=options.threads,
            progress=progress,
            message=message,
        )
    if output != "-":
        message(f"{output}: {done:,} record{'s' * (done != 1)} with {options.task}")


def _size(source: str) -> int | None:
    try:
        return Path(source).stat().st_size or None
    except OSError:
        return None
