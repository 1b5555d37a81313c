"""The commands `search` and `parse`: a question in, answers or its parts out."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from sicetnon.commands.values import Commands, add_stance, positive
from sicetnon.errors import UsageError


def add_search(commands: Commands) -> None:
    """Add `search`: a question answered in the terminal."""
    command = commands.add_parser("search", help="answer a question in the terminal")
    command.add_argument("question", nargs="+", help="any text")
    command.add_argument("--index", type=Path, metavar="DIR", help="an index (default: the sample)")
    command.add_argument(
        "--source",
        choices=("argsme", "chatnoir"),
        help="ask a service on the network instead (chatnoir: key in CHATNOIR_API_KEY)",
    )
    command.add_argument("-k", type=positive, default=10, help="answers wanted (default: 10)")
    command.add_argument("--system", default="default", metavar="NAME", help="who answers")
    add_stance(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_search)


def add_parse(commands: Commands) -> None:
    """Add `parse`: what a question asks, as JSON."""
    command = commands.add_parser(
        "parse", help="what a question asks: its kind, objects and aspects, as JSON"
    )
    command.add_argument("question", nargs="+", help="any text")
    command.set_defaults(command=_parse)


def _search(options: argparse.Namespace) -> None:
    if options.source:
        _search_service(options)
        return
    from sicetnon.library.answers import as_json
    from sicetnon.library.index import Index
    from sicetnon.library.sample import sample_index

    question = " ".join(options.question)
    with (
        # what other systems have learned may have to be read with scipy
        _without_scipy() if options.system == "default" else contextlib.nullcontext(),
        Index.open(options.index) if options.index else sample_index() as index,
    ):
        found = index.search(question, options.k, system=options.system, stance=options.stance)
    if options.json:
        print(json.dumps(as_json(question, found), ensure_ascii=False, indent=1))  # noqa: T201
        return
    from sicetnon.terminal import answers as terminal

    terminal.show_answers(question, found, terminal.console())


def _search_service(options: argparse.Namespace) -> None:
    from sicetnon.services import search as services

    if options.index or options.system != "default" or options.stance:
        raise UsageError(
            "--source asks a service, which takes neither --index nor --system nor --stance"
        )
    services.show(" ".join(options.question), options.source, options.k, options.json)


@contextlib.contextmanager
def _without_scipy() -> Iterator[None]:
    """Keep numba from importing scipy where it is installed.

    It looks for a BLAS that a search never uses, and that takes a tenth of the time of one.
    """
    absent = "scipy" not in sys.modules
    if absent:
        sys.modules["scipy"] = None  # type: ignore[assignment]  # as if it were not installed
    try:
        yield
    finally:
        if absent:
            del sys.modules["scipy"]


def _parse(options: argparse.Namespace) -> None:
    import msgspec

    from sicetnon.arguments.comparative.questions import parse_question

    question = parse_question(" ".join(options.question))
    print(json.dumps(msgspec.to_builtins(question), ensure_ascii=False))  # noqa: T201
