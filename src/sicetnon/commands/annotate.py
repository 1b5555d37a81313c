"""`annotate`: add to records what a model says of their texts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sicetnon.commands.arguments import describe, positive
from sicetnon.errors import counted

_ANNOTATIONS = ("quality", "argumentativeness", "stance", "comparison", "side")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `annotate`."""
    describe(
        command,
        _annotate,
        "Add what a model says of each record's text, offline. Records are JSON Lines with the "
        "field text; stance also reads topic; comparison reads first and second, or question; side "
        "reads question, and where they are known conclusion, stance (PRO or CON) and title. "
        "Files may be gzipped; - is standard input or output. The same command resumes one that "
        "was stopped.",
        "sicetnon annotate quality arguments.jsonl -o scored.jsonl",
        "sicetnon annotate stance - < arguments.jsonl > labelled.jsonl",
        "sicetnon annotate side answers.jsonl -o sided.jsonl",
    )
    command.add_argument("task", choices=_ANNOTATIONS)
    command.add_argument("input", metavar="INPUT", help="JSON Lines")
    command.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="the output (default: standard output)"
    )
    command.add_argument(
        "--model",
        metavar="MODEL",
        help="a folder, or a Hugging Face classifier's name, in place of the shipped model",
    )
    command.add_argument(
        "--threads", type=positive, metavar="N", help="processor cores to use (default: all)"
    )


def _annotate(options: argparse.Namespace) -> None:
    from sicetnon.app.annotation import annotate_file
    from sicetnon.terminal.console import ProgressBar, console, line_printer

    is_printed = options.output == "-"
    screen = console(stderr=True, quiet=options.quiet)
    say = line_printer(screen)
    # lines of the output and a bar would overwrite each other on one screen
    has_bar = not (is_printed and sys.stdout.isatty())
    size = _size(options.input)
    with ProgressBar(screen if has_bar else console(stderr=True, quiet=True)) as bar:
        done = annotate_file(
            options.task,
            options.input,
            options.output,
            model=options.model,
            threads=options.threads,
            progress=lambda records, read: bar.records(records, read, size),
            message=say,
        )
    if not is_printed:
        say(f"{options.output}: {counted(done, 'record')} with {options.task}")


def _size(source: str) -> int | None:
    try:
        return Path(source).stat().st_size or None
    except OSError:
        return None
