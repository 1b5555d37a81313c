"""`reply`: the strongest arguments against a text."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.arguments import (
    add_index,
    add_ranker,
    describe,
    notices,
    positive,
    print_json,
    use_ranker,
)
from sicetnon.errors import UsageError


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `reply`."""
    describe(
        command,
        _reply,
        "Reply to a text: find the strongest arguments against what it claims, each in one "
        "sentence of its source, of at most 60 words.",
        'sicetnon reply "Schools should abolish homework, because it makes children unhappy."',
        "sicetnon reply --file speech.txt --index my-index -k 5",
        "sicetnon reply - --json < speech.txt",
    )
    command.add_argument("text", nargs="*", help="any text; - reads standard input")
    command.add_argument("--file", type=Path, metavar="FILE", help="a file with the text")
    add_index(command)
    add_ranker(command)
    command.add_argument(
        "-k", type=positive, metavar="N", default=3, help="replies wanted (default: 3)"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _reply(options: argparse.Namespace) -> None:
    from sicetnon.app.index import opened_index
    from sicetnon.app.reply import checked_text, replies
    from sicetnon.arguments.claims import claim_of
    from sicetnon.terminal.console import console

    claim = claim_of(checked_text(_text(options)))
    say = notices(options)
    with opened_index(options.index, say) as index:
        use_ranker(index, options.ranker)
        found = replies(index, claim, claim, options.k)
    if options.json:
        print_json({"claim": claim, "replies": [each.as_json() for each in found]})
        return
    from sicetnon.terminal.results import show_replies

    show_replies(claim, found, console())


def _text(options: argparse.Namespace) -> str:
    """The text that is replied to."""
    from sicetnon.formats.files import read_all

    if bool(options.text) == bool(options.file):
        raise UsageError("expected a text or --file, one of the two")
    if options.file or options.text == ["-"]:
        return read_all(options.file or "-").decode("utf-8", "replace")
    return " ".join(options.text)
