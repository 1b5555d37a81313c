"""`parse`: print the kind, objects and aspects of a question as JSON."""

from __future__ import annotations

import argparse

from sicetnon.commands.arguments import describe


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `parse`."""
    describe(
        command,
        _parse,
        "Parse a question: its kind, its objects, and the aspects they are compared by, as JSON.",
        'sicetnon parse "Which is better for beginners, Python or Java?"',
    )
    command.add_argument("question", nargs="+", help="any text")


def _parse(options: argparse.Namespace) -> None:
    import msgspec

    from sicetnon.arguments.comparative.question_parser import parse_question
    from sicetnon.text.unicode import json_text

    question = parse_question(" ".join(options.question))
    print(json_text(msgspec.to_builtins(question)))  # noqa: T201
