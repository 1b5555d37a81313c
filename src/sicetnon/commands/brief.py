"""`brief`: one page of the strongest reasons for and against."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import add_index, add_ranker, describe, notices, use_ranker
from sicetnon.errors import UsageError

if TYPE_CHECKING:
    from sicetnon.app.brief import Brief

_FORMATS = ("markdown", "html", "json")
_BY_ENDING = {
    ".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".markdown": "markdown",
    ".txt": "markdown", "": "markdown",
}  # fmt: skip


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `brief`."""
    describe(
        command,
        _brief,
        "Sum up a question on one page: the strongest three reasons for and against, each as a "
        "sentence of its source, and what is contested. No sentence is written by a program.",
        'sicetnon brief "Should teachers get tenure?"',
        'sicetnon brief "Is homework good for children?" --index my-index -o homework.html',
    )
    command.add_argument("question", nargs="+", help="a question, or a claim")
    add_index(command)
    add_ranker(command)
    command.add_argument(
        "--format",
        choices=_FORMATS,
        help="how the page is written (default: as the ending of -o says, else markdown)",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the page (default: standard output)"
    )


def _brief(options: argparse.Namespace) -> None:
    from sicetnon.app.brief import brief
    from sicetnon.app.index import opened_index
    from sicetnon.formats.files import write_atomic

    path = options.output
    chosen = options.format or _BY_ENDING.get(path.suffix.lower() if path else "")
    if chosen is None:
        raise UsageError(
            f"found the ending {path.suffix} of {path}; expected .md, .html or .json, or --format"
        )
    say = notices(options)
    with opened_index(options.index, say) as index:
        use_ranker(index, options.ranker)
        made = brief(index, " ".join(options.question))
    text = _text(made, chosen)
    if path is None:
        print(text, end="")  # noqa: T201
    else:
        write_atomic({path: text})
        say(f"wrote {path}")


def _text(made: Brief, chosen: str) -> str:
    from sicetnon.text.unicode import json_text, printable

    if chosen == "json":
        return json_text(made.as_json(), indent=1) + "\n"
    return made.as_html() if chosen == "html" else printable(made.as_markdown())
