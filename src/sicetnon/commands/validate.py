"""`validate`: check a run by the rules of its task."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from sicetnon.commands.arguments import add_index, describe, print_json
from sicetnon.errors import SicetnonError


class _FaultyRunError(SicetnonError):
    """The run that was validated has errors, which have been printed already."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `validate`."""
    describe(
        command,
        _validate,
        "Check a run: columns, ranks, scores, ties, ids, topics. Exit status 0 only without "
        "errors.",
        "sicetnon validate out/run.txt --task touche-2020-task-1 --topics topics.xml",
    )
    command.add_argument("run", metavar="RUN", help="a file with a run")
    command.add_argument("--task", required=True, metavar="TASK", help="such as touche-2020-task-1")
    command.add_argument(
        "--topics",
        type=Path,
        metavar="FILE",
        help="topics.xml or queries.jsonl (default: the official topics)",
    )
    add_index(command, "check that documents exist")
    command.add_argument("--json", action="store_true", help="print JSON")


def _validate(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import open_index
    from sicetnon.terminal.console import console, line_printer
    from sicetnon.validation import validate
    from sicetnon.validation.validator import known_to

    with contextlib.ExitStack() as stack:
        index = stack.enter_context(open_index(options.index)) if options.index else None
        known = None if index is None else known_to(index)
        report = validate(options.run, options.task, options.topics, known)
    if options.json:
        print_json(report.as_json())
    else:
        say = line_printer(console())
        summary = str(report).split("\n")
        for line in summary[: len(report.findings)] if options.quiet else summary:
            say(line)
    if not report.ok:
        raise _FaultyRunError("")
